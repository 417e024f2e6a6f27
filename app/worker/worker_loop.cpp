// SPDX-License-Identifier: Apache-2.0
#include "app/worker/worker_loop.h"

#include <utility>

#include "core/base/log.h"
#include "core/verify/torch_runtime.h"

namespace swage::worker {

wire::ExitCode WorkerLoop::run() {
  while (true) {
    const Result<std::optional<wire::Message>> message = m_connection.receive();
    if (!message) {
      log::error("the engine sent something that is no frame: {}", message.error().message());
      return wire::ExitCode::ProtocolFailed;
    }
    if (!message->has_value()) {
      return wire::ExitCode::Ok;
    }
    switch (handle(**message)) {
      case Next::Continue: break;
      case Next::Stop: return wire::ExitCode::Ok;
      case Next::DeviceLost: return wire::ExitCode::StickyDeviceError;
      case Next::ProtocolBroken: return wire::ExitCode::ProtocolFailed;
    }
  }
}

WorkerLoop::Next WorkerLoop::handle(const wire::Message& message) {
  if (const auto* hello = std::get_if<wire::Hello>(&message); hello != nullptr && !m_greeted) {
    m_greeted = hello->protocol == wire::kProtocolVersion;
    if (!m_greeted) {
      log::error("the engine speaks protocol {}, this worker {}", hello->protocol, wire::kProtocolVersion);
    }
    return m_greeted ? Next::Continue : Next::ProtocolBroken;
  }
  if (!m_greeted) {
    log::error("the engine did not say hello first");
    return Next::ProtocolBroken;
  }
  if (const auto* request = std::get_if<wire::LoadTask>(&message)) {
    return load(*request);
  }
  if (const auto* request = std::get_if<wire::Evaluate>(&message)) {
    return evaluate(*request);
  }
  if (const auto* request = std::get_if<wire::ProfileRequest>(&message)) {
    return profile(*request);
  }
  if (std::holds_alternative<wire::MakeRoom>(message)) {
    return makeRoom();
  }
  if (std::holds_alternative<wire::Shutdown>(message)) {
    return Next::Stop;
  }
  log::error("the engine sent a message that no worker understands");
  return Next::ProtocolBroken;
}

WorkerLoop::Next WorkerLoop::load(const wire::LoadTask& request) {
  m_session.reset();
  releaseMemory();
  m_heartbeat.begin(0);
  auto session =
      verify::TaskSession::load(request, m_device, [this](std::string_view stage) { m_heartbeat.enter(stage); });
  m_heartbeat.end();
  if (session) {
    m_session = std::move(*session);
  }
  releaseMemory();  // other processes, such as the one that measures torch.compile, need what only the reference used
  if (m_session) {
    return reply(m_session->ready(), false);
  }
  const Error& error = session.error();
  const device::DeviceStatus status = m_device.synchronize();
  return reply(wire::TaskRefused{error.kind(), error.message(), error.hint()}, status && status->poisoned);
}

WorkerLoop::Next WorkerLoop::evaluate(const wire::Evaluate& request) {
  if (!m_session) {
    log::error("the engine asks for an evaluation, but no task is loaded");
    return Next::ProtocolBroken;
  }
  m_heartbeat.begin(request.request);
  const wire::Evaluated result = m_session->evaluate(
      request, [this](std::string_view stage) { m_heartbeat.enter(stage); },
      [this] { return m_connection.hasMessage(); });
  m_heartbeat.end();
  return reply(result, result.workerExits);
}

WorkerLoop::Next WorkerLoop::makeRoom() {
  releaseMemory();
  return reply(wire::RoomMade{m_device.freeBytes()}, false);
}

void WorkerLoop::releaseMemory() {
  if (m_session) {
    m_session->makeRoom();
  } else {
    verify::releaseCachedMemory(m_device.info().kind);
  }
}

WorkerLoop::Next WorkerLoop::profile(const wire::ProfileRequest& request) {
  if (!m_session) {
    log::error("the engine asks for a profile, but no task is loaded");
    return Next::ProtocolBroken;
  }
  m_heartbeat.begin(request.request);
  const wire::Profiled result =
      m_session->profile(request, [this](std::string_view stage) { m_heartbeat.enter(stage); });
  m_heartbeat.end();
  return reply(result, result.workerExits);
}

WorkerLoop::Next WorkerLoop::reply(const wire::Message& message, bool deviceLost) {
  if (const auto sent = m_connection.send(message); !sent) {
    log::error("{}", sent.error().message());
    return Next::Stop;
  }
  return deviceLost ? Next::DeviceLost : Next::Continue;
}

}  // namespace swage::worker
