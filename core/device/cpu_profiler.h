// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "core/device/perf_sampler.h"
#include "core/device/perf_system.h"
#include "core/device/profiler.h"

namespace swage::device {

// Looks into kernels on a CPU with what Linux counts of the threads that run them (perf_event_open). Metrics have the
// names of `perf list`, are of one launch with cold caches and of all threads together, user code only: "cycles",
// "instructions", "branches", "branch-misses", "L1-dcache-loads", "L1-dcache-load-misses", "cache-references",
// "cache-misses", "stalled-cycles-frontend", "stalled-cycles-backend", "task-clock" (ns), "page-faults". Threads that
// wait for others by spinning are counted, too. Samples have metrics of their own: "samples-kernel", "samples-openmp"
// (waiting for other threads or for work), "samples-other" (what the kernel calls) and "samples-parallelism" (threads
// at work in the kernel at a time).
//
// Nothing of it stays in the process. One thread only; `system` outlives this.
class CpuProfiler final : public Profiler {
 public:
  struct Options {
    std::function<void()> flushCaches;            // before every launch that is looked at
    std::function<std::vector<pid_t>()> threads;  // that run kernels, the calling one first
    std::function<pid_t()> process;               // whose threads they are
  };

  CpuProfiler(PerfSystem& system, Options options);

  [[nodiscard]] bool staysInProcess() const override { return false; }
  [[nodiscard]] ProfilerResult<void> beginSampling() override { return {}; }
  [[nodiscard]] ProfilerResult<SampleReport> samples(const Program& program, const std::string& entry,
                                                     const std::string& binary) override;
  // Without the hardware's counters the report has the system's, and says in `missing` why.
  [[nodiscard]] ProfilerResult<CounterReport> counters(const Program& program) override;

 private:
  PerfSystem& m_system;
  Options m_options;
};

}  // namespace swage::device
