// SPDX-License-Identifier: Apache-2.0
#include "core/judge/case_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/judge/failure_facts.h"
#include "core/stats/diagnose.h"
#include "core/stats/triage.h"

namespace swage::judge {
namespace {

using domain::KernelFacts;
using domain::KernelStep;

constexpr double kWarp = 32.0;
constexpr double kRegistersOfMultiprocessor = 65536.0;  // compute capability 5.0 to 12.1
constexpr double kSchedulers = 4.0;                     // of a multiprocessor

constexpr std::string_view kStallFacts = "kernel.stall.";

// Of the CUDA programming guide, "Technical Specifications per Compute Capability".
struct ResidencyLimits {
  double threads = 2048.0;
  double blocks = 32.0;
};
ResidencyLimits residencyOf(int computeCapability) {
  switch (computeCapability) {
    case 75: return {1024.0, 16.0};
    case 86:
    case 87: return {1536.0, 16.0};
    case 89:
    case 120:
    case 121: return {1536.0, 24.0};
    default: return {};
  }
}

double product(const domain::Dim3& size) {
  return static_cast<double>(size.x) * size.y * size.z;
}

double bytesOf(const domain::LaunchPlan& plan, domain::ValueId id) {
  const auto index = static_cast<std::size_t>(id.value());
  return id.isValid() && index < plan.buffers.size() ? static_cast<double>(plan.buffers[index].byteCount()) : 0.0;
}

// Buffers that one step names, each once.
std::set<domain::ValueId> buffersOf(const domain::PlanStep& step) {
  std::set<domain::ValueId> ids;
  if (const auto* kernel = std::get_if<KernelStep>(&step)) {
    for (const domain::KernelArgument& argument : kernel->arguments) {
      if (const auto id = domain::bufferOf(argument)) {
        ids.insert(*id);
      }
    }
  } else if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
    const auto inputs = domain::inputsOf(aten->node);
    ids.insert(inputs.begin(), inputs.end());
    ids.insert(aten->node.outputs.begin(), aten->node.outputs.end());
  } else if (const auto* zero = std::get_if<domain::ZeroStep>(&step)) {
    ids.insert(zero->buffer);
  }
  return ids;
}

void addDevice(const domain::DeviceInfo& device, Facts& facts) {
  facts.set("device.multiprocessors", static_cast<double>(device.multiprocessors));
  facts.set("device.threads", static_cast<double>(device.threads));
  facts.set("device.capability", static_cast<double>(device.computeCapability));
  if (device.cacheBytes > 0) {
    facts.set("device.cache_bytes", static_cast<double>(device.cacheBytes));
  }
  if (device.copyBytesPerSecond > 0.0) {
    facts.set("device.copy_bytes_per_second", device.copyBytesPerSecond);
  }
  if (device.kind == domain::DeviceKind::Cpu) {
    facts.set("device.vector_bits", device.architecture == "x86-64-v4"   ? 512.0
                                    : device.architecture == "x86-64-v3" ? 256.0
                                                                         : 128.0);
  }
}

// `peak`: operations a second of matrix units; 0: not known.
void addTask(const stats::Roofline& task, double peak, Facts& facts) {
  facts.set("task.bytes", task.bytes);
  facts.set("task.operations", task.operations);
  if (task.bytes > 0.0) {
    facts.set("task.operations_per_byte", task.operations / task.bytes);
  }
  if (task.roofNs > 0.0) {
    facts.set("task.roof_ns", task.roofNs);
  }
  if (peak > 0.0) {
    facts.set("task.peak_operations_per_second", peak);
  }
}

// What the plan names is read or written at least once by each step that names it; scratch is what is neither an input
// nor an output of the task.
void addPlan(const domain::Program& program, const stats::Roofline& task, Facts& facts) {
  const domain::LaunchPlan& plan = program.plan;
  const std::set<domain::ValueId> inputs(plan.inputs.begin(), plan.inputs.end());
  const std::set<domain::ValueId> outputs(plan.outputs.begin(), plan.outputs.end());
  double planned = 0.0;
  double scratch = 0.0;
  double kernels = 0.0;
  double operators = 0.0;
  for (const domain::PlanStep& step : plan.steps) {
    kernels += std::holds_alternative<KernelStep>(step) ? 1.0 : 0.0;
    operators += std::holds_alternative<domain::AtenStep>(step) ? 1.0 : 0.0;
    for (const domain::ValueId id : buffersOf(step)) {
      planned += bytesOf(plan, id);
      scratch += inputs.contains(id) || outputs.contains(id) ? 0.0 : bytesOf(plan, id);
    }
  }
  facts.set("candidate.launches", kernels + operators);
  facts.set("candidate.kernels", kernels);
  facts.set("candidate.operators", operators);
  facts.set("candidate.planned_bytes", planned);
  facts.set("candidate.scratch_bytes", scratch);
  if (task.bytes > 0.0) {
    facts.set("candidate.overfetch", planned / task.bytes);
  }
}

void addTimes(const domain::Correct& correct, const stats::Roofline& task, Facts& facts) {
  const domain::PairedTiming& timing = correct.timing;
  const double ns = timing.candidate.medianNs;
  if (!(ns > 0.0)) {
    return;
  }
  facts.set("candidate.ns", ns);
  facts.set("candidate.speedup", timing.speedup);
  if (task.roofNs > 0.0) {
    facts.set("candidate.over_roof", ns / task.roofNs);
    facts.set("candidate.roof_share", std::min(1.0, task.roofNs / ns));
  }
  if (task.operations > 0.0) {
    facts.set("candidate.operations_per_second", task.operations / ns * 1e9);
  }
  if (timing.launchNs > 0.0) {
    facts.set("candidate.launch_ns", timing.launchNs);
    facts.set("candidate.launch_share", std::min(1.0, *facts.number("candidate.launches") * timing.launchNs / ns));
  }
}

std::int64_t counted(const KernelFacts& facts, std::string_view beginning, bool wide) {
  std::int64_t sum = 0;
  for (const auto& [what, count] : facts.evidence) {
    const bool isWide =
        what.ends_with(".v2") || what.ends_with(".v4") || what.ends_with(".v8") || what.ends_with(".b128");
    sum += what.starts_with(beginning) && isWide == wide ? count : 0;
  }
  return sum;
}

void addCompiled(const KernelFacts& compiled, Facts& facts) {
  facts.set("kernel.movement", static_cast<double>(compiled.movement));
  facts.set("kernel.arithmetic", static_cast<double>(compiled.arithmetic));
  facts.set("kernel.is_inter_block", compiled.interBlock ? 1.0 : 0.0);
  facts.set("kernel.spill_bytes", static_cast<double>(compiled.spillBytes));
  if (compiled.registers > 0) {
    facts.set("kernel.registers", static_cast<double>(compiled.registers));
  }
  facts.set("kernel.locks", static_cast<double>(counted(compiled, "lock", false)));
  const auto narrow = counted(compiled, "ld.global", false) + counted(compiled, "st.global", false);
  const auto wide = counted(compiled, "ld.global", true) + counted(compiled, "st.global", true);
  if (narrow + wide > 0) {
    facts.set("kernel.narrow_share", static_cast<double>(narrow) / static_cast<double>(narrow + wide));
  }
}

// How many blocks fit on a multiprocessor by each resource, and how many rounds the grid takes. Allocation in units
// is left out: a profile has the exact number.
void addLaunch(const KernelStep& step, const domain::DeviceInfo& device, Facts& facts) {
  const double threads = product(step.block);
  const double blocks = product(step.grid);
  facts.set("kernel.block_threads", threads);
  facts.set("kernel.grid_blocks", blocks);
  facts.set("kernel.cluster_blocks", product(step.cluster));
  const double shared =
      static_cast<double>(step.dynamicSharedBytes) + facts.number("kernel.static_shared_bytes").value_or(0.0);
  facts.set("kernel.shared_bytes", shared);
  if (device.kind != domain::DeviceKind::Cuda || device.multiprocessors <= 0 || threads < 1.0) {
    return;
  }
  const ResidencyLimits limits = residencyOf(device.computeCapability);
  const double byThreads = std::floor(limits.threads / (std::ceil(threads / kWarp) * kWarp));
  double resident = std::min(byThreads, limits.blocks);
  facts.set("kernel.resident_by_threads", byThreads);
  if (const auto registers = facts.number("kernel.registers")) {
    const double byRegisters =
        std::floor(kRegistersOfMultiprocessor / (*registers * std::ceil(threads / kWarp) * kWarp));
    facts.set("kernel.resident_by_registers", byRegisters);
    resident = std::min(resident, byRegisters);
  }
  if (shared > 0.0 && device.sharedBytesPerBlock > 0) {
    const double byShared = std::floor(static_cast<double>(device.sharedBytesPerBlock) / shared);
    facts.set("kernel.resident_by_shared", byShared);
    resident = std::min(resident, byShared);
  }
  if (resident < 1.0) {
    return;
  }
  const double waves = blocks / (resident * device.multiprocessors);
  facts.set("kernel.resident_blocks", resident);
  facts.set("kernel.occupancy", std::min(1.0, resident * threads / limits.threads));
  facts.set("kernel.waves", waves);
  facts.set("kernel.wave_loss", 1.0 - waves / std::ceil(waves));
}

std::string_view factName(domain::HardwareUnit unit) {
  switch (unit) {
    case domain::HardwareUnit::Compute: return "compute";
    case domain::HardwareUnit::Memory: return "memory";
    case domain::HardwareUnit::Fp32: return "fp32";
    case domain::HardwareUnit::Tensor: return "tensor";
    case domain::HardwareUnit::L1: return "l1";
    case domain::HardwareUnit::L2: return "l2";
    case domain::HardwareUnit::DeviceMemory: return "device_memory";
    case domain::HardwareUnit::Threads: return "threads";
  }
  return "unknown";
}

void addProcessor(const domain::ProcessorUse& use, Facts& facts) {
  if (use.vectorBits) {
    facts.set("kernel.vector_bits", static_cast<double>(*use.vectorBits));
  }
  facts.set("kernel.instructions_per_cycle", use.instructionsPerCycle);
  facts.set("kernel.stalled_share", use.stalledShare);
  facts.set("kernel.branch_miss_share", use.branchMissShare);
  facts.set("kernel.l1_miss_share", use.l1MissShare);
  facts.set("kernel.memory_bytes", use.memoryBytes);
  facts.set("kernel.misses_per_element", use.missesPerElement);
  facts.set("kernel.page_faults", use.pageFaults);
  facts.set("kernel.threads_busy", use.threadsBusy);
  facts.set("kernel.waiting_share", use.waitingShare);
}

void addDiagnosis(const domain::KernelDiagnosis& kernel, Facts& facts) {
  if (kernel.totalNs > 0.0) {
    facts.set("kernel.ns", kernel.totalNs);
    facts.set("kernel.share", kernel.share);
  }
  if (kernel.bound != domain::Bound::Unknown) {
    facts.set("kernel.is_memory_bound", kernel.bound == domain::Bound::Memory ? 1.0 : 0.0);
    facts.set("kernel.is_compute_bound", kernel.bound == domain::Bound::Compute ? 1.0 : 0.0);
    facts.set("kernel.is_latency_bound", kernel.bound == domain::Bound::Latency ? 1.0 : 0.0);
  }
  for (const domain::UnitUse& unit : kernel.units) {
    facts.set(fmt::format("kernel.unit.{}", factName(unit.unit)), unit.share);
  }
  // What was counted and was not there is 0, not unknown.
  for (const std::string_view known : factNames()) {
    if (!kernel.stalls.empty() && known.starts_with(kStallFacts)) {
      facts.set(std::string(known), 0.0);
    }
  }
  for (const domain::ProfileMetric& stall : kernel.stalls) {
    facts.set(std::string(kStallFacts) + stall.name, stall.value);
  }
  facts.set("kernel.achieved_occupancy", kernel.achievedOccupancy);
  facts.set("kernel.l1_hit_rate", kernel.traffic.l1HitRate);
  facts.set("kernel.l2_hit_rate", kernel.traffic.l2HitRate);
  facts.set("kernel.used_of_sectors", kernel.traffic.usedOfSectors);
  if (kernel.traffic.bytesRead && kernel.traffic.bytesWritten) {
    facts.set("kernel.memory_bytes", *kernel.traffic.bytesRead + *kernel.traffic.bytesWritten);
  }
  if (kernel.processor) {
    addProcessor(*kernel.processor, facts);
  }
}

void addProfile(const domain::KernelProfile& kernel, const domain::DeviceInfo& device, Facts& facts) {
  if (kernel.theoreticalOccupancy > 0.0) {
    facts.set("kernel.occupancy", kernel.theoreticalOccupancy);
    facts.setWord("kernel.occupancy_limiter", kernel.occupancyLimiter);
  }
  const auto issued = stats::metricOf(kernel, "sm__inst_executed.sum");
  const auto cycles = stats::metricOf(kernel, "sm__cycles_active.avg");
  if (issued && cycles && *cycles > 0.0 && device.multiprocessors > 0) {
    facts.set("kernel.issue_rate", *issued / (*cycles * device.multiprocessors * kSchedulers));
  }
  const auto uniform = stats::metricOf(kernel, "smsp__sass_average_branch_targets_threads_uniform.pct");
  if (uniform && *uniform > 0.0) {
    facts.set("kernel.uniform_branches", *uniform / 100.0);
  }
  const auto conflicts = stats::metricOf(kernel, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
  const auto wavefronts = stats::metricOf(kernel, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
  if (conflicts && wavefronts && *wavefronts > 0.0) {
    facts.set("kernel.bank_conflict_share", std::clamp(*conflicts / *wavefronts, 0.0, 1.0));
  }
}

// What the compiler said, for a candidate that nobody has profiled.
domain::Profile profileOf(const std::vector<KernelFacts>& kernels) {
  domain::Profile profile;
  for (const KernelFacts& facts : kernels) {
    domain::KernelProfile& kernel = profile.kernels.emplace_back();
    kernel.entry = facts.entry;
    kernel.registers = facts.registers;
    kernel.spillBytes = static_cast<int>(facts.spillBytes);
    kernel.sharedBytes = facts.staticSharedBytes;
  }
  return profile;
}

class CaseReader {
 public:
  explicit CaseReader(const Case& what) : m_case(what) {}

  CaseFacts read() {
    Facts& facts = m_result.candidate;
    if (m_case.device != nullptr) {
      addDevice(*m_case.device, facts);
    }
    addTask(m_case.task, m_case.device != nullptr ? stats::peakOperations(*m_case.device, m_case.type) : 0.0, facts);
    if (m_case.program != nullptr) {
      addPlan(*m_case.program, m_case.task, facts);
    }
    if (m_case.evaluation != nullptr) {
      readEvaluation(*m_case.evaluation);
    }
    if (m_case.program != nullptr && m_case.device != nullptr) {
      readKernels();
    }
    return std::move(m_result);
  }

 private:
  void readEvaluation(const domain::Evaluation& evaluation) {
    if (const domain::Correct* correct = domain::asCorrect(evaluation)) {
      if (m_case.program != nullptr) {
        addTimes(*correct, m_case.task, m_result.candidate);
      }
    } else {
      m_result.line = addFailure(evaluation, m_case.program, m_result.candidate);
    }
  }
  void readKernels() {
    diagnose();
    for (const domain::PlanStep& step : m_case.program->plan.steps) {
      const auto* kernel = std::get_if<KernelStep>(&step);
      const bool isNew = kernel != nullptr && std::none_of(m_result.kernels.begin(), m_result.kernels.end(),
                                                           [&](const auto& one) { return one.entry == kernel->entry; });
      if (isNew) {
        readKernel(*kernel);
      }
    }
  }
  void diagnose() {
    static const std::vector<KernelFacts> kNone;
    const auto& compiled = m_case.kernels != nullptr ? *m_case.kernels : kNone;
    m_profile = m_case.profile != nullptr ? *m_case.profile : profileOf(compiled);
    const stats::DiagnosisContext context{.candidateNs = m_result.candidate.number("candidate.ns").value_or(0.0),
                                          .task = m_case.task,
                                          .type = m_case.type,
                                          .device = *m_case.device,
                                          .kernels = compiled};
    m_diagnosis = stats::diagnose(m_profile, context);
    m_result.candidate.set("candidate.copy_share", m_diagnosis.copyShare);
    if (m_diagnosis.kernelsNs > 0.0 && m_diagnosis.candidateNs > 0.0) {
      m_result.candidate.set("candidate.outside_share",
                             std::max(0.0, 1.0 - m_diagnosis.kernelsNs / m_diagnosis.candidateNs));
    }
  }
  void readKernel(const KernelStep& step) {
    KernelCase kernel{step.entry, 0, m_result.candidate};
    if (m_case.kernels != nullptr) {
      for (const KernelFacts& compiled : *m_case.kernels) {
        if (compiled.entry == step.entry) {
          kernel.facts.set("kernel.static_shared_bytes", static_cast<double>(compiled.staticSharedBytes));
          addCompiled(compiled, kernel.facts);
        }
      }
    }
    addLaunch(step, *m_case.device, kernel.facts);
    // Where it is the only step, all of the time is its own.
    if (m_case.program->plan.launchCount() == 1) {
      kernel.facts.set("kernel.share", 1.0);
    }
    for (std::size_t i = 0; i < m_profile.kernels.size(); ++i) {
      if (m_profile.kernels[i].entry == step.entry) {
        addProfile(m_profile.kernels[i], *m_case.device, kernel.facts);
        addDiagnosis(m_diagnosis.kernels[i], kernel.facts);
        kernel.lines = m_diagnosis.kernels[i].lines;
        kernel.line = kernel.lines.empty() ? 0 : kernel.lines.front().line;
        break;
      }
    }
    // Before there is a profile, it is not known which one is the longest.
    const double kernels = m_result.candidate.number("candidate.kernels").value_or(1.0);
    kernel.facts.set("kernel.weight", kernel.facts.number("kernel.share").value_or(1.0 / std::max(1.0, kernels)));
    kernel.facts.setWord("kernel.entry", step.entry);
    m_result.kernels.push_back(std::move(kernel));
  }

  const Case& m_case;
  CaseFacts m_result;
  domain::Profile m_profile;
  domain::Diagnosis m_diagnosis;
};

}  // namespace

CaseFacts factsOf(const Case& what) {
  return CaseReader(what).read();
}

}  // namespace swage::judge
