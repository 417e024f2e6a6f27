// SPDX-License-Identifier: Apache-2.0
#include "app/worker/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/system_message.h"
#include "core/wire/codec.h"

namespace swage::worker {
namespace {

Error ioError(std::string_view action) {
  return Error(ErrorKind::Io, fmt::format("cannot {}: {}", action, systemMessage(errno)));
}

}  // namespace

Result<std::unique_ptr<WorkerConnection>> WorkerConnection::takeStandardStreams() {
  Fd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  Fd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!input.isOpen() || !output.isOpen()) {
    return ioError("copy the standard streams");
  }
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return ioError("point standard output at standard error");
  }
  return std::make_unique<WorkerConnection>(std::move(input), std::move(output));
}

void WorkerConnection::startReading(std::function<void()> onClosed) {
  std::thread([this, onClosed = std::move(onClosed)] { read(onClosed); }).detach();
}

void WorkerConnection::read(const std::function<void()>& onClosed) {
  wire::FrameReader frames;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(m_input.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      push(std::optional<wire::Message>());
      onClosed();
      return;
    }
    frames.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    while (true) {
      Result<std::optional<wire::Message>> message = frames.next();
      const bool broken = !message.has_value();
      if (!broken && !message->has_value()) {
        break;
      }
      push(std::move(message));
      if (broken) {
        return;
      }
    }
  }
}

void WorkerConnection::push(Result<std::optional<wire::Message>> event) {
  {
    const std::lock_guard lock(m_mutex);
    m_inbox.push_back(std::move(event));
  }
  m_arrived.notify_one();
}

Result<std::optional<wire::Message>> WorkerConnection::receive() {
  std::unique_lock lock(m_mutex);
  m_arrived.wait(lock, [this] { return !m_inbox.empty(); });
  Result<std::optional<wire::Message>> event = std::move(m_inbox.front());
  m_inbox.pop_front();
  return event;
}

bool WorkerConnection::hasMessage() {
  const std::lock_guard lock(m_mutex);
  return !m_inbox.empty();
}

WorkerConnection::Arrival WorkerConnection::waitForRequest() {
  const auto isGreeting = [](const Result<std::optional<wire::Message>>& event) {
    return event && *event && std::holds_alternative<wire::Hello>(**event);
  };
  std::unique_lock lock(m_mutex);
  m_arrived.wait(lock, [&] { return m_inbox.size() > 1 || (!m_inbox.empty() && !isGreeting(m_inbox.front())); });
  const Result<std::optional<wire::Message>>& first = isGreeting(m_inbox.front()) ? m_inbox[1] : m_inbox.front();
  const bool isRequest = first && *first && !std::holds_alternative<wire::Shutdown>(**first);
  return isRequest ? Arrival::Request : Arrival::End;
}

Result<> WorkerConnection::send(const wire::Message& message) {
  const std::string frame = wire::encodeFrame(message);
  const std::lock_guard lock(m_writing);
  for (std::size_t done = 0; done < frame.size();) {
    const ssize_t written = ::write(m_output.get(), frame.data() + done, frame.size() - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return ioError("write to the engine");
    }
    done += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace swage::worker
