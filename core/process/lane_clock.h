// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/monotonic_now.h"

namespace swage::process {

// How long a lane has been doing what it does, and how much of its life it was busy.
class LaneClock {
 public:
  explicit LaneClock(MonotonicNow now) : m_now(std::move(now)), m_born(m_now()), m_since(m_born) {}

  // Said often; only a change counts.
  void note(std::string_view doing, bool isBusy) {
    if (doing == m_doing && isBusy == m_isBusy) {
      return;
    }
    const auto now = m_now();
    if (m_isBusy) {
      m_busy += now - m_since;
    }
    m_doing = doing;
    m_isBusy = isBusy;
    m_since = now;
  }
  [[nodiscard]] const std::string& doing() const { return m_doing; }
  [[nodiscard]] bool isBusy() const { return m_isBusy; }
  [[nodiscard]] double sinceSeconds() const { return seconds(m_now() - m_since); }
  [[nodiscard]] double lifeSeconds() const { return seconds(m_now() - m_born); }
  [[nodiscard]] double busySeconds() const { return seconds(m_busy) + (m_isBusy ? sinceSeconds() : 0.0); }

 private:
  [[nodiscard]] static double seconds(std::chrono::steady_clock::duration span) {
    return std::chrono::duration<double>(span).count();
  }

  MonotonicNow m_now;
  std::chrono::steady_clock::time_point m_born;
  std::chrono::steady_clock::time_point m_since;
  std::chrono::steady_clock::duration m_busy{0};
  std::string m_doing;
  bool m_isBusy = false;
};

}  // namespace swage::process
