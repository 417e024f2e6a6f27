// SPDX-License-Identifier: Apache-2.0
#include "core/stats/diagnose.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/stats/diagnose_cpu.h"
#include "core/stats/triage.h"

namespace swage::stats {
namespace {

using domain::Bound;
using domain::Diagnosis;
using domain::Finding;
using domain::FindingKind;
using domain::HardwareUnit;
using domain::KernelDiagnosis;
using domain::KernelProfile;

constexpr double kBusy = 0.6;
constexpr double kMostlyOutside = 0.5;    // of the candidate's time, from which on launches are what bounds it
constexpr double kWorthSaying = 0.02;     // of the candidate's time
constexpr double kGoodSectors = 0.8;      // of the fetched bytes used
constexpr double kUniformBranches = 0.9;  // of branches that a whole warp takes
constexpr double kGoodOccupancy = 0.9;    // of what could be resident
constexpr std::size_t kFindings = 3;
constexpr std::size_t kHotLines = 20;

std::optional<double> shareOf(const KernelProfile& kernel, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto percent = metricOf(kernel, name)) {
      return std::clamp(*percent / 100.0, 0.0, 1.0);
    }
  }
  return std::nullopt;
}

std::vector<domain::UnitUse> unitsOf(const KernelProfile& kernel) {
  const std::pair<HardwareUnit, std::optional<double>> known[] = {
      {HardwareUnit::Compute, shareOf(kernel, {"sm__throughput.avg.pct_of_peak_sustained_elapsed"})},
      {HardwareUnit::Memory, shareOf(kernel, {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"})},
      {HardwareUnit::Fp32, shareOf(kernel, {"sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active",
                                            "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"})},
      {HardwareUnit::Tensor, shareOf(kernel, {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                                              "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"})},
      {HardwareUnit::L1, shareOf(kernel, {"l1tex__throughput.avg.pct_of_peak_sustained_active"})},
      {HardwareUnit::L2, shareOf(kernel, {"lts__throughput.avg.pct_of_peak_sustained_active"})},
      {HardwareUnit::DeviceMemory, shareOf(kernel, {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                                    "dram__throughput.avg.pct_of_peak_sustained_elapsed"})},
  };
  std::vector<domain::UnitUse> units;
  for (const auto& [unit, share] : known) {
    if (share) {
      units.push_back({unit, *share});
    }
  }
  return units;
}

std::optional<double> use(const KernelDiagnosis& kernel, HardwareUnit unit) {
  const auto found =
      std::find_if(kernel.units.begin(), kernel.units.end(), [unit](const auto& one) { return one.unit == unit; });
  return found == kernel.units.end() ? std::nullopt : std::optional(found->share);
}

Bound boundOf(const KernelDiagnosis& kernel) {
  const auto compute = use(kernel, HardwareUnit::Compute);
  const auto memory = use(kernel, HardwareUnit::Memory);
  if (!compute || !memory) {
    return Bound::Unknown;
  }
  if (std::max(*compute, *memory) < kBusy) {
    return Bound::Latency;
  }
  return *memory >= *compute ? Bound::Memory : Bound::Compute;
}

domain::MemoryTraffic trafficOf(const KernelProfile& kernel) {
  return {metricOf(kernel, "dram__bytes_read.sum"), metricOf(kernel, "dram__bytes_write.sum"),
          shareOf(kernel, {"l1tex__t_sector_hit_rate.pct"}), shareOf(kernel, {"lts__t_sector_hit_rate.pct"}),
          shareOf(kernel, {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"})};
}

struct LineSamples {
  std::int64_t samples = 0;
  std::map<std::string, double> stalls;
};

std::map<int, LineSamples> samplesByLine(const KernelProfile& kernel) {
  std::map<int, LineSamples> lines;
  for (const domain::InstructionSamples& at : kernel.instructions) {
    LineSamples& line = lines[at.line];
    line.samples += at.samples;
    for (const domain::ProfileMetric& stall : at.stalls) {
      line.stalls[stall.name] += stall.value;
    }
  }
  return lines;
}

std::string mostOf(const std::map<std::string, double>& stalls) {
  const auto most =
      std::max_element(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == stalls.end() ? std::string() : most->first;
}

std::vector<domain::HotLine> linesOf(const std::map<int, LineSamples>& samples) {
  double all = 0.0;
  for (const auto& [number, line] : samples) {
    all += static_cast<double>(line.samples);
  }
  std::vector<domain::HotLine> lines;
  for (const auto& [number, line] : samples) {
    if (number > 0 && line.samples > 0) {
      lines.push_back({number, static_cast<double>(line.samples) / all, mostOf(line.stalls)});
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  lines.resize(std::min(lines.size(), kHotLines));
  return lines;
}

// The line where most samples wait for this reason; 0: none does.
int lineOfStall(const KernelProfile& kernel, const std::string& reason) {
  int best = 0;
  double most = 0.0;
  for (const auto& [number, line] : samplesByLine(kernel)) {
    const auto found = line.stalls.find(reason);
    if (number > 0 && found != line.stalls.end() && found->second > most) {
      best = number;
      most = found->second;
    }
  }
  return best;
}

KernelDiagnosis diagnoseKernel(const KernelProfile& kernel) {
  KernelDiagnosis result;
  result.entry = kernel.entry;
  result.totalNs = kernel.durationNs * kernel.launches;
  const Triage triage = triageOf(kernel);
  result.roofline = triage.roofline;
  result.achievedOccupancy = triage.achievedOccupancy;
  result.stalls = stallShares(kernel);
  result.units = unitsOf(kernel);
  result.bound = boundOf(result);
  result.traffic = trafficOf(kernel);
  result.lines = linesOf(samplesByLine(kernel));
  return result;
}

// Finds what one kernel loses. `share` of the candidate's time is the kernel's, so gains are of the candidate's time.
class KernelFindings {
 public:
  KernelFindings(const KernelProfile& profile, const KernelDiagnosis& kernel, std::vector<Finding>& findings)
      : m_profile(profile), m_kernel(kernel), m_findings(findings) {
    const double compute = use(kernel, HardwareUnit::Compute).value_or(0.0);
    const double memory = use(kernel, HardwareUnit::Memory).value_or(0.0);
    m_idle = 1.0 - std::max(compute, memory);
    m_memory = memory;
  }

  void find() {
    findStall();
    findOccupancy();
    findSectors();
    findDivergence();
    findSpills();
  }

 private:
  void add(FindingKind kind, std::string detail, double measured, std::optional<double> localGain, int line) {
    Finding finding{kind, m_kernel.entry, std::move(detail), measured, std::nullopt, line};
    if (localGain) {
      finding.gain = m_kernel.share * *localGain;
    }
    m_findings.push_back(std::move(finding));
  }
  [[nodiscard]] int hottest() const { return m_kernel.lines.empty() ? 0 : m_kernel.lines.front().line; }

  // Warps that wait cost nothing while memory or arithmetic is busy all the same.
  void findStall() {
    if (!m_kernel.stalls.empty() && !m_kernel.units.empty()) {
      const domain::ProfileMetric& most = m_kernel.stalls.front();
      add(FindingKind::Stall, most.name, most.value, std::min(most.value, m_idle), lineOfStall(m_profile, most.name));
    }
  }
  void findOccupancy() {
    const double possible = m_profile.theoreticalOccupancy;
    if (m_kernel.bound != Bound::Latency || !m_kernel.achievedOccupancy || possible <= 0.0) {
      return;
    }
    const bool launchedTooFew = *m_kernel.achievedOccupancy < kGoodOccupancy * possible;
    const double lost = launchedTooFew ? 1.0 - *m_kernel.achievedOccupancy / possible : 1.0 - possible;
    add(FindingKind::Occupancy, launchedTooFew ? std::string() : m_profile.occupancyLimiter,
        *m_kernel.achievedOccupancy, std::min(lost, m_idle), 0);
  }
  void findSectors() {
    const auto used = m_kernel.traffic.usedOfSectors;
    if (used && *used > 0.0 && *used < kGoodSectors) {
      add(FindingKind::PartialSectors, {}, *used, m_memory * (1.0 - *used), hottest());
    }
  }
  void findDivergence() {
    const auto uniform = shareOf(m_profile, {"smsp__sass_average_branch_targets_threads_uniform.pct"});
    if (uniform && *uniform > 0.0 && *uniform < kUniformBranches) {
      add(FindingKind::Divergence, {}, *uniform, 1.0 - *uniform, hottest());
    }
  }
  void findSpills() {
    if (m_profile.spillBytes > 0) {
      add(FindingKind::Spills, {}, m_profile.spillBytes, std::nullopt, 0);
    }
  }

  const KernelProfile& m_profile;
  const KernelDiagnosis& m_kernel;
  std::vector<Finding>& m_findings;
  double m_idle = 0.0;
  double m_memory = 0.0;
};

// Where the time for a profile ended before all kernels were timed, their total is not known.
void shareTime(Diagnosis& diagnosis) {
  double sum = 0.0;
  bool isComplete = true;
  for (const KernelDiagnosis& kernel : diagnosis.kernels) {
    sum += kernel.totalNs;
    isComplete = isComplete && kernel.totalNs > 0.0;
  }
  diagnosis.kernelsNs = isComplete ? sum : 0.0;
  const double whole = std::max(diagnosis.candidateNs, sum);
  for (KernelDiagnosis& kernel : diagnosis.kernels) {
    kernel.share = whole > 0.0 ? kernel.totalNs / whole : 0.0;
  }
}

double outsideShare(const Diagnosis& diagnosis) {
  const bool isKnown = diagnosis.candidateNs > 0.0 && diagnosis.kernelsNs > 0.0;
  return isKnown ? std::max(0.0, 1.0 - diagnosis.kernelsNs / diagnosis.candidateNs) : 0.0;
}

// Of all kernels together, because one may write what the next one reads: only memory-bound time can be saved by it.
void findExtraTraffic(const domain::Profile& profile, Diagnosis& diagnosis) {
  double moved = 0.0;
  double memoryShare = 0.0;
  std::size_t heaviest = 0;
  for (std::size_t i = 0; i < diagnosis.kernels.size(); ++i) {
    const KernelDiagnosis& kernel = diagnosis.kernels[i];
    if (!kernel.traffic.bytesRead || !kernel.traffic.bytesWritten) {
      return;
    }
    moved += (*kernel.traffic.bytesRead + *kernel.traffic.bytesWritten) * profile.kernels[i].launches;
    memoryShare += kernel.bound == Bound::Memory ? kernel.share : 0.0;
    heaviest = kernel.share > diagnosis.kernels[heaviest].share ? i : heaviest;
  }
  if (memoryShare > 0.0 && diagnosis.taskBytes > 0.0 && moved > diagnosis.taskBytes) {
    const double extra = 1.0 - diagnosis.taskBytes / moved;
    const KernelDiagnosis& kernel = diagnosis.kernels[heaviest];
    diagnosis.findings.push_back({FindingKind::ExtraTraffic,
                                  kernel.entry,
                                  {},
                                  moved / diagnosis.taskBytes,
                                  memoryShare * extra,
                                  kernel.lines.empty() ? 0 : kernel.lines.front().line});
  }
}

// What is too small to matter goes; what has no estimate stands behind what has one.
void keepLargest(std::vector<Finding>& findings) {
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [](const Finding& finding) { return finding.gain && *finding.gain < kWorthSaying; }),
                 findings.end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain.value_or(0.0) > b.gain.value_or(0.0); });
  findings.resize(std::min(findings.size(), kFindings));
}

Bound boundOf(const Diagnosis& diagnosis) {
  if (outsideShare(diagnosis) > kMostlyOutside) {
    return Bound::Launches;
  }
  const auto largest = std::max_element(diagnosis.kernels.begin(), diagnosis.kernels.end(),
                                        [](const auto& a, const auto& b) { return a.share < b.share; });
  return largest == diagnosis.kernels.end() ? Bound::Unknown : largest->bound;
}

domain::Roofs roofsOf(const Diagnosis& diagnosis, const DiagnosisContext& context) {
  domain::Roofs roofs;
  roofs.measuredBytesPerSecond = context.device.copyBytesPerSecond;
  roofs.matrixFlopsPerSecond = peakOperations(context.device, context.type);
  for (const KernelDiagnosis& kernel : diagnosis.kernels) {
    if (kernel.roofline) {
      roofs.theoreticalBytesPerSecond = std::max(roofs.theoreticalBytesPerSecond, kernel.roofline->memoryRoof);
      roofs.flopsPerSecond = std::max(roofs.flopsPerSecond, kernel.roofline->computeRoof);
    }
  }
  return roofs;
}

std::optional<double> copyShareOf(const DiagnosisContext& context) {
  const double copyNs =
      context.device.copyBytesPerSecond > 0.0 ? context.task.bytes / context.device.copyBytesPerSecond * 1e9 : 0.0;
  return copyNs > 0.0 && context.candidateNs > 0.0 ? std::optional(copyNs / context.candidateNs) : std::nullopt;
}

// Whether the candidate's time and the task's bytes are those of its one kernel: no operator of PyTorch does a part.
bool isOnlyKernel(const domain::Profile& profile, const DiagnosisContext& context) {
  constexpr double kAlone = 0.6;  // of the candidate's time; measured at another moment
  if (profile.kernels.size() != 1) {
    return false;
  }
  const double kernelNs = profile.kernels.front().durationNs * profile.kernels.front().launches;
  return kernelNs <= 0.0 || context.candidateNs <= 0.0 || kernelNs >= kAlone * context.candidateNs;
}

// A profile that a GPU's counters made has units.
bool isOnCpu(const KernelDiagnosis& kernel, const DiagnosisContext& context) {
  return context.device.kind == domain::DeviceKind::Cpu && kernel.units.empty();
}

}  // namespace

Diagnosis diagnose(const domain::Profile& profile, const DiagnosisContext& context) {
  Diagnosis diagnosis;
  diagnosis.candidateNs = context.candidateNs;
  diagnosis.taskBytes = context.task.bytes;
  diagnosis.taskOperations = context.task.operations;
  diagnosis.copyShare = copyShareOf(context);
  const bool isOnly = isOnlyKernel(profile, context);
  for (const KernelProfile& kernel : profile.kernels) {
    diagnosis.kernels.push_back(diagnoseKernel(kernel));
    if (isOnCpu(diagnosis.kernels.back(), context)) {
      diagnoseOnCpu(kernel, context, isOnly, diagnosis.kernels.back());
    }
  }
  shareTime(diagnosis);
  diagnosis.bound = boundOf(diagnosis);
  diagnosis.roofs = roofsOf(diagnosis, context);
  for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
    if (diagnosis.kernels[i].processor) {
      findOnCpu(diagnosis.kernels[i], context, diagnosis.findings);
    } else {
      KernelFindings(profile.kernels[i], diagnosis.kernels[i], diagnosis.findings).find();
    }
  }
  findExtraTraffic(profile, diagnosis);
  if (const double outside = outsideShare(diagnosis); outside > 0.0) {
    diagnosis.findings.push_back({FindingKind::OutsideKernels, {}, {}, outside, outside, 0});
  }
  keepLargest(diagnosis.findings);
  return diagnosis;
}

}  // namespace swage::stats
