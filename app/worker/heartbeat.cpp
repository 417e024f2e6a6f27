// SPDX-License-Identifier: Apache-2.0
#include "app/worker/heartbeat.h"

#include <chrono>

namespace swage::worker {
namespace {

constexpr std::chrono::milliseconds kInterval{500};

}  // namespace

HeartbeatSender::HeartbeatSender(WorkerConnection& connection)
    : m_connection(connection), m_thread([this](const std::stop_token& stop) { beat(stop); }) {}

void HeartbeatSender::begin(std::uint64_t request) {
  {
    const std::lock_guard lock(m_mutex);
    m_busy = true;
    m_now = {request, ""};
  }
  m_changed.notify_one();
}

void HeartbeatSender::enter(std::string_view stage) {
  const std::lock_guard lock(m_mutex);
  m_now.stage = stage;
}

void HeartbeatSender::end() {
  const std::lock_guard lock(m_mutex);
  m_busy = false;
}

bool HeartbeatSender::isBusy() const {
  const std::lock_guard lock(m_mutex);
  return m_busy;
}

// An engine that has gone shows as the end of the input, so a beat that cannot be sent is no news.
void HeartbeatSender::beat(const std::stop_token& stop) {
  std::unique_lock lock(m_mutex);
  while (m_changed.wait(lock, stop, [this] { return m_busy; })) {
    const wire::Heartbeat now = m_now;
    lock.unlock();
    (void)m_connection.send(now);
    lock.lock();
    m_changed.wait_for(lock, stop, kInterval, [this] { return !m_busy; });
  }
}

}  // namespace swage::worker
