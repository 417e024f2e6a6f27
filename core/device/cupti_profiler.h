// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/device/cupti_counters.h"
#include "core/device/cupti_sampler.h"
#include "core/device/profiler.h"

namespace swage::device {

// Counters and samples by CUPTI. Each starts with its first use.
class CuptiProfiler final : public Profiler {
 public:
  CuptiProfiler(const CuptiLibrary& library, CUcontext context, int ordinal, MeasuringHooks hooks);

  [[nodiscard]] ProfilerResult<void> beginSampling() override;
  [[nodiscard]] ProfilerResult<CounterReport> counters(const Program& program) override;
  [[nodiscard]] ProfilerResult<SampleReport> samples(const Program& program, const std::string& entry,
                                                     const std::string& binary) override;

 private:
  const CuptiLibrary& m_library;
  CUcontext m_context;
  int m_ordinal;
  MeasuringHooks m_hooks;
  std::unique_ptr<CuptiSampler> m_sampler;
  std::unique_ptr<CuptiCounters> m_counters;
  CuptiCounters::Range m_range = CuptiCounters::Range::Launch;
};

}  // namespace swage::device
