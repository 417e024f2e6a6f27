// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_profile.h"

#include <algorithm>

#include "tests/ui/demo_export.h"

namespace swage::testing {
namespace {

using domain::HardwareUnit;

constexpr double kCandidateNs = 27.4e3;

domain::KernelProfile profileOf(const char* entry, double durationNs) {
  domain::KernelProfile kernel;
  kernel.entry = entry;
  kernel.durationNs = durationNs;
  kernel.registers = 40;
  kernel.sharedBytes = 8192;
  kernel.theoreticalOccupancy = 0.75;
  kernel.occupancyLimiter = "registers";
  kernel.metrics = {{"launch__occupancy_limit_blocks", 32},
                    {"launch__occupancy_limit_registers", 6},
                    {"launch__occupancy_limit_shared_mem", 14},
                    {"launch__occupancy_limit_warps", 8}};
  return kernel;
}

domain::KernelDiagnosis rowsDiagnosis() {
  domain::KernelDiagnosis kernel;
  kernel.entry = "softmax_rows";
  kernel.totalNs = 21.2e3;
  kernel.share = kernel.totalNs / kCandidateNs;
  kernel.bound = domain::Bound::Memory;
  kernel.roofline = {{.bytesPerSecond = 3.98e12,
                      .memoryRoof = 4.8e12,
                      .flopsPerSecond = 2.4e12,
                      .computeRoof = 6.7e13,
                      .flopsPerByte = 0.603}};
  kernel.units = {{HardwareUnit::Compute, 0.23},     {HardwareUnit::Memory, 0.83}, {HardwareUnit::Fp32, 0.19},
                  {HardwareUnit::Tensor, 0.0},       {HardwareUnit::L1, 0.38},     {HardwareUnit::L2, 0.46},
                  {HardwareUnit::DeviceMemory, 0.83}};
  kernel.stalls = {{"long_scoreboard", 0.61},
                   {"short_scoreboard", 0.11},
                   {"barrier", 0.07},
                   {"wait", 0.06},
                   {"math_pipe_throttle", 0.02}};
  kernel.achievedOccupancy = 0.68;
  kernel.traffic = {59.1e6, 25.3e6, 0.31, 0.42, 0.74};
  kernel.lines = {{37, 0.41, "long_scoreboard"}, {52, 0.22, "long_scoreboard"}, {44, 0.09, "barrier"}};
  return kernel;
}

domain::KernelDiagnosis scaleDiagnosis() {
  domain::KernelDiagnosis kernel;
  kernel.entry = "softmax_scale";
  kernel.totalNs = 4.1e3;
  kernel.share = kernel.totalNs / kCandidateNs;
  kernel.bound = domain::Bound::Latency;
  kernel.roofline = {{.bytesPerSecond = 1.1e12,
                      .memoryRoof = 4.8e12,
                      .flopsPerSecond = 3.1e11,
                      .computeRoof = 6.7e13,
                      .flopsPerByte = 0.28}};
  kernel.units = {{HardwareUnit::Compute, 0.12}, {HardwareUnit::Memory, 0.29}};
  kernel.stalls = {{"barrier", 0.5}, {"long_scoreboard", 0.2}};
  kernel.achievedOccupancy = 0.31;
  return kernel;
}

domain::Diagnosis demoDiagnosis() {
  domain::Diagnosis diagnosis;
  diagnosis.bound = domain::Bound::Memory;
  diagnosis.kernels = {rowsDiagnosis(), scaleDiagnosis()};
  diagnosis.findings = {
      {domain::FindingKind::ExtraTraffic, "softmax_rows", {}, 1.26, 0.16, 37},
      {domain::FindingKind::PartialSectors, "softmax_rows", {}, 0.74, 0.12, 37},
      {domain::FindingKind::Stall, "softmax_scale", "barrier", 0.5, 0.07, 61},
  };
  diagnosis.candidateNs = kCandidateNs;
  diagnosis.kernelsNs = 25.3e3;
  diagnosis.taskBytes = 67.1e6;
  diagnosis.roofs = {4.1e12, 4.8e12, 6.7e13, 0.0};
  return diagnosis;
}

void scaleTimes(FakeRecordService& record, double scale) {
  for (services::CandidateRow& row : record.rows) {
    row.timeNs *= scale;
    row.lowNs *= scale;
    row.highNs *= scale;
  }
  for (services::CellSummary& cell : record.cellRows) {
    cell.bestTimeNs *= scale;
  }
  for (domain::Baseline& baseline : record.baselineRows) {
    baseline.timing.medianNs *= scale;
    baseline.timing.lowNs = baseline.timing.medianNs * 0.994;
    baseline.timing.highNs = baseline.timing.medianNs * 1.007;
    baseline.timing.minNs = baseline.timing.medianNs * 0.985;
  }
  const auto makeDetail = record.makeDetail;
  record.makeDetail = [makeDetail, scale](const services::CandidateRow& row) {
    services::CandidateDetail detail = makeDetail(row);
    if (auto* correct = detail.evaluation ? std::get_if<domain::Correct>(&*detail.evaluation) : nullptr) {
      domain::Timing& eager = correct->timing.eager;
      for (double* value : {&eager.medianNs, &eager.lowNs, &eager.highNs, &eager.minNs}) {
        *value *= scale;
      }
      for (double& sample : eager.sequenceNs) {
        sample *= scale;
      }
      correct->timing.candidate.clock = "device events";
      const auto looks = correct->timing.candidate.conditions.looks;
      correct->timing.candidate.conditions = {1755, 1740, 3201, 46, 398.0, {}};
      correct->timing.candidate.conditions.looks = looks;
      for (domain::ConditionLook& look : correct->timing.candidate.conditions.looks) {
        look.smClockMhz -= 1980 - 1755;
      }
    }
    return detail;
  };
}

}  // namespace

services::ProfileReport demoReport(domain::CandidateId candidate) {
  services::ProfileReport report;
  report.candidate = candidate;
  report.profile.source = domain::ProfileSource::Counters;
  report.profile.kernels = {profileOf("softmax_rows", 21.2e3), profileOf("softmax_scale", 4.1e3)};
  report.profile.conditions = {1755, 1740, 3201, 46, 412.0, {}};
  report.diagnosis = demoDiagnosis();
  return report;
}

services::ProfileReport demoCompilerReport(domain::CandidateId candidate) {
  services::ProfileReport report;
  report.candidate = candidate;
  report.profile.limitation =
      "the driver does not let this user read hardware counters (ERR_NVGPUCTRPERM); as root: set "
      "NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia and load it again";
  report.profile.kernels = {profileOf("softmax_rows", 0.0)};
  report.profile.kernels.front().metrics.clear();
  report.profile.kernels.front().theoreticalOccupancy = 0.0;
  report.profile.kernels.front().occupancyLimiter.clear();
  domain::KernelDiagnosis kernel;
  kernel.entry = "softmax_rows";
  report.diagnosis.kernels = {kernel};
  report.diagnosis.candidateNs = kCandidateNs;
  return report;
}

domain::CandidateId demoBest(const FakeRecordService& record) {
  const auto best =
      std::find_if(record.cellRows.begin(), record.cellRows.end(), [](const auto& cell) { return cell.isOverallBest; });
  return best->best;
}

services::ProfileReport demoCpuReport(domain::CandidateId candidate) {
  services::ProfileReport report;
  report.candidate = candidate;
  report.profile.source = domain::ProfileSource::Activity;
  report.profile.limitation =
      "no hardware counters: the processor's are not visible here, as in most virtual machines. Profile on the host or "
      "on a machine of its own, or let the virtual machine have a PMU";
  domain::KernelProfile kernel;
  kernel.entry = "softmax_rows";
  kernel.durationNs = kCandidateNs * 1.9;
  report.profile.kernels = {kernel};
  domain::Diagnosis& diagnosis = report.diagnosis;
  diagnosis.candidateNs = kCandidateNs;
  diagnosis.kernelsNs = kernel.durationNs;
  diagnosis.taskBytes = 16.8e6;
  diagnosis.copyShare = 0.34;
  diagnosis.roofs.measuredBytesPerSecond = 1.8e12;
  domain::KernelDiagnosis& result = diagnosis.kernels.emplace_back();
  result.entry = kernel.entry;
  result.totalNs = kernel.durationNs;
  result.share = 1.0;
  result.units = {{HardwareUnit::DeviceMemory, 0.34}, {HardwareUnit::Threads, 0.41}};
  result.lines = {{37, 0.44, {}}, {41, 0.21, {}}, {61, 0.12, {}}};
  domain::ProcessorUse& use = result.processor.emplace();
  use.vectorBits = 0;
  use.threadsBusy = 6.6;
  use.waitingShare = 0.12;
  use.pageFaults = 14.0;
  diagnosis.findings = {{domain::FindingKind::NarrowVectors, kernel.entry, "256", 0.0, 0.66, 37},
                        {domain::FindingKind::IdleThreads, kernel.entry, "16", 6.6, 0.59, 37}};
  return report;
}

void fillDemoProfile(FakeProfileService& profiles, FakeRecordService& record) {
  const domain::CandidateId best = demoBest(record);
  profiles.reports[best] = demoReport(best);
  profiles.gateRows = demoGates();
  profiles.doubtRows = {"all outputs are zero for one of the seeds"};
  const auto row =
      std::find_if(record.rows.begin(), record.rows.end(), [best](const auto& one) { return one.id == best; });
  scaleTimes(record, kCandidateNs / row->timeNs);
}

}  // namespace swage::testing
