// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/wire/codec.h"

namespace swage::testing {

// A swage-worker on two pipes, killed at the end of the scope. Every wait has a deadline.
class WorkerProcess {
 public:
  // `program` is the path of the worker.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(const wire::Message& message);
  void sendRaw(std::string_view bytes);
  void closeInput() { m_input.reset(); }

  // The next message that is no heartbeat; no value when the worker's output has ended or nothing came in time.
  [[nodiscard]] std::optional<wire::Message> receive(std::chrono::seconds deadline = std::chrono::seconds(60));
  // Waits until the process ends: its exit code, or minus the signal.
  [[nodiscard]] int waitForExit();
  [[nodiscard]] int heartbeats() const { return m_heartbeats; }

 private:
  pid_t m_pid = -1;
  Fd m_input;
  Fd m_output;
  wire::FrameReader m_frames;
  int m_heartbeats = 0;
};

}  // namespace swage::testing
