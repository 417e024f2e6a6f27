// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStatusBar>

#include "ui/models/session.h"

namespace swage::ui {

class ElidedLabel;

// The bottom line: device, workers, compilers, and where the record is.
class StatusStrip final : public QStatusBar {
  Q_OBJECT

 public:
  explicit StatusStrip(Session& session, QWidget* parent = nullptr);

 private:
  void showWorkers();
  void showRecord();

  Session& m_session;
  ElidedLabel* m_device;
  ElidedLabel* m_workers;
  ElidedLabel* m_record;
};

}  // namespace swage::ui
