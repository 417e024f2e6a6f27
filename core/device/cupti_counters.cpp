// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_counters.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/scope_exit.h"

namespace swage::device {
namespace {

constexpr const char* kRangeName = "kernel";
constexpr std::size_t kSparePasses = 8;  // how many more than announced are believed

std::vector<const char*> pointersTo(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) {
    pointers.push_back(name.c_str());
  }
  return pointers;
}

ProfilerFailure fromDevice(const DeviceFailure& failure) {
  return {failure.detail, "", failure.poisoned};
}

}  // namespace

// One kernel's measurement: the profiler is enabled on the context from here to there.
class CuptiCounters::Session {
 public:
  Session(const CuptiCounters& counters, Range range) : m_counters(counters), m_range(range) {}
  ~Session() {
    if (m_object == nullptr) {
      return;
    }
    if (m_started) {
      (void)stop();
    }
    SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = m_object;
    if (cupti().cuptiRangeProfilerDisable(&disable) != CUPTI_SUCCESS) {
      log::debug("the range profiler could not be disabled");
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Failed begin();
  [[nodiscard]] Failed runPass(const Profiler::Program& program);
  [[nodiscard]] Failed decode();
  [[nodiscard]] bool isComplete() const { return m_allSubmitted; }
  [[nodiscard]] const std::vector<std::uint8_t>& data() const { return m_data; }

 private:
  [[nodiscard]] const CuptiLibrary& cupti() const { return m_counters.m_cupti; }
  [[nodiscard]] Failed makeImage();
  [[nodiscard]] Failed setConfig();
  [[nodiscard]] Failed start();
  [[nodiscard]] Failed stop();
  [[nodiscard]] DeviceStatus measure(const Profiler::Launch& launch, Failed& failed);

  const CuptiCounters& m_counters;
  Range m_range;
  CUpti_RangeProfiler_Object* m_object = nullptr;
  std::vector<std::uint8_t> m_data;
  bool m_started = false;
  bool m_allSubmitted = false;
};

CuptiCounters::Failed CuptiCounters::Session::begin() {
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = m_counters.m_context;
  if (Failed failed = m_counters.check(cupti().cuptiRangeProfilerEnable(&enable), "enable the counters")) {
    return failed;
  }
  m_object = enable.pRangeProfilerObject;
  if (Failed failed = makeImage()) {
    return failed;
  }
  return setConfig();
}

CuptiCounters::Failed CuptiCounters::Session::makeImage() {
  std::vector<const char*> names = pointersTo(m_counters.m_metrics.names);
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = m_object;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  if (Failed failed =
          m_counters.check(cupti().cuptiRangeProfilerGetCounterDataSize(&size), "size the buffer of the counters")) {
    return failed;
  }
  m_data.assign(size.counterDataSize, 0);
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
  initialize.pRangeProfilerObject = m_object;
  initialize.counterDataSize = m_data.size();
  initialize.pCounterData = m_data.data();
  return m_counters.check(cupti().cuptiRangeProfilerCounterDataImageInitialize(&initialize),
                          "prepare the buffer of the counters");
}

CuptiCounters::Failed CuptiCounters::Session::setConfig() {
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = m_object;
  config.configSize = m_counters.m_config.size();
  config.pConfig = m_counters.m_config.data();
  config.counterDataImageSize = m_data.size();
  config.pCounterDataImage = m_data.data();
  config.range = m_range == Range::Launch ? CUPTI_AutoRange : CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  return m_counters.check(cupti().cuptiRangeProfilerSetConfig(&config), "configure the counters");
}

CuptiCounters::Failed CuptiCounters::Session::start() {
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = m_object;
  Failed failed = m_counters.check(cupti().cuptiRangeProfilerStart(&params), "start the counters");
  m_started = !failed;
  if (!failed && m_range == Range::Explicit) {
    SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = m_object;
    push.pRangeName = kRangeName;
    failed = m_counters.check(cupti().cuptiRangeProfilerPushRange(&push), "begin the range of the kernel");
  }
  return failed;
}

CuptiCounters::Failed CuptiCounters::Session::stop() {
  m_started = false;
  Failed failed;
  if (m_range == Range::Explicit) {
    SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = m_object;
    failed = m_counters.check(cupti().cuptiRangeProfilerPopRange(&pop), "end the range of the kernel");
  }
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = m_object;
  Failed stopped = m_counters.check(cupti().cuptiRangeProfilerStop(&params), "stop the counters");
  m_allSubmitted = params.isAllPassSubmitted != 0;
  return failed ? failed : stopped;
}

DeviceStatus CuptiCounters::Session::measure(const Profiler::Launch& launch, Failed& failed) {
  const MeasuringHooks& hooks = m_counters.m_hooks;
  if (DeviceStatus status = hooks.prepare()) {
    return status;
  }
  if (failed = start(); failed) {
    return DeviceFailure{failed->cause};
  }
  DeviceStatus status = launch();
  if (!status) {
    status = hooks.synchronize();
  }
  if (failed = stop(); failed && !status) {
    return DeviceFailure{failed->cause};
  }
  return status;
}

CuptiCounters::Failed CuptiCounters::Session::runPass(const Profiler::Program& program) {
  Failed failed;
  int launches = 0;
  const DeviceStatus status = program([&](const Profiler::Launch& launch) {
    ++launches;
    return measure(launch, failed);
  });
  if (failed) {
    return failed;
  }
  if (status) {
    return fromDevice(*status);
  }
  return launches == 1 ? std::nullopt
                       : Failed({fmt::format("the program ran the measured kernel {} times in a pass", launches), ""});
}

CuptiCounters::Failed CuptiCounters::Session::decode() {
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = m_object;
  if (Failed failed = m_counters.check(cupti().cuptiRangeProfilerDecodeData(&decode), "read the counters")) {
    return failed;
  }
  SWAGE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = m_data.data();
  info.counterDataImageSize = m_data.size();
  if (Failed failed = m_counters.check(cupti().cuptiRangeProfilerGetCounterDataInfo(&info), "read the counters")) {
    return failed;
  }
  if (info.numTotalRanges != 1 || decode.numOfRangeDropped != 0) {
    return ProfilerFailure{fmt::format("the counters hold {} launches and lost {}, not the one that was measured",
                                       info.numTotalRanges, decode.numOfRangeDropped),
                           ""};
  }
  return std::nullopt;
}

CuptiCounters::~CuptiCounters() {
  if (m_host != nullptr) {
    freeHost(m_host);
  }
  if (m_initialized) {
    SWAGE_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params, params);
    if (m_cupti.cuptiProfilerDeInitialize(&params) != CUPTI_SUCCESS) {
      log::debug("the profiler could not be shut down");
    }
  }
}

CuptiCounters::Failed CuptiCounters::check(CUptiResult code, std::string_view attempted) const {
  return code == CUPTI_SUCCESS ? std::nullopt : Failed(m_cupti.failure(code, attempted));
}

ProfilerResult<std::unique_ptr<CuptiCounters>> CuptiCounters::open(const CuptiLibrary& library, CUcontext context,
                                                                   int ordinal, MeasuringHooks hooks) {
  std::unique_ptr<CuptiCounters> counters(new CuptiCounters(library, context, std::move(hooks)));
  if (Failed failed = counters->initialize(ordinal)) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (Failed failed = counters->readAvailability()) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (Failed failed = counters->configure()) {
    return tl::make_unexpected(std::move(*failed));
  }
  return counters;
}

CuptiCounters::Failed CuptiCounters::initialize(int ordinal) {
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  if (Failed failed = check(m_cupti.cuptiProfilerInitialize(&params), "start the profiler")) {
    return failed;
  }
  m_initialized = true;
  SWAGE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<std::size_t>(ordinal);
  if (Failed failed = check(m_cupti.cuptiDeviceGetChipName(&chip), "ask for the name of the chip")) {
    return failed;
  }
  m_chip = chip.pChipName;
  return std::nullopt;
}

CuptiCounters::Failed CuptiCounters::readAvailability() {
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = m_context;
  constexpr std::string_view kAttempted = "ask which counters there are";
  if (Failed failed = check(m_cupti.cuptiProfilerGetCounterAvailability(&params), kAttempted)) {
    return failed;
  }
  m_availability.assign(params.counterAvailabilityImageSize, 0);
  params.pCounterAvailabilityImage = m_availability.data();
  return check(m_cupti.cuptiProfilerGetCounterAvailability(&params), kAttempted);
}

ProfilerResult<CUpti_Profiler_Host_Object*> CuptiCounters::makeHost() const {
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = m_chip.c_str();
  params.pCounterAvailabilityImage = m_availability.data();
  if (Failed failed = check(m_cupti.cuptiProfilerHostInitialize(&params), "load the metrics of the chip")) {
    return tl::make_unexpected(std::move(*failed));
  }
  return params.pHostObject;
}

void CuptiCounters::freeHost(CUpti_Profiler_Host_Object* host) const {
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  if (m_cupti.cuptiProfilerHostDeinitialize(&params) != CUPTI_SUCCESS) {
    log::debug("the metrics of the chip could not be unloaded");
  }
}

CUptiResult CuptiCounters::addMetrics(CUpti_Profiler_Host_Object* host, const std::vector<std::string>& names) const {
  std::vector<const char*> pointers = pointersTo(names);
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
  params.pHostObject = host;
  params.ppMetricNames = pointers.data();
  params.numMetrics = pointers.size();
  return m_cupti.cuptiProfilerHostConfigAddMetrics(&params);
}

// A host object of its own for each question: one that was given an unknown name is of no use afterwards.
bool CuptiCounters::isKnown(const std::string& metric) const {
  const auto host = makeHost();
  if (!host) {
    return false;
  }
  const ScopeExit cleanup([&] { freeHost(*host); });
  return addMetrics(*host, {metric}) == CUPTI_SUCCESS;
}

CuptiCounters::Failed CuptiCounters::configure() {
  // Asking for each takes seconds, and most chips know all.
  m_metrics = chooseMetrics([](const std::string&) { return true; });
  if (!schedule()) {
    return std::nullopt;
  }
  m_metrics = chooseMetrics([this](const std::string& name) { return isKnown(name); });
  if (m_metrics.names.empty()) {
    return ProfilerFailure{fmt::format("the profiler knows none of the metrics on the chip {}", m_chip),
                           "Install a newer libcupti."};
  }
  Failed failed = schedule();
  if (failed && m_metrics.leaveOutOptional()) {
    failed = schedule();
  }
  return failed;
}

CuptiCounters::Failed CuptiCounters::schedule() {
  auto host = makeHost();
  if (!host) {
    return std::move(host).error();
  }
  if (m_host != nullptr) {
    freeHost(m_host);
  }
  m_host = *host;
  if (Failed failed = check(addMetrics(m_host, m_metrics.names), "choose the metrics")) {
    return failed;
  }
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = m_host;
  if (Failed failed = check(m_cupti.cuptiProfilerHostGetConfigImageSize(&size), "schedule the metrics")) {
    return failed;
  }
  m_config.assign(size.configImageSize, 0);
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = m_host;
  image.configImageSize = m_config.size();
  image.pConfigImage = m_config.data();
  if (Failed failed = check(m_cupti.cuptiProfilerHostGetConfigImage(&image), "schedule the metrics")) {
    return failed;
  }
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = m_config.size();
  passes.pConfigImage = m_config.data();
  Failed failed = check(m_cupti.cuptiProfilerHostGetNumOfPasses(&passes), "count the passes");
  m_passes = passes.numOfPasses;
  return failed;
}

ProfilerResult<CounterReport> CuptiCounters::collect(const Profiler::Program& program, Range range) {
  Session session(*this, range);
  if (Failed failed = session.begin()) {
    return tl::make_unexpected(std::move(*failed));
  }
  CounterReport report;
  report.unknown = m_metrics.unknown;
  while (!session.isComplete()) {
    if (static_cast<std::size_t>(report.passes) > m_passes + kSparePasses) {
      return tl::make_unexpected(
          ProfilerFailure{fmt::format("{} passes were not enough, {} were announced", report.passes, m_passes), ""});
    }
    if (Failed failed = session.runPass(program)) {
      return tl::make_unexpected(std::move(*failed));
    }
    ++report.passes;
  }
  if (Failed failed = session.decode()) {
    return tl::make_unexpected(std::move(*failed));
  }
  auto values = evaluate(session.data());
  if (!values) {
    return tl::make_unexpected(std::move(values).error());
  }
  report.values = std::move(*values);
  return report;
}

// What has no value in this launch (the hit rate of a cache that was not used) is left out.
ProfilerResult<std::vector<domain::ProfileMetric>> CuptiCounters::evaluate(
    const std::vector<std::uint8_t>& data) const {
  std::vector<const char*> names = pointersTo(m_metrics.names);
  std::vector<double> values(names.size(), std::nan(""));
  SWAGE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = m_host;
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.rangeIndex = 0;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  if (Failed failed = check(m_cupti.cuptiProfilerHostEvaluateToGpuValues(&params), "work out the metrics")) {
    return tl::make_unexpected(std::move(*failed));
  }
  std::vector<domain::ProfileMetric> metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::isfinite(values[i])) {
      metrics.push_back({m_metrics.names[i], values[i]});
    }
  }
  return metrics;
}

}  // namespace swage::device
