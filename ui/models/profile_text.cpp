// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/profile_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

#include "ui/models/delta.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::Bound;
using domain::FindingKind;
using domain::HardwareUnit;

constexpr double kNoisy = 0.02;        // half the interval over the median
constexpr double kManyRepeated = 0.1;  // of the samples

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
             ? tr("Only %1 of the warps are resident, less than fit: the grid is small or ends unevenly").arg(measured)
             : tr("Only %1 of the warps are resident: %2 limit them").arg(measured, toQString(finding.detail));
}

QString findingWords(const domain::Finding& finding) {
  switch (finding.kind) {
    case FindingKind::Stall:
      return tr("Warps spend %1 of their time on %2")
          .arg(formatPercent(finding.measured),
               stallName(finding.detail) % u" ("_s % stallMeaning(finding.detail) % u")"_s);
    case FindingKind::ExtraTraffic:
      return tr("Device memory moves %1× the bytes that the task needs").arg(QString::number(finding.measured, 'f', 2));
    case FindingKind::PartialSectors:
      return tr("Loads use %1 of the bytes that they fetch: neighbouring threads read apart")
          .arg(formatPercent(finding.measured));
    case FindingKind::Occupancy: return occupancyText(finding);
    case FindingKind::Divergence:
      return tr("Only %1 of the branches are taken by whole warps").arg(formatPercent(finding.measured));
    case FindingKind::Spills:
      return tr("%1 bytes of registers are spilled to memory")
          .arg(formatCount(static_cast<std::int64_t>(finding.measured)));
    case FindingKind::OutsideKernels:
      return tr("%1 of the time passes outside of its kernels: PyTorch's operators, launches and gaps")
          .arg(formatPercent(finding.measured));
  }
  return {};
}

}  // namespace

QString headline(const domain::Diagnosis& diagnosis) {
  switch (diagnosis.bound) {
    case Bound::Unknown: return tr("Not counted: what bounds it is not known");
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
    case domain::ProfileSource::Compiler: return tr("compiler facts");
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
    parts.push_back(tr("held back by %1").arg(reasons.join(u", "_s)));
  }
  return parts.join(u", "_s);
}

QStringList noiseReasons(const domain::Timing& timing) {
  QStringList reasons;
  const Interval time{timing.medianNs, timing.lowNs, timing.highNs};
  if (time.relativeHalfWidth() > kNoisy) {
    reasons.push_back(tr("the interval of the median is ±%1").arg(formatPercent(time.relativeHalfWidth())));
  }
  if (timing.samples > 0 && timing.repeated > kManyRepeated * timing.samples) {
    reasons.push_back(
        tr("%1 samples were measured again because the device was throttled or shared").arg(timing.repeated));
  }
  for (const std::string& reason : timing.conditions.throttleReasons) {
    reasons.push_back(tr("the device was held back by %1").arg(toQString(reason)));
  }
  return reasons;
}

TrustText describeAssurance(const domain::Assurance& assurance) {
  return {toQString(domain::name(assurance.kind)), toQString(assurance.detail), assurance.verdict};
}

}  // namespace swage::ui
