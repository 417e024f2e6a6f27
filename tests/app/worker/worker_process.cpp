// SPDX-License-Identifier: Apache-2.0
#include "tests/app/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "core/base/assert.h"

namespace swage::testing {

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  SWAGE_ASSERT(::pipe2(input.data(), O_CLOEXEC) == 0 && ::pipe2(output.data(), O_CLOEXEC) == 0);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  m_pid = ::fork();
  SWAGE_ASSERT(m_pid >= 0);
  if (m_pid == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  m_input = Fd(input[1]);
  m_output = Fd(output[0]);
  ::close(input[0]);
  ::close(output[1]);
}

WorkerProcess::~WorkerProcess() {
  if (m_pid > 0) {
    ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
  }
}

void WorkerProcess::send(const wire::Message& message) {
  sendRaw(wire::encodeFrame(message));
}

void WorkerProcess::sendRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(m_input.get(), bytes.data(), bytes.size());
    if (written <= 0) {
      return;  // the worker has gone; what it answered tells why
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<wire::Message> WorkerProcess::receive(std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::array<char, 65536> buffer{};
  while (std::chrono::steady_clock::now() < end) {
    auto message = m_frames.next();
    SWAGE_ASSERT(message.has_value());
    if (*message && std::holds_alternative<wire::Heartbeat>(**message)) {
      ++m_heartbeats;
      continue;
    }
    if (*message) {
      return std::move(**message);
    }
    pollfd waiting{m_output.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 1000) <= 0) {
      continue;
    }
    const ssize_t got = ::read(m_output.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      return std::nullopt;
    }
    m_frames.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
  return std::nullopt;
}

int WorkerProcess::waitForExit() {
  while (receive()) {
  }
  int status = 0;
  ::waitpid(m_pid, &status, 0);
  m_pid = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace swage::testing
