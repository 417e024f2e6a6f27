// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/profile_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

#include "ui/models/delta.h"
#include "ui/models/format.h"
#include "ui/models/quantity.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::Bound;
using domain::FindingKind;
using domain::HardwareUnit;

constexpr double kNoisy = 0.02;        // half the interval over the median
constexpr double kManyRepeated = 0.1;  // of the samples
constexpr double kMuchSlower = 1.25;   // times under the profiler over those without

QString tr(const char* text) {
  return QCoreApplication::translate("profile", text);
}

const domain::KernelDiagnosis* largest(const domain::Diagnosis& diagnosis) {
  const auto found = std::max_element(diagnosis.kernels.begin(), diagnosis.kernels.end(),
                                      [](const auto& a, const auto& b) { return a.share < b.share; });
  return found == diagnosis.kernels.end() ? nullptr : &*found;
}

std::optional<double> use(const domain::KernelDiagnosis& kernel, HardwareUnit unit) {
  const auto found =
      std::find_if(kernel.units.begin(), kernel.units.end(), [unit](const auto& one) { return one.unit == unit; });
  return found == kernel.units.end() ? std::nullopt : std::optional(found->share);
}

QString occupancyText(const domain::Finding& finding) {
  const QString measured = formatPercent(finding.measured);
  return finding.detail.empty()
             ? tr("Only %1 of the warps are resident, fewer than fit: the grid is small, or its last wave is partly "
                  "empty")
                   .arg(measured)
             : tr("Only %1 of the warps are resident: %2 limit them").arg(measured, toQString(finding.detail));
}

QString vectorText(const domain::Finding& finding) {
  return finding.measured > 0.0
             ? tr("The vector instructions are %1 bits wide, the processor's %2")
                   .arg(QString::number(finding.measured, 'f', 0), toQString(finding.detail))
             : tr("There are no vector instructions: one element at a time, where the processor has %1 bits")
                   .arg(toQString(finding.detail));
}

QString findingWords(const domain::Finding& finding) {
  switch (finding.kind) {
    case FindingKind::Stall:
      return tr("Warps spend %1 of their time on %2")
          .arg(formatPercent(finding.measured),
               stallName(finding.detail) % u" ("_s % stallMeaning(finding.detail) % u")"_s);
    case FindingKind::ExtraTraffic:
      return tr("Memory moves %1× the bytes that the task needs").arg(QString::number(finding.measured, 'f', 2));
    case FindingKind::PartialSectors:
      return tr("Loads use %1 of the bytes that they fetch: neighbouring threads read scattered addresses")
          .arg(formatPercent(finding.measured));
    case FindingKind::Occupancy: return occupancyText(finding);
    case FindingKind::Divergence:
      return tr("Only %1 of the branches are taken by whole warps").arg(formatPercent(finding.measured));
    case FindingKind::Spills:
      return tr("%1 bytes of registers are spilled to memory")
          .arg(formatCount(static_cast<std::int64_t>(finding.measured)));
    case FindingKind::OutsideKernels:
      return tr("%1 of the time is spent outside of its kernels: in PyTorch's operators, launches and gaps")
          .arg(formatPercent(finding.measured));
    case FindingKind::NarrowVectors: return vectorText(finding);
    case FindingKind::IdleThreads:
      return tr("Only %1 of %2 threads are at work at a time")
          .arg(QString::number(finding.measured, 'f', 1), toQString(finding.detail));
    case FindingKind::ThreadWaits:
      return tr("Threads wait for others in %1 of the samples: the work is unevenly divided, or too small for so many "
                "threads")
          .arg(formatPercent(finding.measured));
    case FindingKind::CacheMisses:
      return tr("%1 of the loads miss the first-level cache").arg(formatPercent(finding.measured));
    case FindingKind::BranchMisses:
      return tr("%1 of the branches are predicted wrongly").arg(formatPercent(finding.measured));
  }
  return {};
}

bool hasCounters(const domain::Diagnosis& diagnosis) {
  const domain::KernelDiagnosis* kernel = largest(diagnosis);
  return kernel != nullptr && kernel->processor && kernel->processor->instructionsPerCycle;
}

