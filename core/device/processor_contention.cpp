// SPDX-License-Identifier: Apache-2.0
#include "core/device/processor_contention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
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
// In which /proc/stat counts.
constexpr double kStatSeconds = 0.01;

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

// Of all threads of a process; no value: the system does not say.
std::optional<double> waitedSeconds(const std::filesystem::path& folder) {
  constexpr int kWaitedField = 1;  // of schedstat, in nanoseconds
  std::optional<double> waited;
  std::error_code failure;
  std::filesystem::directory_iterator thread(folder, failure);
  for (; !failure && thread != std::filesystem::directory_iterator(); thread.increment(failure)) {
    // A thread that ends meanwhile has no files any more.
    if (const auto times = readTextFile(thread->path() / "schedstat")) {
      waited = waited.value_or(0.0) + numberAt(*times, kWaitedField) * 1e-9;
    }
  }
  return waited;
}

double secondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double usedSeconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return 0.0;
  }
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double usedByEndedChildren() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return secondsOf(used.ru_utime) + secondsOf(used.ru_stime);
}

// "cpu  user nice system idle iowait ...", then a line for each processor.
bool addIdle(std::string_view stat, ProcessorTimes& times) {
  constexpr std::string_view kFirst = "cpu  ";
  constexpr int kIdleField = 3;
  if (!stat.starts_with(kFirst)) {
    return false;
  }
  const std::string_view numbers = stat.substr(kFirst.size());
  times.idleSeconds = (numberAt(numbers, kIdleField) + numberAt(numbers, kIdleField + 1)) * kStatSeconds;
  for (std::size_t line = stat.find('\n'); line != std::string_view::npos; line = stat.find('\n', line + 1)) {
    times.processors += stat.substr(line + 1).starts_with("cpu") ? 1 : 0;
  }
  return times.processors > 0;
}

}  // namespace

std::optional<ProcessorTimes> readProcessorTimes(std::span<const pid_t> helpers) {
  ProcessorTimes times;
  const auto stat = readTextFile("/proc/stat");
  const auto own = waitedSeconds("/proc/self/task");
  if (!stat || !own || !addIdle(*stat, times)) {
    return std::nullopt;
  }
  times.waitedSeconds[::getpid()] = *own;
  times.usedSeconds = usedSeconds(::getpid()) + usedByEndedChildren();
  for (const pid_t helper : helpers) {
    if (const auto waited = helper > 0 ? waitedSeconds("/proc/" + std::to_string(helper) + "/task") : std::nullopt) {
      times.waitedSeconds[helper] = *waited;
      times.usedSeconds += usedSeconds(helper);
    }
  }
  return times;
}

ProcessorContention::ProcessorContention(Query query, Clock clock, int threads)
    : m_query(std::move(query)), m_clock(std::move(clock)), m_threads(threads), m_asked(m_clock()), m_last(m_query()) {}

bool ProcessorContention::isContended() {
  const double now = m_clock();
  const double passed = now - std::exchange(m_asked, now);
  std::optional<ProcessorTimes> times = m_last ? m_query() : std::nullopt;
  if (!times) {
    return false;
  }
  double waited = 0.0;
  for (const auto& [process, seconds] : times->waitedSeconds) {
    const auto before = m_last->waitedSeconds.find(process);
    waited += before != m_last->waitedSeconds.end() ? seconds - before->second : 0.0;
  }
  // What is neither idle nor ours. The last tick may not have been counted yet.
  const double others = times->processors * passed - (times->idleSeconds - m_last->idleSeconds) -
                        (times->usedSeconds - m_last->usedSeconds) - kStatSeconds;
  const bool isCrowded = others > 0.0 && others + m_threads * passed > times->processors * passed;
  m_last = std::move(times);
  return isCrowded && std::min(waited, others) > kContendedShare * passed;
}

}  // namespace swage::device
