// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <string>

#include "core/base/result.h"
#include "core/process/child_process.h"
#include "core/process/launch_command.h"

namespace swage::process {

// Why compilers do not start, from how one of them ended: ErrorKind::Sandbox or ErrorKind::Environment. `detail` is one
// line for a person.
[[nodiscard]] Error compilerStartFailure(const ChildEnd& end, const std::string& detail);

// Asks swage-compiler once whether it can work here (`--check`), so that a run without a sandbox or a compiler ends
// before anything else is done for it. Emits finished() exactly once. One thread only; nothing here waits.
class CompilerCheck : public QObject {
  Q_OBJECT

 public:
  explicit CompilerCheck(LaunchCommand command, QObject* parent = nullptr);

  void start();
  void cancel() { m_child.kill(); }

 Q_SIGNALS:
  void finished(const swage::Result<>& usable);

 private:
  void handleEnd(const ChildEnd& end);

  LaunchCommand m_command;
  ChildProcess m_child;
  QTimer m_deadline;
};

}  // namespace swage::process