// Of a CPU there is always something to say.
QString processorReason(const domain::Diagnosis& diagnosis, const domain::ProcessorUse& use) {
  QStringList parts;
  if (diagnosis.copyShare) {
    parts.push_back(tr("It moves the %1 of the task at %2, %3 of the bandwidth of a copy")
                        .arg(formatBytes(diagnosis.taskBytes),
                             formatByteRate(diagnosis.taskBytes / diagnosis.candidateNs * 1e9),
                             formatPercent(*diagnosis.copyShare)));
  }
  if (diagnosis.taskOperations > 0.0 && diagnosis.candidateNs > 0.0) {
    parts.push_back(tr("products at %1").arg(formatFlopRate(diagnosis.taskOperations / diagnosis.candidateNs * 1e9)));
  }
  if (use.instructionsPerCycle) {
    parts.push_back(tr("%1 instructions per cycle").arg(QString::number(*use.instructionsPerCycle, 'f', 2)));
  }
  if (use.threadsBusy) {
    parts.push_back(tr("%1 threads at work").arg(QString::number(*use.threadsBusy, 'f', 1)));
  }
  return parts.join(u", "_s);
}

}  // namespace

QString headline(const domain::Diagnosis& diagnosis) {
  switch (diagnosis.bound) {
    case Bound::Unknown:
      return hasCounters(diagnosis) ? tr("No single bottleneck") : tr("No hardware counters; bottleneck unknown");
    case Bound::Memory: return tr("Memory-bound");
    case Bound::Compute: return tr("Compute-bound");
    case Bound::Latency: return tr("Latency-bound");
    case Bound::Launches: return tr("Launch-bound");
  }
  return {};
}

QString headlineReason(const domain::Diagnosis& diagnosis) {
  const domain::KernelDiagnosis* kernel = largest(diagnosis);
  if (diagnosis.bound == Bound::Launches) {
    return tr("Its kernels take %1 of %2").arg(formatTime(diagnosis.kernelsNs), formatTime(diagnosis.candidateNs));
  }
  if (kernel != nullptr && kernel->processor) {
    return processorReason(diagnosis, *kernel->processor);
  }
  const auto memory = kernel != nullptr ? use(*kernel, HardwareUnit::Memory) : std::nullopt;
  const auto compute = kernel != nullptr ? use(*kernel, HardwareUnit::Compute) : std::nullopt;
  if (!memory || !compute) {
    return {};
  }
  QString text = tr("Memory is %1 busy, arithmetic %2").arg(formatPercent(*memory), formatPercent(*compute));
  if (diagnosis.kernels.size() > 1) {
    text += tr(" in %1, which takes %2 of the time").arg(toQString(kernel->entry), formatPercent(kernel->share));
  }
  return text;
}

FindingText describeFinding(const domain::Finding& finding) {
  return {findingWords(finding), finding.gain ? tr("up to %1").arg(formatPercent(*finding.gain)) : QString(),
          finding.line};
}

QString unitName(HardwareUnit unit) {
  switch (unit) {
    case HardwareUnit::Compute: return tr("Compute");
    case HardwareUnit::Memory: return tr("Memory");
    case HardwareUnit::Fp32: return tr("float32 pipe");
    case HardwareUnit::Tensor: return tr("Tensor cores");
    case HardwareUnit::L1: return tr("L1 cache");
    case HardwareUnit::L2: return tr("L2 cache");
    case HardwareUnit::DeviceMemory: return tr("Device memory");
    case HardwareUnit::Threads: return tr("Threads");
  }
  return {};
}

QString stallName(const std::string& reason) {
  return toQString(reason).replace(u'_', u' ');
}

