// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "core/base/monotonic_now.h"

namespace swage::run {

// Search time of a run over all its sittings: runs while the search runs, not while it is paused, imports or measures
// baselines.
class SearchClock {
 public:
  explicit SearchClock(MonotonicNow now) : m_now(std::move(now)) {}

  void reset(double elapsedSeconds) {
    m_accumulated = std::chrono::duration<double>(elapsedSeconds);
    m_running = false;
  }
  void run() {
    if (!m_running) {
      m_running = true;
      m_since = m_now();
    }
  }
  void hold() {
    m_accumulated = std::chrono::duration<double>(elapsedSeconds());
    m_running = false;
  }
  [[nodiscard]] bool isRunning() const { return m_running; }
  [[nodiscard]] double elapsedSeconds() const {
    const std::chrono::duration<double> current = m_running ? m_now() - m_since : std::chrono::duration<double>(0);
    return (m_accumulated + current).count();
  }

 private:
  MonotonicNow m_now;
  std::chrono::duration<double> m_accumulated{0};
  std::chrono::steady_clock::time_point m_since;
  bool m_running = false;
};

}  // namespace swage::run
