// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <tuple>

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
                           std::function<std::chrono::steady_clock::time_point()> now,
                           std::function<std::size_t()> width)
    : m_mode(mode),
      m_write(std::move(write)),
      m_now(std::move(now)),
      m_width(std::move(width)),
      m_lastLine(m_now() - kBetweenLines) {}

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
  return fmt::format("{}: best {}, {} ({} correct, {}), {:.1f}/s, {}; {}", services::name(progress.state),
                     formatSpeedup(progress.bestSpeedup), counted(progress.evaluations, "candidate"), progress.correct,
                     counted(progress.filledCells, "cell"), progress.perSecond, left, progress.stage);
}

std::string ProgressLine::bar(const services::Progress& progress) {
  constexpr int kCells = 20;
  double share = progress.steps > 0 ? static_cast<double>(progress.step) / progress.steps : -1.0;
  if (isSearching(progress.state) && progress.budgetSeconds > 0.0) {
    share = progress.elapsedSeconds / progress.budgetSeconds;
  }
  if (isSearching(progress.state) && progress.maxEvaluations > 0) {
    share = std::max(share, static_cast<double>(progress.evaluations) / static_cast<double>(progress.maxEvaluations));
  }
  if (share < 0.0) {
    return {};
  }
  share = std::min(share, 1.0);
  const auto full = static_cast<std::size_t>(share * kCells);
  return fmt::format("[{}{}] {:>3.0f} %  ", std::string(full, '#'), std::string(kCells - full, '-'), 100.0 * share);
}

void ProgressLine::show(const services::Progress& progress) {
  if (m_mode == Mode::Silent || services::hasEnded(progress.state)) {
    return;
  }
  if (m_mode == Mode::Terminal) {
    m_hasLine = true;
    const std::string line = bar(progress) + text(progress);
    m_write(std::string(kEraseLine) + std::string(fitted(line, m_width() > 1 ? m_width() - 1 : 0)));
    return;
  }
  // What is counted is one stage, whatever its number.
  const std::string stage = progress.steps > 0 ? "counted" : progress.stage;
  const bool newStage = !isSearching(progress.state) && stage != m_lastStage;
  if (newStage || m_now() - m_lastLine >= kBetweenLines) {
    m_lastLine = m_now();
    m_lastStage = stage;
    m_write(text(progress) + '\n');
  }
}

void ProgressLine::clear() {
  if (std::exchange(m_hasLine, false)) {
    m_write(kEraseLine);
  }
}

services::Progress selfTestProgress(int done, int total) {
  services::Progress progress;
  progress.state = services::RunState::Preparing;
  progress.stage = fmt::format("self-test {} of {}", done, total);
  progress.step = done;
  progress.steps = total;
  return progress;
}

bool ProgressFilter::isNews(const services::Progress& progress) {
  const auto now = m_now();
  const auto says = [](const services::Progress& one) {
    return std::tie(one.state, one.stage, one.finishing, one.evaluations, one.correct, one.best, one.bestSpeedup.value,
                    one.filledCells);
  };
  if (m_last && says(*m_last) == says(progress) && now - m_lastAt < kBetweenLines) {
    return false;
  }
  m_last = progress;
  m_lastAt = now;
  return true;
}

}  // namespace swage::cli
