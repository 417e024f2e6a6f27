// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/cupti_library.h"
#include "core/device/profile_metrics.h"

namespace swage::device {

// What measuring one launch needs of the device around it.
struct MeasuringHooks {
  std::function<DeviceStatus()> prepare;      // before each measured launch, outside of what is measured
  std::function<DeviceStatus()> synchronize;  // waits for the launch
};

// The range profiler of CUPTI: hardware counters of one launch, in as many passes as the metrics need. The flow is that
// of NVIDIA's documentation of cupti_range_profiler.h and cupti_profiler_host.h.
//
// The program around the launch is run again for each pass ("user replay"), so that kernels which leave something
// behind (counters for the last block, sums in place) find each time what they found the first time. CUPTI's own
// kernel replay would save and restore all memory instead, and would start the kernel with warm caches.
class CuptiCounters {
 public:
  // How CUPTI brackets the launch: by itself, closely, or between two calls of ours, which takes a little longer.
  enum class Range : std::uint8_t { Launch, Explicit };

  // `context` is current. Hooks the profiler into the driver, for good.
  [[nodiscard]] static ProfilerResult<std::unique_ptr<CuptiCounters>> open(const CuptiLibrary& library,
                                                                           CUcontext context, int ordinal,
                                                                           MeasuringHooks hooks);
  ~CuptiCounters();
  CuptiCounters(const CuptiCounters&) = delete;
  CuptiCounters& operator=(const CuptiCounters&) = delete;

  [[nodiscard]] ProfilerResult<CounterReport> collect(const Profiler::Program& program, Range range);

  [[nodiscard]] const std::string& chip() const { return m_chip; }

 private:
  using Failed = std::optional<ProfilerFailure>;
  class Session;

  CuptiCounters(const CuptiLibrary& library, CUcontext context, MeasuringHooks hooks)
      : m_cupti(library), m_context(context), m_hooks(std::move(hooks)) {}
  [[nodiscard]] Failed check(CUptiResult code, std::string_view attempted) const;
  [[nodiscard]] Failed initialize(int ordinal);
  [[nodiscard]] Failed readAvailability();
  [[nodiscard]] ProfilerResult<CUpti_Profiler_Host_Object*> makeHost() const;
  void freeHost(CUpti_Profiler_Host_Object* host) const;
  [[nodiscard]] bool isKnown(const std::string& metric) const;
  [[nodiscard]] Failed configure();
  // Of the chosen metrics.
  [[nodiscard]] Failed schedule();
  [[nodiscard]] CUptiResult addMetrics(CUpti_Profiler_Host_Object* host, const std::vector<std::string>& names) const;
  [[nodiscard]] ProfilerResult<std::vector<domain::ProfileMetric>> evaluate(
      const std::vector<std::uint8_t>& data) const;

  const CuptiLibrary& m_cupti;
  CUcontext m_context;
  MeasuringHooks m_hooks;
  std::string m_chip;
  std::vector<std::uint8_t> m_availability;
  std::vector<std::uint8_t> m_config;
  std::size_t m_passes = 0;
  ChosenMetrics m_metrics;
  CUpti_Profiler_Host_Object* m_host = nullptr;
  bool m_initialized = false;
};

}  // namespace swage::device
