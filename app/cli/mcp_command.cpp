// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/log.h"
#include "core/base/system_message.h"

namespace swage::cli {

void McpCommand::start() {
  if (const Result<> begun = begin(); !begun) {
    fail(begun.error());
  }
}

Result<services::RunSpec> McpCommand::spec() const {
  services::RunSpec spec = m_arguments.spec;
  const std::filesystem::path named = m_arguments.what;
  std::error_code ignored;
  const bool isProject = std::filesystem::exists(named / "runs.sqlite", ignored);
  if (m_arguments.what.empty() || isProject) {
    spec.task.clear();
    spec.project = named;
    if (named.empty()) {
      SWAGE_TRY_ASSIGN(spec.project, existingProject());
    }
  } else {
    spec.task = process::resolveTask(m_arguments.what, context().locations);
    spec.project = projectFor(spec.task);
  }
  spec.project = std::filesystem::absolute(spec.project);
  return spec;
}

Result<> McpCommand::begin() {
  SWAGE_TRY_ASSIGN(services::RunSpec spec, this->spec());
  m_output = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!m_output.isOpen() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Error(ErrorKind::Io, "cannot keep standard output for the protocol: " + systemMessage(errno));
  }
  log::info("serving {} to the program on standard input", spec.project.string());
  const McpAccess access = m_arguments.allowSubmissions ? McpAccess::Submissions : McpAccess::ReadOnly;
  m_host = std::make_unique<McpHost>(McpHost::Options{
      .access = access, .spec = std::move(spec), .parts = context().parts, .locations = context().locations});
  connect(m_host.get(), &McpHost::becameIdle, this, [this] {
    if (m_isStopping) {
      Q_EMIT done(m_code);
    }
  });
  m_server = std::make_unique<mcp::Server>(
      mcp::Server::Facts{
          .name = "swage", .title = "Swage", .version = SWAGE_VERSION, .instructions = mcpInstructions(access)},
      *m_host, [this](const std::string& line) { write(line); });
  m_input = std::make_unique<QSocketNotifier>(STDIN_FILENO, QSocketNotifier::Read);
  connect(m_input.get(), &QSocketNotifier::activated, this, &McpCommand::readInput);
  return {};
}

void McpCommand::readInput() {
  std::array<char, std::size_t{64} << 10U> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (count <= 0) {
    stop(wire::ExitCode::Ok);
    return;
  }
  m_buffer.append(bytes.data(), static_cast<std::size_t>(count));
  takeLines();
}

void McpCommand::takeLines() {
  std::size_t begin = 0;
  for (std::size_t end = m_buffer.find('\n'); end != std::string::npos; end = m_buffer.find('\n', begin)) {
    const std::string line = m_buffer.substr(begin, end - begin);
    begin = end + 1;
    if (!std::exchange(m_isSkipping, false)) {
      m_server->receive(line);
    }
  }
  m_buffer.erase(0, begin);
  if (m_buffer.size() > mcp::kMostOfLine) {
    if (!std::exchange(m_isSkipping, true)) {
      m_server->receiveOverlong();
    }
    m_buffer.clear();
  }
}

void McpCommand::write(const std::string& line) {
  const std::string text = line + '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(m_output.get(), text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      stop(wire::ExitCode::Ok);  // nobody reads any more
      return;
    }
    sent += static_cast<std::size_t>(count);
  }
}

void McpCommand::interrupt(int signal, int count) {
  if (!m_host || count > 1) {
    Command::interrupt(signal, count);
    return;
  }
  stop(exitCodeForSignal(signal));
}

void McpCommand::stop(wire::ExitCode code) {
  if (std::exchange(m_isStopping, true)) {
    return;
  }
  m_code = code;
  m_input->setEnabled(false);
  m_host->stop();
}

}  // namespace swage::cli
