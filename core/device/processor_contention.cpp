// SPDX-License-Identifier: Apache-2.0
#include "core/device/processor_contention.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/files.h"

namespace swage::device {
namespace {

// Of the time between two looks. A thread that is woken waits for some microseconds on an idle machine, too.
constexpr double kContendedShare = 0.05;

// The number of one of the fields of a text, which spaces separate; 0 where there is none.
double numberAt(std::string_view text, int field) {
  for (; field > 0; --field) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
      return 0.0;
    }
    text.remove_prefix(space + 1);
  }
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The state follows the name of the program, which may hold anything, in parentheses.
bool isRunning(std::string_view stat) {
  const std::size_t name = stat.rfind(')');
  return name != std::string_view::npos && stat.substr(name + 1).starts_with(" R");
}

}  // namespace

std::optional<ProcessorTimes> readProcessorTimes() {
  constexpr int kWaitedField = 1;    // of schedstat, in nanoseconds
  constexpr int kRunnableField = 3;  // of loadavg: "3/512"
  const auto load = readTextFile("/proc/loadavg");
  std::error_code failure;
  std::filesystem::directory_iterator thread("/proc/self/task", failure);
  if (!load || failure) {
    return std::nullopt;
  }
  ProcessorTimes use;
  bool isTold = false;
  int ownRunning = 0;
  for (; thread != std::filesystem::directory_iterator() && !failure; thread.increment(failure)) {
    // A thread that ends meanwhile has no files any more.
    if (const auto times = readTextFile(thread->path() / "schedstat")) {
      use.waitedSeconds += numberAt(*times, kWaitedField) * 1e-9;
      isTold = true;
    }
    if (const auto stat = readTextFile(thread->path() / "stat")) {
      ownRunning += isRunning(*stat) ? 1 : 0;
    }
  }
  use.othersRunnable = std::max(0, static_cast<int>(numberAt(*load, kRunnableField)) - ownRunning);
  return isTold ? std::optional(use) : std::nullopt;
}

ProcessorContention::ProcessorContention(Query query, Clock clock, int threads, int processors)
    : m_query(std::move(query)),
      m_clock(std::move(clock)),
      m_threads(threads),
      m_processors(processors),
      m_asked(m_clock()) {
  if (const auto use = m_query()) {
    m_waited = use->waitedSeconds;
  }
}

bool ProcessorContention::isContended() {
  const double now = m_clock();
  const double passed = now - std::exchange(m_asked, now);
  const std::optional<ProcessorTimes> use = m_waited ? m_query() : std::nullopt;
  if (!use) {
    return false;
  }
  const double waited = use->waitedSeconds - std::exchange(*m_waited, use->waitedSeconds);
  const bool isCrowded = use->othersRunnable > 0 && use->othersRunnable + m_threads > m_processors;
  return isCrowded && waited > kContendedShare * passed;
}

}  // namespace swage::device
