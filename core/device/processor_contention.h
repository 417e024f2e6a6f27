// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

namespace swage::device {

// What the system says about the threads of this process at one moment.
struct ProcessorTimes {
  double waitedSeconds = 0.0;  // that all of them together were ready to run and had no processor, since they began
  int othersRunnable = 0;      // threads of other processes that run or want to
};

// Reads /proc. No value where the kernel does not say (Linux without CONFIG_SCHED_INFO, other systems).
[[nodiscard]] std::optional<ProcessorTimes> readProcessorTimes();

// Says whether other processes took processors away from the threads of this one since it was asked last. Threads of
// this process that wait for one another are no contention. Not thread-safe.
class ProcessorContention {
 public:
  using Query = std::function<std::optional<ProcessorTimes>()>;
  using Clock = std::function<double()>;  // seconds

  // `threads` of this process are at work on `processors`.
  ProcessorContention(Query query, Clock clock, int threads, int processors);
  [[nodiscard]] bool isKnown() const { return m_waited.has_value(); }
  [[nodiscard]] bool isContended();

 private:
  Query m_query;
  Clock m_clock;
  int m_threads;
  int m_processors;
  double m_asked = 0.0;
  std::optional<double> m_waited;
};

}  // namespace swage::device
