// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/nvrtc_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include <fmt/format.h>

#include "core/base/trimmed.h"
#include "core/toolchain/text_pipe.h"

// Conversation: the helper sends {"ready", version} or {"failed", reason}; then, for each {source, option, …} it gets,
// it sends {"ok" or "error", log, cubin, ptx}.
namespace swage::toolchain {
namespace {

// Reads one whole message; nothing at end of file.
std::optional<TextList> readMessage(int fd) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (;;) {
    auto message = decodeTextList(bytes);
    if (!message) {
      return std::nullopt;
    }
    if (*message) {
      return std::move(*message);
    }
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return std::nullopt;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Writes what the pipe takes now. No at the end of the conversation.
Sent writeSome(int fd, std::string& outgoing) {
  const ssize_t count = ::write(fd, outgoing.data(), outgoing.size());
  if (count < 0) {
    return errno == EAGAIN || errno == EINTR ? Sent::Yes : Sent::No;
  }
  outgoing.erase(0, static_cast<std::size_t>(count));
  return Sent::Yes;
}

}  // namespace

int runNvrtcHelper(const std::string& nvrtcPath) {
  // Libraries print: what they say must not mix with the answers.
  const Fd answers(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  auto library = NvrtcLibrary::load(nvrtcPath);
  const TextList greeting =
      library ? TextList{"ready", library->version()} : TextList{"failed", library.error().message()};
  if (writeAll(answers.get(), encodeTextList(greeting)) == Sent::No || !library) {
    return 1;
  }
  while (auto job = readMessage(STDIN_FILENO)) {
    if (job->empty()) {
      return 1;
    }
    const std::string source = std::move(job->front());
    job->erase(job->begin());
    NvrtcOutput output = library->compile(source, *job);
    const TextList answer{output.succeeded ? "ok" : "error", std::move(output.log), std::move(output.cubin),
                          std::move(output.ptx)};
    if (writeAll(answers.get(), encodeTextList(answer)) == Sent::No) {
      return 1;
    }
  }
  return 0;
}

Result<NvrtcHelper> NvrtcHelper::start(const std::vector<std::string>& command, const Environment& environment) {
  SWAGE_TRY_ASSIGN(Pipe toHelper, openPipe());
  SWAGE_TRY_ASSIGN(Pipe fromHelper, openPipe());
  SWAGE_TRY_ASSIGN(Pipe errors, openPipe());
  SWAGE_TRY_ASSIGN(
      LimitedChild process,
      LimitedChild::start(command, environment, {toHelper.read.get(), fromHelper.write.get(), errors.write.get()}, {},
                          LimitedChild::CpuLimit::None));
  toHelper.read.reset();
  fromHelper.write.reset();
  errors.write.reset();
  for (const int ours : {toHelper.write.get(), fromHelper.read.get(), errors.read.get()}) {
    ::fcntl(ours, F_SETFL, O_NONBLOCK);
  }

  NvrtcHelper helper(std::move(process), std::move(toHelper.write), std::move(fromHelper.read), std::move(errors.read));
  ProcessLimits limits;
  limits.seconds = 30.0;  // a cold disk: the library is 100 MB
  const auto greeting = helper.exchange({}, limits);
  const auto* list = std::get_if<TextList>(&greeting);
  if (list == nullptr) {
    return helper.startFailure(std::get<ProcessEnd>(greeting), limits);
  }
  if (list->size() != 2 || list->front() != "ready") {
    return Error(ErrorKind::Environment, list->size() == 2 ? list->back() : "the CUDA compile helper did not start");
  }
  helper.m_version = list->back();
  return helper;
}

// Not for ever: a helper that prints faster than we read must still meet its limits.
void NvrtcHelper::readErrors() {
  std::array<char, 4096> buffer{};
  for (int reads = 0; reads < 16; ++reads) {
    const ssize_t count = ::read(m_errors.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      if (count == 0) {
        m_errors.reset();
      }
      return;
    }
    m_words.append({buffer.data(), static_cast<std::size_t>(count)});
  }
}

Error NvrtcHelper::startFailure(ProcessEnd end, const ProcessLimits& limits) {
  readErrors();  // what it said last
  std::string reason = describeLimit(end, limits);
  const std::string log = cleanedLog(m_words.text(), {});
  if (const std::string_view said = trimmed(log); !said.empty()) {
    reason += fmt::format("{}{}", reason.empty() ? "" : "; it said: ", said);
  }
  return Error(ErrorKind::Environment,
               "the CUDA compile helper did not start: " + (reason.empty() ? "it ended at once" : reason));
}

std::variant<TextList, ProcessEnd> NvrtcHelper::exchange(std::string outgoing, const ProcessLimits& limits) {
  LimitWatch watch(m_process.pid(), limits);
  std::string incoming;
  std::array<char, 65536> buffer{};
  for (;;) {
    std::array<pollfd, 3> polled{{{m_fromHelper.get(), POLLIN, 0},
                                  {outgoing.empty() ? -1 : m_toHelper.get(), POLLOUT, 0},
                                  {m_errors.get(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), 50);
    if (polled[2].revents != 0) {
      readErrors();
    }
    if (polled[1].revents != 0 && writeSome(m_toHelper.get(), outgoing) == Sent::No) {
      return ProcessEnd::Signalled;
    }
    if (polled[0].revents != 0) {
      const ssize_t count = ::read(m_fromHelper.get(), buffer.data(), buffer.size());
      if (count == 0) {
        return ProcessEnd::Signalled;
      }
      incoming.append(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0U);
      auto message = decodeTextList(incoming);
      if (!message) {
        return ProcessEnd::Signalled;
      }
      if (*message) {
        return std::move(**message);
      }
    }
    if (const auto limit = watch.exceeded()) {
      return *limit;
    }
  }
}

std::variant<NvrtcOutput, ProcessEnd> NvrtcHelper::compile(const std::string& source,
                                                           const std::vector<std::string>& options,
                                                           const ProcessLimits& limits) {
  TextList job{source};
  job.insert(job.end(), options.begin(), options.end());
  ++m_served;
  auto answer = exchange(encodeTextList(job), limits);
  if (const auto* end = std::get_if<ProcessEnd>(&answer)) {
    return *end;
  }
  auto& list = std::get<TextList>(answer);
  if (list.size() != 4) {
    return ProcessEnd::Signalled;
  }
  return NvrtcOutput{list[0] == "ok", std::move(list[1]), std::move(list[2]), std::move(list[3])};
}

}  // namespace swage::toolchain
