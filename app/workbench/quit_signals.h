// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <memory>

#include "core/base/fd.h"
#include "core/base/result.h"

class QSocketNotifier;

namespace swage::workbench {

// Turns SIGINT, SIGTERM and SIGHUP into a Qt signal, so that a session that is shut down from outside stops its search
// as if the window had been closed. One object in a process.
class QuitSignals final : public QObject {
  Q_OBJECT

 public:
  [[nodiscard]] static Result<std::unique_ptr<QuitSignals>> install();
  ~QuitSignals() override;

 Q_SIGNALS:
  void received();

 private:
  QuitSignals(Fd readEnd, Fd writeEnd);

  Fd m_readEnd;
  Fd m_writeEnd;
  std::unique_ptr<QSocketNotifier> m_notifier;
};

}  // namespace swage::workbench
