// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "app/cli/terminal.h"
#include "core/services/types.h"

namespace swage::cli {

// A bar on a terminal that is written over, or a line every 30 seconds where there is none.
class ProgressLine {
 public:
  enum class Mode : std::uint8_t { Silent, Lines, Terminal };

  ProgressLine(Mode mode, std::function<void(std::string_view)> write,
               std::function<std::chrono::steady_clock::time_point()> now,
               std::function<std::size_t()> width = terminalWidth);

  void show(const services::Progress& progress);
  // Makes room for other output: the terminal's line is taken away until the next show().
  void clear();

  // What fits standard error: NO_COLOR has no say here, TERM=dumb has.
  [[nodiscard]] static Mode detect();
  [[nodiscard]] static std::string text(const services::Progress& progress);
  // Of the budget that is used up, or of the self-test that is done: "[######--------------]  30 %  ". Empty where
  // there is neither.
  [[nodiscard]] static std::string bar(const services::Progress& progress);

 private:
  Mode m_mode;
  std::function<void(std::string_view)> m_write;
  std::function<std::chrono::steady_clock::time_point()> m_now;
  std::function<std::size_t()> m_width;
  std::chrono::steady_clock::time_point m_lastLine;
  std::string m_lastStage;
  bool m_hasLine = false;
};

// Of a self-test by itself, as a search shows its own.
[[nodiscard]] services::Progress selfTestProgress(int done, int total);

// Lets through what says something new about a run: its state, stage, counts or best; else a sign of life after half a
// minute.
class ProgressFilter {
 public:
  explicit ProgressFilter(std::function<std::chrono::steady_clock::time_point()> now) : m_now(std::move(now)) {}
  [[nodiscard]] bool isNews(const services::Progress& progress);

 private:
  std::function<std::chrono::steady_clock::time_point()> m_now;
  std::optional<services::Progress> m_last;
  std::chrono::steady_clock::time_point m_lastAt;
};

}  // namespace swage::cli
