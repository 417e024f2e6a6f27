// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/worker/connection.h"
#include "app/worker/heartbeat.h"
#include "core/device/device.h"
#include "core/verify/task_session.h"
#include "core/wire/exit_code.h"

namespace swage::worker {

// Serves one engine: a task is loaded, candidates are evaluated, one request at a time, on the thread that runs run().
class WorkerLoop {
 public:
  WorkerLoop(WorkerConnection& connection, HeartbeatSender& heartbeat, device::Device& device)
      : m_connection(connection), m_heartbeat(heartbeat), m_device(device) {}

  // Until Shutdown, the end of the input, a broken stream or a lost device.
  [[nodiscard]] wire::ExitCode run();

 private:
  enum class Next : unsigned char { Continue, Stop, DeviceLost, ProtocolBroken };

  [[nodiscard]] Next handle(const wire::Message& message);
  [[nodiscard]] Next load(const wire::LoadTask& request);
  [[nodiscard]] Next evaluate(const wire::Evaluate& request);
  [[nodiscard]] Next makeRoom();
  void releaseMemory();
  [[nodiscard]] Next profile(const wire::ProfileRequest& request);
  [[nodiscard]] Next reply(const wire::Message& message, bool deviceLost);

  WorkerConnection& m_connection;
  HeartbeatSender& m_heartbeat;
  device::Device& m_device;
  std::unique_ptr<verify::TaskSession> m_session;
  bool m_greeted = false;
};

}  // namespace swage::worker
