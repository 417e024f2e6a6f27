// SPDX-License-Identifier: Apache-2.0
// Stands in for libcupti: the same functions, on a machine without a GPU. $FAKE_CUPTI says how it behaves:
//   (nothing)    three passes; metric i of those chosen is worth i
//   privileges   only administrators may read counters or samples
//   busy         another profiler has the hardware
//   no-launch    brackets launches only where it is told to
//   no-conflicts knows the counters of bank conflicts and cannot count them beside the others
// Functions called out of order fail as the real ones do, so that a wrong flow is noticed.
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

struct CUpti_Profiler_Host_Object {
  std::size_t metrics = 0;
  bool hasConflicts = false;
};
struct CUpti_RangeProfiler_Object {
  bool configured = false;
  bool started = false;
  bool explicitRanges = false;
  int depth = 0;
  int passes = 0;
};

namespace {

constexpr int kPasses = 3;
constexpr std::size_t kImageBytes = 16;
constexpr const char* kReasons[] = {"smsp__pcsamp_sample_count", "smsp__pcsamp_warps_issue_stalled_wait",
                                    "smsp__pcsamp_warps_issue_stalled_wait_not_issued",
                                    "smsp__pcsamp_warps_issue_stalled_long_scoreboard"};

bool behaves(std::string_view how) {
  const char* chosen = std::getenv("FAKE_CUPTI");
  return chosen != nullptr && how == chosen;
}

bool g_initialized = false;
bool g_sampling = false;
bool g_samplingStarted = false;
bool g_samplesWaiting = false;

CUptiResult permission() {
  return behaves("privileges") ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES : CUPTI_SUCCESS;
}

// Metrics that this chip lacks: their names say so in the tests' list, or are those of older chips.
bool isKnown(std::string_view metric) {
  return metric.find("pipe_fp32") == std::string_view::npos && metric.find("hit_rate") == std::string_view::npos;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) CUptiResult

FAKE cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_HARDWARE_BUSY         ? "CUPTI_ERROR_HARDWARE_BUSY"
                                                        : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}
FAKE cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "FAKE100";
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
  g_initialized = true;
  return g_sampling ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS;
}
FAKE cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params*) {
  g_initialized = false;
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = kImageBytes;
  return g_initialized ? permission() : CUPTI_ERROR_NOT_INITIALIZED;
}

FAKE cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (!isKnown(params->ppMetricNames[i])) {
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    params->pHostObject->hasConflicts =
        params->pHostObject->hasConflicts ||
        std::string_view(params->ppMetricNames[i]).find("bank_conflicts") != std::string_view::npos;
  }
  params->pHostObject->metrics += params->numMetrics;
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = kImageBytes;
  const bool isTooMuch = behaves("no-conflicts") && params->pHostObject->hasConflicts;
  return params->pHostObject->metrics > 0 && !isTooMuch ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  return params->configImageSize == kImageBytes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
FAKE cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  params->numOfPasses = kPasses;
  return CUPTI_SUCCESS;
}
FAKE cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    params->pMetricValues[i] = static_cast<double>(i);
  }
  return params->pCounterDataImage[0] == kPasses ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

namespace {
uint8_t* g_data = nullptr;  // of the last configuration
}

FAKE cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  params->pRangeProfilerObject = new CUpti_RangeProfiler_Object;
  return g_initialized ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}
FAKE cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  delete params->pRangeProfilerObject;
  return CUPTI_SUCCESS;
}
FAKE cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = kImageBytes;
  return params->maxNumOfRanges == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
FAKE cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  std::memset(params->pCounterData, 0, params->counterDataSize);
  return CUPTI_SUCCESS;
}
FAKE cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  if (params->range == CUPTI_AutoRange && behaves("no-launch")) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  params->pRangeProfilerObject->configured = true;
  params->pRangeProfilerObject->explicitRanges = params->range == CUPTI_UserRange;
  g_data = params->pCounterDataImage;
  return params->replayMode == CUPTI_UserReplay ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
FAKE cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  if (behaves("busy")) {
    return CUPTI_ERROR_HARDWARE_BUSY;
  }
  CUpti_RangeProfiler_Object& object = *params->pRangeProfilerObject;
  const bool inOrder = object.configured && !object.started;
  object.started = true;
  return inOrder ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  CUpti_RangeProfiler_Object& object = *params->pRangeProfilerObject;
  ++object.depth;
  return object.explicitRanges && object.started ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  return params->pRangeProfilerObject->depth-- == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  CUpti_RangeProfiler_Object& object = *params->pRangeProfilerObject;
  const bool inOrder = object.started && object.depth == 0;
  object.started = false;
  params->isAllPassSubmitted = ++object.passes >= kPasses ? 1 : 0;
  return inOrder ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  g_data[0] = static_cast<uint8_t>(params->pRangeProfilerObject->passes);
  params->numOfRangeDropped = 0;
  return CUPTI_SUCCESS;
}
FAKE cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = params->pCounterDataImage[0] == kPasses ? 1 : 0;
  return CUPTI_SUCCESS;
}

FAKE cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams*) {
  g_sampling = permission() == CUPTI_SUCCESS;
  return g_initialized ? CUPTI_ERROR_NOT_INITIALIZED : permission();
}
FAKE cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams*) {
  g_sampling = false;
  return CUPTI_SUCCESS;
}
FAKE cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* params) {
  *params->numStallReasons = std::size(kReasons);
  return CUPTI_SUCCESS;
}
FAKE cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* params) {
  for (std::size_t i = 0; i < params->numStallReasons; ++i) {
    params->stallReasonIndex[i] = static_cast<uint32_t>(10 * i);
    std::strcpy(params->stallReasons[i], kReasons[i]);
  }
  return CUPTI_SUCCESS;
}
FAKE cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* params) {
  return params->numAttributes > 0 && g_sampling ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiPCSamplingStart(CUpti_PCSamplingStartParams*) {
  g_samplingStarted = true;
  return g_sampling ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
FAKE cuptiPCSamplingStop(CUpti_PCSamplingStopParams*) {
  const bool inOrder = g_samplingStarted;
  g_samplingStarted = false;
  g_samplesWaiting = true;
  return inOrder ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
// Two instructions of "kernel" in two calls, then one of another kernel, each run the same.
FAKE cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* params) {
  static int part = 0;
  auto* data = static_cast<CUpti_PCSamplingData*>(params->pcSamplingData);
  part = g_samplesWaiting ? 0 : part;
  g_samplesWaiting = false;
  static char kernel[] = "kernel";
  static char other[] = "other";
  CUpti_PCSamplingPCData& record = data->pPcData[0];
  record.functionName = part < 2 ? kernel : other;
  record.pcOffset = static_cast<uint64_t>(16 * part);
  record.stallReasonCount = 2;
  record.stallReason[0] = {10, 3000};
  record.stallReason[1] = {30, 4000};
  data->totalNumPcs = 1;
  data->remainingNumPcs = static_cast<std::size_t>(2 - part);
  ++part;
  return CUPTI_SUCCESS;
}
// Every second instruction comes from a header.
FAKE cuptiGetSassToSourceCorrelation(CUpti_GetSassToSourceCorrelationParams* params) {
  params->lineNumber = static_cast<uint32_t>(params->pcOffset / 16 + 1);
  params->fileName = ::strdup(params->pcOffset / 16 % 2 == 0 ? "source.cu" : "cuda_fp16.hpp");
  params->dirName = ::strdup("");
  return CUPTI_SUCCESS;
}
