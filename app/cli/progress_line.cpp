// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "app/cli/text.h"

namespace swage::cli {
namespace {

constexpr std::chrono::seconds kBetweenLines{30};
constexpr std::string_view kEraseLine = "\r\x1b[2K";

bool isSearching(services::RunState state) {
  return state == services::RunState::Running || state == services::RunState::Paused ||
         state == services::RunState::Stopping;
}

}  // namespace

ProgressLine::ProgressLine(Mode mode, std::function<void(std::string_view)> write,
                           std::function<std::chrono::steady_clock::time_point()> now)
    : m_mode(mode), m_write(std::move(write)), m_now(std::move(now)), m_lastLine(m_now() - kBetweenLines) {}

ProgressLine::Mode ProgressLine::detect() {
  const char* term = std::getenv("TERM");
  const bool capable = term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
  return ::isatty(STDERR_FILENO) != 0 && capable ? Mode::Terminal : Mode::Lines;
}

std::string ProgressLine::text(const services::Progress& progress) {
  if (!isSearching(progress.state)) {
    return fmt::format("{}: {}", services::name(progress.state), progress.stage);
  }
  std::string left;
  if (progress.budgetSeconds > 0.0) {
    left = formatSeconds(std::max(0.0, progress.budgetSeconds - progress.elapsedSeconds)) + " left";
  } else if (progress.maxEvaluations > 0) {
    left = fmt::format("{} left", std::max<std::int64_t>(0, progress.maxEvaluations - progress.evaluations));
  } else {
    left = formatSeconds(progress.elapsedSeconds);
  }
  return fmt::format("{}: best {}, {} candidates ({} correct, {} cells), {:.1f}/s, {}; {}",
                     services::name(progress.state), formatSpeedup(progress.bestSpeedup), progress.evaluations,
                     progress.correct, progress.filledCells, progress.perSecond, left, progress.stage);
}

void ProgressLine::show(const services::Progress& progress) {
  if (m_mode == Mode::Silent || progress.state == services::RunState::Finished ||
      progress.state == services::RunState::Failed) {
    return;
  }
  if (m_mode == Mode::Terminal) {
    m_hasLine = true;
    m_write(std::string(kEraseLine) + text(progress));
    return;
  }
  const bool newStage = !isSearching(progress.state) && progress.stage != m_lastStage;
  if (newStage || m_now() - m_lastLine >= kBetweenLines) {
    m_lastLine = m_now();
    m_lastStage = progress.stage;
    m_write(text(progress) + '\n');
  }
}

void ProgressLine::clear() {
  if (std::exchange(m_hasLine, false)) {
    m_write(kEraseLine);
  }
}

}  // namespace swage::cli
