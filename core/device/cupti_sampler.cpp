// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_sampler.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/scope_exit.h"

namespace swage::device {
namespace {

constexpr std::size_t kRecords = 4096;  // program counters fetched at once
constexpr std::size_t kHardwareBytes = std::size_t{64} << 20U;
constexpr std::uint32_t kPeriodExponent = 10;  // a sample of each multiprocessor every 2^10 cycles
constexpr std::int64_t kEnoughSamples = 20000;
constexpr int kMaxRuns = 20;
constexpr int kMaxFetches = 64;
constexpr std::string_view kReasonPrefix = "smsp__pcsamp_warps_issue_stalled_";
// A count of its own for the same samples in cycles in which the scheduler issued nothing: part of the count without
// it.
constexpr std::string_view kSubsetSuffix = "_not_issued";
constexpr std::string_view kProgramName = "source.cu";  // what the compiler calls the candidate

CUpti_PCSamplingConfigurationInfo attribute(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo info{};
  info.attributeType = type;
  return info;
}

}  // namespace

ProfilerResult<std::unique_ptr<CuptiSampler>> CuptiSampler::open(const CuptiLibrary& library, CUcontext context,
                                                                 MeasuringHooks hooks) {
  std::unique_ptr<CuptiSampler> sampler(new CuptiSampler(library, context, std::move(hooks)));
  if (Failed failed = sampler->enable()) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (Failed failed = sampler->readStallReasons()) {
    return tl::make_unexpected(std::move(*failed));
  }
  sampler->allocate(sampler->m_filled);
  sampler->allocate(sampler->m_read);
  if (Failed failed = sampler->configure()) {
    return tl::make_unexpected(std::move(*failed));
  }
  return sampler;
}

CuptiSampler::~CuptiSampler() {
  if (!m_enabled) {
    return;
  }
  CUpti_PCSamplingDisableParams params{};
  params.size = CUpti_PCSamplingDisableParamsSize;
  params.ctx = m_context;
  if (m_cupti.cuptiPCSamplingDisable(&params) != CUPTI_SUCCESS) {
    log::debug("sampling could not be ended");
  }
}

CuptiSampler::Failed CuptiSampler::check(CUptiResult code, std::string_view attempted) const {
  return code == CUPTI_SUCCESS ? std::nullopt : Failed(m_cupti.failure(code, attempted));
}

CuptiSampler::Failed CuptiSampler::enable() {
  CUpti_PCSamplingEnableParams params{};
  params.size = CUpti_PCSamplingEnableParamsSize;
  params.ctx = m_context;
  Failed failed = check(m_cupti.cuptiPCSamplingEnable(&params), "begin sampling");
  m_enabled = !failed;
  return failed;
}

CuptiSampler::Failed CuptiSampler::readStallReasons() {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams number{};
  number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  number.ctx = m_context;
  number.numStallReasons = &count;
  if (Failed failed = check(m_cupti.cuptiPCSamplingGetNumStallReasons(&number), "count the stall reasons")) {
    return failed;
  }
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
  std::vector<char*> pointers;
  pointers.reserve(count);
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  std::vector<std::uint32_t> indices(count);
  CUpti_PCSamplingGetStallReasonsParams params{};
  params.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  params.ctx = m_context;
  params.numStallReasons = count;
  params.stallReasonIndex = indices.data();
  params.stallReasons = pointers.data();
  if (Failed failed = check(m_cupti.cuptiPCSamplingGetStallReasons(&params), "name the stall reasons")) {
    return failed;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = texts[i].data();
    if (!name.starts_with(kReasonPrefix) || name.ends_with(kSubsetSuffix)) {
      continue;
    }
    m_reasons.resize(std::max<std::size_t>(m_reasons.size(), indices[i] + std::size_t{1}));
    m_reasons[indices[i]] = name.substr(kReasonPrefix.size());
    m_reasonIndices.push_back(indices[i]);
  }
  return m_reasonIndices.empty() ? Failed({"the profiler names no stall reasons", ""}) : std::nullopt;
}

void CuptiSampler::allocate(Buffer& buffer) const {
  const std::size_t reasons = m_reasonIndices.size();
  buffer.stalls.resize(kRecords * reasons);
  buffer.records.resize(kRecords);
  for (std::size_t i = 0; i < kRecords; ++i) {
    buffer.records[i].size = sizeof(CUpti_PCSamplingPCData);
    buffer.records[i].stallReasonCount = reasons;
    buffer.records[i].stallReason = &buffer.stalls[i * reasons];
  }
  buffer.data.size = sizeof(CUpti_PCSamplingData);
  buffer.data.collectNumPcs = kRecords;
  buffer.data.pPcData = buffer.records.data();
}

CuptiSampler::Failed CuptiSampler::configure() {
  std::array<CUpti_PCSamplingConfigurationInfo, 7> infos = {
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)};
  infos[0].attributeData.stallReasonData.stallReasonCount = m_reasonIndices.size();
  infos[0].attributeData.stallReasonData.pStallReasonIndex = m_reasonIndices.data();
  infos[1].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  infos[2].attributeData.samplingPeriodData.samplingPeriod = kPeriodExponent;
  infos[3].attributeData.hardwareBufferSizeData.hardwareBufferSize = kHardwareBytes;
  infos[4].attributeData.enableStartStopControlData.enableStartStopControl = 1;
  infos[5].attributeData.outputDataFormatData.outputDataFormat = CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
  infos[6].attributeData.samplingDataBufferData.samplingDataBuffer = &m_filled.data;
  CUpti_PCSamplingConfigurationInfoParams params{};
  params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  params.ctx = m_context;
  params.numAttributes = infos.size();
  params.pPCSamplingConfigurationInfo = infos.data();
  const CUptiResult code = m_cupti.cuptiPCSamplingSetConfigurationAttribute(&params);
  for (const CUpti_PCSamplingConfigurationInfo& info : infos) {
    if (info.attributeStatus != CUPTI_SUCCESS) {
      return m_cupti.failure(info.attributeStatus,
                             fmt::format("set attribute {} of sampling", static_cast<int>(info.attributeType)));
    }
  }
  return check(code, "configure sampling");
}

