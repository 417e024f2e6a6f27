// SPDX-License-Identifier: Apache-2.0
#include "core/stats/diagnose_cpu.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/stats/triage.h"

namespace swage::stats {
namespace {

using domain::Bound;
using domain::Finding;
using domain::FindingKind;
using domain::HardwareUnit;
using domain::KernelDiagnosis;
using domain::KernelProfile;
using domain::ProcessorUse;

constexpr double kLineBytes = 64.0;
constexpr double kBusyCpu = 0.6;          // of what a copy reaches, or of the threads
constexpr double kStalled = 0.5;          // of the cycles
constexpr double kFewInstructions = 1.0;  // a cycle; of four or more that a processor can begin
constexpr double kManyInstructions = 2.0;
constexpr double kProductsBound = 16.0;  // operations for each byte of the task, from which memory cannot be the bound
constexpr double kThreadsEnough = 0.75;  // of those there are
constexpr double kMuchWaiting = 0.1;     // of the samples
constexpr double kManyMisses = 0.1;      // of the loads
constexpr double kManyBranchMisses = 0.05;
constexpr double kFloatBits = 32.0;
constexpr double kExtraTraffic = 1.25;

std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0.0 ? std::optional(*part / *whole) : std::nullopt;
}

int bitsOf(std::string_view evidence) {
  return evidence.ends_with("zmm") ? 512 : evidence.ends_with("ymm") ? 256 : evidence.ends_with("xmm") ? 128 : 0;
}

std::optional<int> vectorBits(const std::vector<domain::KernelFacts>& kernels, const std::string& entry) {
  const auto facts = std::find_if(kernels.begin(), kernels.end(),
                                  [&entry](const domain::KernelFacts& one) { return one.entry == entry; });
  if (facts == kernels.end()) {
    return std::nullopt;
  }
  int bits = 0;
  for (const auto& [what, count] : facts->evidence) {
    bits = std::max(bits, what.starts_with("arith.") || what.starts_with("load.") ? bitsOf(what) : 0);
  }
  return bits == 0 && facts->arithmetic != domain::Arithmetic::Scalar ? std::nullopt : std::optional(bits);
}

int widestBits(std::string_view architecture) {
  return architecture == "x86-64-v4" ? 512 : architecture == "x86-64-v3" ? 256 : 128;
}

ProcessorUse useOf(const KernelProfile& profile, const DiagnosisContext& context) {
  const auto metric = [&profile](std::string_view name) { return metricOf(profile, name); };
  ProcessorUse use;
  use.vectorBits = vectorBits(context.kernels, profile.entry);
  use.instructionsPerCycle = ratio(metric("instructions"), metric("cycles"));
  if (const auto perNs = ratio(metric("cycles"), metric("task-clock"))) {
    use.clockHz = *perNs * 1e9;
  }
  use.stalledShare = ratio(metric("stalled-cycles-backend"), metric("cycles"));
  use.branchMissShare = ratio(metric("branch-misses"), metric("branches"));
  use.l1MissShare = ratio(metric("L1-dcache-load-misses"), metric("L1-dcache-loads"));
  use.pageFaults = metric("page-faults");
  use.threadsBusy = metric("samples-parallelism");
  if (const auto misses = metric("cache-misses")) {
    use.memoryBytes = *misses * kLineBytes;
    const double elements = context.task.bytes / static_cast<double>(domain::byteSize(context.type));
    use.missesPerElement = ratio(misses, elements);
  }
  const auto kernel = metric("samples-kernel");
  const auto waiting = metric("samples-openmp");
  const auto other = metric("samples-other");
  if (kernel && waiting && other) {
    use.waitingShare = ratio(waiting, *kernel + *waiting + *other);
  }
  return use;
}

// Of the bandwidth of a copy. What was counted cannot be less than what the task needs.
std::optional<double> memoryShare(const ProcessorUse& use, const DiagnosisContext& context, bool isOnlyKernel,
                                  double launchNs) {
  const double leastBytes = isOnlyKernel ? context.task.bytes : 0.0;
  const double bytes = std::max(leastBytes, use.memoryBytes.value_or(0.0));
  const double perSecond = launchNs > 0.0 ? bytes / launchNs * 1e9 : 0.0;
  const double copy = context.device.copyBytesPerSecond;
  return perSecond > 0.0 && copy > 0.0 ? std::optional(std::min(1.0, perSecond / copy)) : std::nullopt;
}

double shareOf(const KernelDiagnosis& kernel, HardwareUnit unit) {
  const auto found =
      std::find_if(kernel.units.begin(), kernel.units.end(), [unit](const auto& one) { return one.unit == unit; });
  return found == kernel.units.end() ? 0.0 : found->share;
}

Bound boundOf(const KernelDiagnosis& kernel, const DiagnosisContext& context, bool isOnlyKernel) {
  const ProcessorUse& use = *kernel.processor;
  if (shareOf(kernel, HardwareUnit::DeviceMemory) >= kBusyCpu) {
    return Bound::Memory;
  }
  if (use.waitingShare.value_or(0.0) >= kStalled || use.stalledShare.value_or(0.0) >= kStalled) {
    return Bound::Latency;
  }
  if (use.instructionsPerCycle) {
    return *use.instructionsPerCycle >= kManyInstructions ? Bound::Compute
           : *use.instructionsPerCycle < kFewInstructions ? Bound::Latency
                                                          : Bound::Unknown;
  }
  const bool isProduct =
      isOnlyKernel && context.task.bytes > 0.0 && context.task.operations >= kProductsBound * context.task.bytes;
  return isProduct ? Bound::Compute : Bound::Unknown;
}

class CpuFindings {
 public:
  CpuFindings(const KernelDiagnosis& kernel, const DiagnosisContext& context, std::vector<Finding>& findings)
      : m_kernel(kernel),
        m_use(*kernel.processor),
        m_context(context),
        m_findings(findings),
        m_idle(1.0 - shareOf(kernel, HardwareUnit::DeviceMemory)) {}

