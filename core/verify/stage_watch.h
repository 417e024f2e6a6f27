// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swage::verify {

// Where the time of an evaluation goes, for the log. What a GPU was only given counts where it is waited for.
class StageWatch {
 public:
  // The time since the last mark was spent on this.
  void mark(std::string_view stage);
  // What took a millisecond and more, in the order in which it came first: "call 3.1 ms, timing 250.0 ms".
  [[nodiscard]] std::string text() const;

 private:
  std::chrono::steady_clock::time_point m_since = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string_view, double>> m_seconds;  // names of this build
};

}  // namespace swage::verify
