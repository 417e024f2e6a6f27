// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <memory>

#include "core/base/fd.h"
#include "core/base/result.h"

class QSocketNotifier;

namespace swage::services {

// Turns SIGINT, SIGTERM and SIGHUP into Qt signals: the handler writes one byte to a pipe that the event loop reads.
// SIGPIPE is ignored. One object in a process.
class TerminationSignals final : public QObject {
  Q_OBJECT

 public:
  [[nodiscard]] static Result<std::unique_ptr<TerminationSignals>> install();
  ~TerminationSignals() override;

 Q_SIGNALS:
  void received(int signal);

 private:
  TerminationSignals(Fd readEnd, Fd writeEnd);
  void read();

  Fd m_readEnd;
  Fd m_writeEnd;
  std::unique_ptr<QSocketNotifier> m_notifier;
};

}  // namespace swage::services
