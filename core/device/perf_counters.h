// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/device/perf_system.h"

namespace swage::device {

// An event as `perf list` calls it.
struct PerfEvent {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

// Events that are counted at the same time, because one number is read beside another. No more than a processor has
// counters for.
using PerfEventSet = std::span<const PerfEvent>;

// Counts one set of events in user code of several threads, from start() to stop(). Where the kernel
// of the system gave the counters to others for a part of that time, the counts are scaled up. One thread only.
class PerfCounters {
 public:
  // Fails when no event of the set can be opened. Events that this processor does not have are left out.
  [[nodiscard]] static ProfilerResult<PerfCounters> open(PerfSystem& system, PerfEventSet events,
                                                         const std::vector<pid_t>& threads);

  void start();
  // What all threads counted since start(), by the set's order. No value: the processor does not have the event, or it
  // never had a counter for it.
  [[nodiscard]] std::vector<std::optional<double>> stop();

 private:
  struct Reading {
    std::uint64_t enabledNs = 0;
    std::uint64_t runningNs = 0;
    std::vector<std::uint64_t> values;  // by m_opened
  };
  struct Thread {
    std::vector<PerfEventFd> events;  // the leader first
    Reading last;
  };

  PerfCounters(PerfSystem& system, std::size_t events) : m_system(&system), m_events(events) {}
  [[nodiscard]] int openThread(PerfEventSet events, pid_t id);
  [[nodiscard]] std::optional<Reading> read(const Thread& thread) const;

  PerfSystem* m_system;
  std::size_t m_events;               // in the set
  std::vector<std::size_t> m_opened;  // which of them, in the order of the groups
  std::vector<Thread> m_threads;
};

}  // namespace swage::device
