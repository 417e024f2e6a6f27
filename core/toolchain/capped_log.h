// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swage::toolchain {

// What is kept of anything a compiler prints.
inline constexpr std::size_t kMaxLogBytes = std::size_t{256} << 10U;

// Keeps the head and the tail of a text that may be endless, and counts the rest. Never grows beyond its capacity.
class CappedLog {
 public:
  explicit CappedLog(std::size_t capacity = kMaxLogBytes);

  void append(std::string_view bytes);
  // Everything that was appended, also what was not kept.
  [[nodiscard]] std::size_t totalBytes() const { return m_total; }
  // Head, a line that says how much is missing, tail.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t m_headCapacity;
  std::size_t m_tailCapacity;
  std::size_t m_total = 0;
  std::string m_head;
  std::string m_tail;
};

// The same for a text that is already there.
[[nodiscard]] std::string cappedText(std::string_view text, std::size_t capacity = kMaxLogBytes);

// Valid UTF-8 without control characters, because a log is shown in terminals and windows, and with `prefix` removed
// everywhere, so that no path of this machine is recorded.
[[nodiscard]] std::string cleanedLog(std::string_view text, std::string_view prefix);

}  // namespace swage::toolchain