ProfilerResult<SampleReport> CuptiSampler::collect(const Profiler::Program& program, const std::string& entry) {
  m_entry = entry;
  m_found.clear();
  m_report = {};
  for (int run = 0; run < kMaxRuns && m_report.samples < kEnoughSamples; ++run) {
    if (Failed failed = runOnce(program)) {
      return tl::make_unexpected(std::move(*failed));
    }
  }
  for (const auto& [offset, reasons] : m_found) {
    domain::InstructionSamples instruction;
    instruction.offset = offset;
    for (const auto& [reason, samples] : reasons) {
      instruction.samples += samples;
      instruction.stalls.push_back({reason, static_cast<double>(samples)});
    }
    m_report.instructions.push_back(std::move(instruction));
  }
  return std::move(m_report);
}

CuptiSampler::Failed CuptiSampler::runOnce(const Profiler::Program& program) {
  Failed failed;
  const DeviceStatus status = program([&](const Profiler::Launch& launch) { return measure(launch, failed); });
  if (failed) {
    return failed;
  }
  return status ? Failed({status->detail, "", status->poisoned}) : std::nullopt;
}

DeviceStatus CuptiSampler::measure(const Profiler::Launch& launch, Failed& failed) {
  if (DeviceStatus status = m_hooks.prepare()) {
    return status;
  }
  CUpti_PCSamplingStartParams start{};
  start.size = CUpti_PCSamplingStartParamsSize;
  start.ctx = m_context;
  if (failed = check(m_cupti.cuptiPCSamplingStart(&start), "start a range of samples"); failed) {
    return DeviceFailure{failed->cause};
  }
  DeviceStatus status = launch();
  if (!status) {
    status = m_hooks.synchronize();
  }
  CUpti_PCSamplingStopParams stop{};
  stop.size = CUpti_PCSamplingStopParamsSize;
  stop.ctx = m_context;
  if (failed = check(m_cupti.cuptiPCSamplingStop(&stop), "stop a range of samples"); failed && !status) {
    return DeviceFailure{failed->cause};
  }
  if (status) {
    return status;
  }
  failed = fetch();
  return failed ? DeviceStatus(DeviceFailure{failed->cause}) : std::nullopt;
}

// As often as there is something: a call hands over what fits into the records.
CuptiSampler::Failed CuptiSampler::fetch() {
  for (int i = 0; i < kMaxFetches; ++i) {
    for (CUpti_PCSamplingPCData& record : m_read.records) {
      record.stallReasonCount = m_reasonIndices.size();  // as much as there is room for; CUPTI writes what it used
    }
    m_read.data.totalNumPcs = 0;
    m_read.data.droppedSamples = 0;
    CUpti_PCSamplingGetDataParams params{};
    params.size = CUpti_PCSamplingGetDataParamsSize;
    params.ctx = m_context;
    params.pcSamplingData = &m_read.data;
    if (Failed failed = check(m_cupti.cuptiPCSamplingGetData(&params), "read the samples")) {
      return failed;
    }
    m_report.dropped += static_cast<std::int64_t>(m_read.data.droppedSamples);
    const std::size_t count = std::min<std::size_t>(m_read.data.totalNumPcs, m_read.records.size());
    for (std::size_t k = 0; k < count; ++k) {
      take(m_read.records[k]);
    }
    if (m_read.data.remainingNumPcs == 0) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// The name is CUPTI's, and may be that of many records: it is not freed.
void CuptiSampler::take(const CUpti_PCSamplingPCData& record) {
  if (record.functionName == nullptr || record.functionName != m_entry) {
    return;
  }
  auto& reasons = m_found[static_cast<std::int64_t>(record.pcOffset)];
  for (std::size_t i = 0; i < std::min<std::size_t>(record.stallReasonCount, m_reasonIndices.size()); ++i) {
    const CUpti_PCSamplingStallReason stall = record.stallReason[i];
    const std::size_t index = stall.pcSamplingStallReasonIndex;
    if (stall.samples > 0 && index < m_reasons.size() && !m_reasons[index].empty()) {
      reasons[m_reasons[index]] += stall.samples;
      m_report.samples += stall.samples;
    }
  }
}

void addSourceLines(const CuptiLibrary& library, const std::string& cubin, const std::string& entry,
                    std::vector<domain::InstructionSamples>& instructions) {
  for (domain::InstructionSamples& instruction : instructions) {
    CUpti_GetSassToSourceCorrelationParams params{};
    params.size = CUpti_GetSassToSourceCorrelationParamsSize;
    params.cubin = cubin.data();
    params.cubinSize = cubin.size();
    params.functionName = entry.c_str();
    params.pcOffset = static_cast<std::uint64_t>(instruction.offset);
    const ScopeExit cleanup([&params] {
      std::free(params.fileName);  // NOLINT(cppcoreguidelines-no-malloc): the library says so
      std::free(params.dirName);   // NOLINT(cppcoreguidelines-no-malloc)
    });
    const bool known = library.cuptiGetSassToSourceCorrelation(&params) == CUPTI_SUCCESS && params.fileName != nullptr;
    if (known && std::string_view(params.fileName).ends_with(kProgramName)) {
      instruction.line = static_cast<int>(params.lineNumber);
    }
  }
}

}  // namespace swage::device
