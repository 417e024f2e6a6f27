// SPDX-License-Identifier: Apache-2.0
#include "core/process/synthesis_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace swage::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptErrors = 2000;

toolchain::Environment environmentFor(const LaunchCommand& command) {
  toolchain::Environment environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  return environment;
}

// Waits until the descriptor can be used; false at the deadline.
bool waitFor(int descriptor, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return false;
    }
    pollfd waiting{descriptor, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long>(left + 1, 60000)));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return false;
    }
  }
}

std::string lastLines(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(kKeptErrors));
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - begin)), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

std::string limitText(std::chrono::milliseconds limit) {
  return fmt::format("did not answer within {:g} s", std::chrono::duration<double>(limit).count());
}

}  // namespace

SynthesisProcess::Outcome<std::unique_ptr<SynthesisProcess>> SynthesisProcess::start(const LaunchCommand& command,
                                                                                     std::chrono::milliseconds limit) {
  auto input = toolchain::openPipe();
  auto output = toolchain::openPipe();
  if (!input || !output) {
    return tl::make_unexpected(Loss{"could not be given its pipes"});
  }
  Fd errors(::memfd_create("swage-synthesis", MFD_CLOEXEC));
  std::vector<std::string> argv{command.program};
  argv.insert(argv.end(), command.arguments.begin(), command.arguments.end());
  auto child = toolchain::LimitedChild::start(argv, environmentFor(command),
                                              {input->read.get(), output->write.get(), errors.get()}, {},
                                              toolchain::LimitedChild::CpuLimit::None);
  if (!child) {
    return tl::make_unexpected(Loss{"could not be started: " + child.error().message()});
  }
  ::fcntl(input->write.get(), F_SETFL, O_NONBLOCK);  // a process that does not read must not hold us up
  std::unique_ptr<SynthesisProcess> process(
      new SynthesisProcess(std::move(*child), std::move(input->write), std::move(output->read), std::move(errors)));
  output->write.reset();  // so that its end is the end of the file
  input->read.reset();
  const auto hello = process->ask(wire::Hello{wire::kProtocolVersion, "engine", {}}, limit);
  if (!hello) {
    return tl::make_unexpected(hello.error());
  }
  const auto* greeting = std::get_if<wire::Hello>(&*hello);
  if (greeting == nullptr || greeting->protocol != wire::kProtocolVersion) {
    return tl::make_unexpected(Loss{"speaks another protocol: use programs of one version"});
  }
  return process;
}

SynthesisProcess::Outcome<wire::Message> SynthesisProcess::ask(const wire::Message& request,
                                                               std::chrono::milliseconds limit) {
  const Deadline deadline = Clock::now() + limit;
  // Whoever has ended does not read; what is there to be read says how.
  static_cast<void>(send(wire::encodeFrame(request), deadline));
  return receive(deadline, limit);
}

bool SynthesisProcess::send(const std::string& bytes, Deadline deadline) const {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(m_input.get(), rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno != EAGAIN && errno != EINTR) {
      return false;
    } else if (!waitFor(m_input.get(), POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

SynthesisProcess::Outcome<wire::Message> SynthesisProcess::receive(Deadline deadline, std::chrono::milliseconds limit) {
  std::array<char, 65536> bytes{};
  for (;;) {
    auto message = m_frames.next();
    if (!message) {
      return tl::make_unexpected(Loss{"sent something else than an answer: " + message.error().message()});
    }
    if (*message) {
      return std::move(**message);
    }
    if (!waitFor(m_output.get(), POLLIN, deadline)) {
      return tl::make_unexpected(Loss{limitText(limit)});
    }
    const ssize_t got = ::read(m_output.get(), bytes.data(), bytes.size());
    if (got == 0) {
      return tl::make_unexpected(end());
    }
    if (got > 0) {
      m_frames.feed({bytes.data(), static_cast<std::size_t>(got)});
    }
  }
}

SynthesisProcess::Loss SynthesisProcess::end() {
  const int status = m_child.killAndReap();
  const std::string said = lastLines(m_errors.get());
  const std::string how =
      WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                          : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return {said.empty() ? how : how + "\n" + said};
}

}  // namespace swage::process
