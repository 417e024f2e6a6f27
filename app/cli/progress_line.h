// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/services/types.h"

namespace swage::cli {

// One line on a terminal that is written over, or a line every 30 seconds where there is none.
class ProgressLine {
 public:
  enum class Mode : std::uint8_t { Silent, Lines, Terminal };

  ProgressLine(Mode mode, std::function<void(std::string_view)> write,
               std::function<std::chrono::steady_clock::time_point()> now);

  void show(const services::Progress& progress);
  // Makes room for other output: the terminal's line is taken away until the next show().
  void clear();

  // What fits standard error: NO_COLOR has no say here, TERM=dumb has.
  [[nodiscard]] static Mode detect();
  [[nodiscard]] static std::string text(const services::Progress& progress);

 private:
  Mode m_mode;
  std::function<void(std::string_view)> m_write;
  std::function<std::chrono::steady_clock::time_point()> m_now;
  std::chrono::steady_clock::time_point m_lastLine;
  std::string m_lastStage;
  bool m_hasLine = false;
};

}  // namespace swage::cli
