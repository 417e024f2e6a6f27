// SPDX-License-Identifier: Apache-2.0
#include "core/process/bridge_call.h"

#include <fmt/format.h>

namespace swage::process {
namespace {

constexpr qsizetype kMaxDocumentBytes = qsizetype{64} << 20;

// Exit codes of the bridge (resources/bridge/swage_bridge/errors.py).
ErrorKind kindFor(int exitCode) {
  switch (exitCode) {
    case 2: return ErrorKind::Usage;
    case 4: return ErrorKind::InvalidInput;
    case 5: return ErrorKind::Environment;
    default: return ErrorKind::Internal;
  }
}

std::string text(const domain::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error bridgeError(const domain::Json& error, int exitCode) {
  std::string message = text(error, "message");
  const std::string file = text(error, "file");
  const auto line = error.find("line");
  if (!file.empty() && line != error.end() && line->is_number_integer()) {
    message = fmt::format("{}:{}: {}", file, line->get<int>(), message);
  }
  return {kindFor(exitCode), std::move(message), text(error, "hint")};
}

}  // namespace

BridgeCall::BridgeCall(const BridgeEnvironment& environment, std::vector<std::string> arguments,
                       std::chrono::milliseconds limit, QObject* parent)
    : QObject(parent),
      m_environment(environment),
      m_arguments(std::move(arguments)),
      m_limit(limit),
      m_child("bridge") {
  m_deadline.setSingleShot(true);
  connect(&m_deadline, &QTimer::timeout, this, [this] {
    m_timedOut = true;
    m_child.kill();
  });
  connect(&m_child, &ChildProcess::output, this, &BridgeCall::collect);
  connect(&m_child, &ChildProcess::ended, this, &BridgeCall::handleEnd);
}

void BridgeCall::start() {
  LaunchCommand command;
  command.program = m_environment.python;
  command.arguments = {"-m", "swage_bridge"};
  command.arguments.insert(command.arguments.end(), m_arguments.begin(), m_arguments.end());
  // The order of devices is the workers' order.
  command.environment = {{"PYTHONPATH", m_environment.packageFolder},
                         {"PYTHONDONTWRITEBYTECODE", "1"},
                         {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  m_deadline.start(m_limit);
  m_child.start(command);
}

void BridgeCall::cancel() {
  m_cancelled = true;
  m_child.kill();
}

void BridgeCall::collect(const QByteArray& bytes) {
  if (m_output.size() + bytes.size() > kMaxDocumentBytes) {
    m_tooLarge = true;
    m_child.kill();
    return;
  }
  m_output += bytes;
}

void BridgeCall::handleEnd(const ChildEnd& end) {
  m_deadline.stop();
  Q_EMIT finished(outcome(end));
}

Result<domain::Json> BridgeCall::outcome(const ChildEnd& end) const {
  const std::string doing = "`swage_bridge " + m_arguments.front() + "`";
  if (m_cancelled) {
    return Error(ErrorKind::Cancelled, doing + " was cancelled");
  }
  if (m_timedOut) {
    return Error(ErrorKind::Timeout, fmt::format("{} did not end within {} s", doing, m_limit.count() / 1000));
  }
  if (m_tooLarge) {
    return Error(ErrorKind::Protocol, doing + " printed more than 64 MiB");
  }
  if (end.kind == ChildEnd::Kind::FailedToStart) {
    return Error(ErrorKind::Environment, end.detail,
                 "set SWAGE_PYTHON to a Python that has PyTorch; `swage doctor` shows which one is used");
  }
  const Result<domain::Json> document =
      domain::parseJson({m_output.constData(), static_cast<std::size_t>(m_output.size())});
  if (!document || !document->is_object()) {
    std::string message = fmt::format("{} {} without a result", doing, end.detail);
    if (!end.lastLines.empty()) {
      message += ":\n" + end.lastLines;
    }
    // Killed from outside is most often the kernel's out-of-memory killer; no module at all is the environment's fault.
    return Error(ErrorKind::Environment, std::move(message), "`swage doctor` checks the Python environment");
  }
  if (const auto error = document->find("error"); error != document->end() && error->is_object()) {
    return bridgeError(*error, end.exitCode);
  }
  return *document;
}

}  // namespace swage::process
