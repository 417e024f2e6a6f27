// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "app/worker/connection.h"

namespace swage::worker {

// Tells the engine twice a second that a request is being worked on, and at which stage. Its thread ends with it.
class HeartbeatSender {
 public:
  explicit HeartbeatSender(WorkerConnection& connection);

  void begin(std::uint64_t request);
  void enter(std::string_view stage);
  void end();
  [[nodiscard]] bool isBusy() const;

 private:
  void beat(const std::stop_token& stop);

  WorkerConnection& m_connection;
  mutable std::mutex m_mutex;
  std::condition_variable_any m_changed;
  bool m_busy = false;
  wire::Heartbeat m_now;
  std::jthread m_thread;  // last: it uses the others
};

}  // namespace swage::worker