QString stallMeaning(const std::string& reason) {
  static const std::map<std::string, const char*> kMeanings = {
      {"long_scoreboard", QT_TRANSLATE_NOOP("profile", "waits for global or local memory")},
      {"short_scoreboard", QT_TRANSLATE_NOOP("profile", "waits for shared memory or a special function")},
      {"memory_dependency", QT_TRANSLATE_NOOP("profile", "waits for memory")},
      {"lg_throttle", QT_TRANSLATE_NOOP("profile", "the queue of global memory is full")},
      {"mio_throttle", QT_TRANSLATE_NOOP("profile", "the queue of shared memory is full")},
      {"math_pipe_throttle", QT_TRANSLATE_NOOP("profile", "the arithmetic pipe is full")},
      {"barrier", QT_TRANSLATE_NOOP("profile", "waits for other warps of its block")},
      {"membar", QT_TRANSLATE_NOOP("profile", "waits for a memory fence")},
      {"branch_resolving", QT_TRANSLATE_NOOP("profile", "waits for a branch")},
      {"wait", QT_TRANSLATE_NOOP("profile", "fixed latency of the instruction before")},
      {"no_instruction", QT_TRANSLATE_NOOP("profile", "waits for the instruction cache")},
  };
  const auto found = kMeanings.find(reason);
  return found == kMeanings.end() ? tr("waits") : tr(found->second);
}

QString boundName(Bound bound) {
  switch (bound) {
    case Bound::Unknown: return u"–"_s;
    case Bound::Memory: return tr("memory");
    case Bound::Compute: return tr("compute");
    case Bound::Latency: return tr("latency");
    case Bound::Launches: return tr("launches");
  }
  return {};
}

QString sourceName(domain::ProfileSource source) {
  switch (source) {
    case domain::ProfileSource::Counters: return tr("hardware counters");
    case domain::ProfileSource::Activity: return tr("kernel times");
    case domain::ProfileSource::Compiler: return tr("compiler output");
  }
  return {};
}

QString stageName(services::ProfileProgress::Stage stage) {
  switch (stage) {
    case services::ProfileProgress::Stage::StartingWorker: return tr("starting a worker");
    case services::ProfileProgress::Stage::LoadingTask: return tr("loading the task");
    case services::ProfileProgress::Stage::Profiling: return tr("profiling");
  }
  return {};
}

QString conditionsText(const domain::DeviceConditions& conditions) {
  QStringList parts;
  if (conditions.smClockMhz > 0) {
    QString clock = tr("%1 MHz").arg(conditions.smClockMhz);
    if (conditions.lowestSmClockMhz > 0 && conditions.lowestSmClockMhz != conditions.smClockMhz) {
      clock += tr(" (lowest %1)").arg(conditions.lowestSmClockMhz);
    }
    parts.push_back(clock);
  }
  if (conditions.memoryClockMhz > 0) {
    parts.push_back(tr("memory %1 MHz").arg(conditions.memoryClockMhz));
  }
  if (conditions.temperatureCelsius > 0) {
    parts.push_back(tr("%1 °C").arg(conditions.temperatureCelsius));
  }
  if (conditions.powerWatts > 0.0) {
    parts.push_back(tr("%1 W").arg(QString::number(conditions.powerWatts, 'f', 0)));
  }
  QStringList reasons;
  for (const std::string& reason : conditions.throttleReasons) {
    reasons.push_back(toQString(reason));
  }
  if (!reasons.isEmpty()) {
    parts.push_back(tr("throttled: %1").arg(reasons.join(u", "_s)));
  }
  return parts.join(u", "_s);
}

QString stopText(const domain::Timing& timing) {
  const QString samples = timing.samples == 1 ? tr("1 sample") : tr("%1 samples").arg(formatCount(timing.samples));
  const std::string why(domain::stopTitle(timing.stopReason));
  return why.empty() ? samples : tr("%1 (%2)").arg(samples, tr(why.c_str()));
}

QStringList noiseReasons(const domain::Timing& timing) {
  QStringList reasons;
  const DeltaInterval time{timing.medianNs, timing.lowNs, timing.highNs};
  if (time.relativeHalfWidth() > kNoisy) {
    reasons.push_back(tr("the interval of the median is ±%1").arg(formatPercent(time.relativeHalfWidth())));
  }
  if (timing.samples > 0 && timing.repeated > kManyRepeated * timing.samples) {
    reasons.push_back(
        tr("%1 samples were measured again because the device was throttled or shared").arg(timing.repeated));
  }
  for (const std::string& reason : timing.conditions.throttleReasons) {
    reasons.push_back(tr("the device was throttled: %1").arg(toQString(reason)));
  }
  return reasons;
}

