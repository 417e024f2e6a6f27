// SPDX-License-Identifier: Apache-2.0
#include "core/verify/stage_watch.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::verify {

namespace {
constexpr double kWorthSaying = 1e-3;
}

void StageWatch::mark(std::string_view stage) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(m_since, now)).count();
  const auto known =
      std::find_if(m_seconds.begin(), m_seconds.end(), [stage](const auto& entry) { return entry.first == stage; });
  if (known == m_seconds.end()) {
    m_seconds.emplace_back(stage, seconds);
  } else {
    known->second += seconds;
  }
}

std::string StageWatch::text() const {
  std::string text;
  for (const auto& [stage, seconds] : m_seconds) {
    if (seconds >= kWorthSaying) {
      text += fmt::format("{}{} {:.1f} ms", text.empty() ? "" : ", ", stage, 1e3 * seconds);
    }
  }
  return text;
}

}  // namespace swage::verify
