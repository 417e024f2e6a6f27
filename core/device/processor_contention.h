// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace swage::device {

// What the system says about the processors, this process, and those that work for it, at one moment. All of it grows.
struct ProcessorTimes {
  // How long the threads of each of our processes together were ready to run and had no processor.
  std::map<pid_t, double> waitedSeconds;
  double usedSeconds = 0.0;  // by our processes, also by those that have ended
  double idleSeconds = 0.0;  // of all processors together
  int processors = 0;        // that `idleSeconds` is about
};

// Reads /proc. No value where the kernel does not say (Linux without CONFIG_SCHED_INFO, other systems).
// `helpers`: children that work for this process.
[[nodiscard]] std::optional<ProcessorTimes> readProcessorTimes(std::span<const pid_t> helpers = {});

// Says whether other processes took processors away from the threads of ours since it was asked last: ours waited, and
// others computed meanwhile. Threads of our processes that wait for one another are no contention. Not thread-safe.
class ProcessorContention {
 public:
  using Query = std::function<std::optional<ProcessorTimes>()>;
  using Clock = std::function<double()>;  // seconds

  // `threads` of ours are at work at once.
  ProcessorContention(Query query, Clock clock, int threads);
  [[nodiscard]] bool isKnown() const { return m_last.has_value(); }
  [[nodiscard]] bool isContended();

 private:
  Query m_query;
  Clock m_clock;
  int m_threads;
  double m_asked = 0.0;
  std::optional<ProcessorTimes> m_last;
};

}  // namespace swage::device
