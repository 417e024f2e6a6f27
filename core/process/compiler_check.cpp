// SPDX-License-Identifier: Apache-2.0
#include "core/process/compiler_check.h"

#include "core/wire/exit_code.h"

namespace swage::process {
namespace {

constexpr std::chrono::seconds kLimit{20};  // as long as a compiler may take to start

}  // namespace

Error compilerStartFailure(const ChildEnd& end, const std::string& detail) {
  if (end.kind == ChildEnd::Kind::Exited && end.exitCode == static_cast<int>(wire::ExitCode::SandboxUnavailable)) {
    return {
        ErrorKind::Sandbox, "the compiler sandbox cannot be set up: " + end.lastLines,
        "install bubblewrap and allow user namespaces; `swage doctor` shows what is missing. Where neither bubblewrap "
        "nor Landlock works, `--sandbox none` compiles without protection"};
  }
  std::string message = "compilers cannot be started: " + detail;
  if (!end.lastLines.empty()) {
    message += "\n" + end.lastLines;
  }
  return {ErrorKind::Environment, message, "run `swage doctor`"};
}

CompilerCheck::CompilerCheck(LaunchCommand command, QObject* parent)
    : QObject(parent), m_command(std::move(command)), m_child("compiler check") {
  m_command.arguments.emplace_back("--check");
  m_deadline.setSingleShot(true);
  connect(&m_deadline, &QTimer::timeout, &m_child, &ChildProcess::kill);
  connect(&m_child, &ChildProcess::ended, this, &CompilerCheck::handleEnd);
}

void CompilerCheck::start() {
  m_deadline.start(kLimit);
  m_child.start(m_command);
}

void CompilerCheck::handleEnd(const ChildEnd& end) {
  m_deadline.stop();
  const bool usable = end.kind == ChildEnd::Kind::Exited && end.exitCode == static_cast<int>(wire::ExitCode::Ok);
  Q_EMIT finished(usable ? Result<>() : Result<>(compilerStartFailure(end, end.detail)));
}

}  // namespace swage::process
