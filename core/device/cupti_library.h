// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/device/profiler.h"

// Every function of CUPTI that profiling calls.
#define SWAGE_CUPTI_FUNCTIONS(X)                  \
  X(cuptiGetResultString)                         \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeInitialize)                    \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiPCSamplingEnable)                        \
  X(cuptiPCSamplingDisable)                       \
  X(cuptiPCSamplingStart)                         \
  X(cuptiPCSamplingStop)                          \
  X(cuptiPCSamplingGetData)                       \
  X(cuptiPCSamplingGetNumStallReasons)            \
  X(cuptiPCSamplingGetStallReasons)               \
  X(cuptiPCSamplingSetConfigurationAttribute)     \
  X(cuptiGetSassToSourceCorrelation)

// A parameter structure of CUPTI as its functions want it: zero but for its own size.
#define SWAGE_CUPTI_PARAMS(type, name) \
  type name{};                         \
  name.structSize = type##_STRUCT_SIZE

namespace swage::device {

// CUPTI, found when the program runs, so that one build works on machines without it.
struct CuptiLibrary {
#define SWAGE_CUPTI_MEMBER(function) decltype(&::function) function = nullptr;
  SWAGE_CUPTI_FUNCTIONS(SWAGE_CUPTI_MEMBER)
#undef SWAGE_CUPTI_MEMBER

  std::string path;  // of the library that was loaded

  // Loaded once for the process: $SWAGE_CUPTI where it is set, else what the loader finds (PyTorch's packages), else a
  // toolkit's. Fails with kind Environment.
  [[nodiscard]] static Result<const CuptiLibrary*> load();
  // Of a file; empty: as load() finds it.
  [[nodiscard]] static Result<CuptiLibrary> open(const std::string& file);

  // "CUPTI_ERROR_HARDWARE_BUSY"
  [[nodiscard]] std::string nameOf(CUptiResult code) const;
  [[nodiscard]] ProfilerFailure failure(CUptiResult code, std::string_view attempted) const;
};

}  // namespace swage::device
