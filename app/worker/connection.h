// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/wire/messages.h"

namespace swage::worker {

// Frames on a pair of descriptors. A thread reads all the time, so that the end of the input is noticed while the main
// thread works. send() may be called from any thread.
class WorkerConnection {
 public:
  // Takes over standard input and output: afterwards descriptor 1 is a copy of 2, because libraries print.
  [[nodiscard]] static Result<std::unique_ptr<WorkerConnection>> takeStandardStreams();

  WorkerConnection(Fd input, Fd output) : m_input(std::move(input)), m_output(std::move(output)) {}

  // `onClosed` runs on the reading thread when the input has ended. The thread runs until the process ends.
  void startReading(std::function<void()> onClosed);

  // Waits for the next message. No value: the input has ended. An error: what came is no frame.
  [[nodiscard]] Result<std::optional<wire::Message>> receive();

  // Whether a message is there that receive() would give at once, or the input has ended.
  [[nodiscard]] bool hasMessage();

  // Waits until a message after the greeting is there, and leaves it for receive().
  enum class Arrival : std::uint8_t { Request, End };
  [[nodiscard]] Arrival waitForRequest();

  // Fails when the other side has gone.
  [[nodiscard]] Result<> send(const wire::Message& message);

 private:
  void read(const std::function<void()>& onClosed);
  void push(Result<std::optional<wire::Message>> event);

  Fd m_input;
  Fd m_output;
  std::mutex m_writing;
  std::mutex m_mutex;
  std::condition_variable m_arrived;
  std::deque<Result<std::optional<wire::Message>>> m_inbox;
};

}  // namespace swage::worker
