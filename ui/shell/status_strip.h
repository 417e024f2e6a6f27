// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStatusBar>

#include "core/services/edit_service.h"
#include "core/services/profile_service.h"
#include "ui/models/project_session.h"

namespace swage::ui {

class ElidedLabel;

// The bottom line: device; what workers and compilers do, also for an edit or a profile; and where the record is.
class StatusStrip final : public QStatusBar {
  Q_OBJECT

 public:
  // Without `edits` or `profiles` there is nothing to say of them.
  StatusStrip(ProjectSession& session, const services::EditService* edits, const services::ProfileService* profiles,
              QWidget* parent = nullptr);

 private:
  void watch(const services::EditService& edits);
  void watch(const services::ProfileService& profiles);
  void showWorkers();
  void showRecord();

  ProjectSession& m_session;
  ElidedLabel* m_device;
  ElidedLabel* m_workers;
  ElidedLabel* m_record;
  QString m_edit;     // what is done for it; empty: none is evaluated
  QString m_profile;  // empty: none is made
};

}  // namespace swage::ui
