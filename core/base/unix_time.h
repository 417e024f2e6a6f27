// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace swage {

// Milliseconds since 1970 in UTC, for what is recorded; durations are measured with a monotonic clock.
[[nodiscard]] inline std::int64_t unixTimeMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace swage