QStringList profileRemarks(const services::ProfileReport& report) {
  QStringList remarks;
  const domain::Diagnosis& diagnosis = report.diagnosis;
  if (diagnosis.kernelsNs > kMuchSlower * diagnosis.candidateNs && diagnosis.candidateNs > 0.0) {
    remarks.push_back(tr("The kernels took %1 in the profile, but the candidate was measured at %2. The profile ran at "
                         "another moment, on a device that was busier or slower: compare its shares, not its times.")
                          .arg(formatTime(diagnosis.kernelsNs), formatTime(diagnosis.candidateNs)));
  }
  if (diagnosis.copyShare.value_or(0.0) > 1.0) {
    remarks.push_back(tr("It reaches %1 of a copy's bandwidth: a part of its data stays in the caches, or the copy was "
                         "measured when the device was slower.")
                          .arg(formatPercent(*diagnosis.copyShare)));
  }
  return remarks;
}

QString whyNoProfile(const services::CandidateDetail& detail) {
  if (!detail.program.plan.steps.empty() && !detail.program.plan.hasKernels()) {
    return tr("It runs PyTorch's operators and has no kernel of its own: there is nothing to profile.");
  }
  if (detail.evaluation) {
    if (const auto* duplicate = std::get_if<domain::Duplicate>(&*detail.evaluation)) {
      return tr("It is a duplicate of candidate %1: profile that one.").arg(duplicate->of.value());
    }
    if (std::holds_alternative<domain::CompileFailed>(*detail.evaluation)) {
      return tr("Compilation failed: there is nothing to profile.");
    }
    if (std::holds_alternative<domain::Rejected>(*detail.evaluation)) {
      return tr("It was rejected before it was compiled: there is nothing to profile.");
    }
  }
  return detail.kernels.empty() ? tr("It was not compiled yet: there is nothing to profile.") : QString();
}

QList<ProcessorFact> processorFacts(const domain::ProcessorUse& use) {
  QList<ProcessorFact> facts;
  const auto add = [&facts](const QString& name, const QString& value, const QString& meaning) {
    facts.push_back({name, value, meaning});
  };
  if (use.vectorBits) {
    add(tr("Vector width"), *use.vectorBits > 0 ? tr("%1 bits").arg(*use.vectorBits) : tr("scalar"),
        tr("Of the widest vector instructions in its loops"));
  }
  if (use.threadsBusy) {
    add(tr("Threads at work"), QString::number(*use.threadsBusy, 'f', 1),
        tr("How many threads are in the kernel at a time, by samples"));
  }
  if (use.waitingShare) {
    add(tr("Waiting for threads"), formatPercent(*use.waitingShare),
        tr("Of the samples: threads that wait for others or for work"));
  }
  if (use.instructionsPerCycle) {
    add(tr("Instructions per cycle"), QString::number(*use.instructionsPerCycle, 'f', 2),
        tr("Processors can begin four to six; below one they mostly wait"));
  }
  if (use.clockHz) {
    add(tr("Clock"), tr("%1 GHz").arg(*use.clockHz * 1e-9, 0, 'f', 2), tr("Cycles over the time of its threads"));
  }
  if (use.stalledShare) {
    add(tr("Stalled cycles"), formatPercent(*use.stalledShare),
        tr("Share of cycles in which the processor waited for data or for an arithmetic unit"));
  }
  if (use.l1MissShare) {
    add(tr("L1 misses"), formatPercent(*use.l1MissShare), tr("Of the loads"));
  }
  if (use.memoryBytes) {
    add(tr("Beyond the caches"), formatBytes(*use.memoryBytes),
        tr("Cache misses, a line of 64 bytes each. On AMD processors these are misses of the second level."));
  }
  if (use.missesPerElement) {
    add(tr("Misses per element"), QString::number(*use.missesPerElement, 'g', 2),
        tr("Cache misses by elements of the task's inputs and outputs; 0.06 is one for each line of floats"));
  }
  if (use.branchMissShare) {
    add(tr("Branch misses"), formatPercent(*use.branchMissShare), tr("Of the branches"));
  }
  if (use.pageFaults && *use.pageFaults > 0.0) {
    add(tr("Page faults"), formatCount(static_cast<std::int64_t>(*use.pageFaults)),
        tr("Pages of memory that the system had to provide during one launch"));
  }
  return facts;
}

}  // namespace swage::ui