  void find() {
    findVectors();
    findThreads();
    findTraffic();
    findMisses();
  }

 private:
  void add(FindingKind kind, std::string detail, double measured, std::optional<double> localGain) {
    Finding finding{kind,     m_kernel.entry, std::move(detail),
                    measured, std::nullopt,   m_kernel.lines.empty() ? 0 : m_kernel.lines.front().line};
    if (localGain) {
      finding.gain = m_kernel.share * *localGain;
    }
    m_findings.push_back(std::move(finding));
  }

  void findVectors() {
    const int widest = widestBits(m_context.device.architecture);
    if (!m_use.vectorBits || *m_use.vectorBits >= widest || m_kernel.bound == Bound::Memory) {
      return;
    }
    const double used = *m_use.vectorBits > 0 ? *m_use.vectorBits : kFloatBits;
    add(FindingKind::NarrowVectors, fmt::format("{}", widest), *m_use.vectorBits,
        std::min(1.0 - used / widest, m_idle));
  }
  void findThreads() {
    const int threads = m_context.device.threads;
    if (m_use.threadsBusy && threads > 1 && *m_use.threadsBusy < kThreadsEnough * threads) {
      add(FindingKind::IdleThreads, fmt::format("{}", threads), *m_use.threadsBusy,
          std::min(1.0 - *m_use.threadsBusy / threads, m_idle));
    } else if (m_use.waitingShare.value_or(0.0) >= kMuchWaiting) {
      add(FindingKind::ThreadWaits, {}, *m_use.waitingShare, *m_use.waitingShare);
    }
  }
  // Only where memory is the bound can time be saved by it.
  void findTraffic() {
    const double task = m_context.task.bytes;
    if (m_use.memoryBytes && task > 0.0 && *m_use.memoryBytes > kExtraTraffic * task) {
      const double extra = 1.0 - task / *m_use.memoryBytes;
      add(FindingKind::ExtraTraffic, {}, *m_use.memoryBytes / task,
          m_kernel.bound == Bound::Memory ? std::optional(extra) : std::nullopt);
    }
  }
  void findMisses() {
    if (m_use.l1MissShare.value_or(0.0) >= kManyMisses && m_kernel.bound == Bound::Latency) {
      add(FindingKind::CacheMisses, {}, *m_use.l1MissShare, m_use.stalledShare);
    }
    if (m_use.branchMissShare.value_or(0.0) >= kManyBranchMisses) {
      add(FindingKind::BranchMisses, {}, *m_use.branchMissShare, std::nullopt);
    }
  }

  const KernelDiagnosis& m_kernel;
  const ProcessorUse& m_use;
  const DiagnosisContext& m_context;
  std::vector<Finding>& m_findings;
  double m_idle = 0.0;  // of the memory
};

}  // namespace

void diagnoseOnCpu(const KernelProfile& profile, const DiagnosisContext& context, bool isOnlyKernel,
                   KernelDiagnosis& kernel) {
  kernel.processor = useOf(profile, context);
  // The evaluation's time is the better one: it was measured in turns with eager, and longer.
  const double launchNs =
      isOnlyKernel && profile.launches == 1 && context.candidateNs > 0.0 ? context.candidateNs : profile.durationNs;
  if (const auto share = memoryShare(*kernel.processor, context, isOnlyKernel, launchNs)) {
    kernel.units.push_back({HardwareUnit::DeviceMemory, *share});
  }
  if (kernel.processor->threadsBusy && context.device.threads > 0) {
    kernel.units.push_back(
        {HardwareUnit::Threads, std::min(1.0, *kernel.processor->threadsBusy / context.device.threads)});
  }
  kernel.bound = boundOf(kernel, context, isOnlyKernel);
}

void findOnCpu(const KernelDiagnosis& kernel, const DiagnosisContext& context, std::vector<Finding>& findings) {
  CpuFindings(kernel, context, findings).find();
}

}  // namespace swage::stats
