// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profile_view.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/models/format.h"
#include "ui/models/profile_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("profile", text);
}

// In points: of shares, "+12 %" would be read as a part of the other share.
QString pointsText(double share, const std::optional<double>& reference) {
  if (!reference) {
    return {};
  }
  const double points = 100.0 * (share - *reference);
  const QString number = QString::number(std::abs(points), 'f', 0);
  return number == u"0"_s ? u"±0"_s : QString((points < 0.0 ? u"−"_s : u"+"_s) % number);
}

Bar shareBar(const QString& label, double share, const std::optional<double>& reference, const QString& tooltip = {}) {
  return {label, share, formatPercent(share), reference, pointsText(share, reference), tooltip};
}

template <class List, class Matches>
auto* find(List& list, Matches matches) {
  const auto found = std::find_if(list.begin(), list.end(), matches);
  return found == list.end() ? nullptr : &*found;
}

double metric(const domain::KernelProfile& profile, std::string_view name) {
  const auto* found = find(profile.metrics, [name](const auto& one) { return one.name == name; });
  return found != nullptr ? found->value : 0.0;
}

// What the task's products are worth, or, where it has none, what the counters saw.
double operationsOf(const domain::Diagnosis& diagnosis) {
  if (diagnosis.taskOperations > 0.0) {
    return diagnosis.taskOperations;
  }
  double operations = 0.0;
  for (const domain::KernelDiagnosis& kernel : diagnosis.kernels) {
    operations += kernel.roofline ? kernel.roofline->flopsPerSecond * kernel.totalNs * 1e-9 : 0.0;
  }
  return operations;
}

void addCounted(std::vector<RooflinePoint>& points, const domain::Diagnosis& diagnosis, const QString& name,
                RooflinePoint::Role role) {
  for (const domain::KernelDiagnosis& kernel : diagnosis.kernels) {
    if (kernel.roofline) {
      const QString title = diagnosis.kernels.size() > 1 ? QString(name % u": "_s % toQString(kernel.entry)) : name;
      points.push_back({title, kernel.roofline->flopsPerByte, kernel.roofline->flopsPerSecond, role, true});
    }
  }
}

}  // namespace

const domain::KernelDiagnosis* counterpart(const PinnedNumbers* pinned, const domain::KernelDiagnosis& kernel) {
  if (pinned == nullptr || !pinned->report) {
    return nullptr;
  }
  const auto& kernels = pinned->report->diagnosis.kernels;
  const auto* same = find(kernels, [&kernel](const auto& one) { return one.entry == kernel.entry; });
  return same != nullptr ? same : kernels.size() == 1 ? kernels.data() : nullptr;
}

std::vector<Bar> unitBars(const domain::KernelDiagnosis& kernel, const domain::KernelDiagnosis* pinned) {
  std::vector<Bar> bars;
  for (const domain::UnitUse& use : kernel.units) {
    const auto* other =
        pinned != nullptr ? find(pinned->units, [&use](const auto& one) { return one.unit == use.unit; }) : nullptr;
    bars.push_back(
        shareBar(unitName(use.unit), use.share, other != nullptr ? std::optional(other->share) : std::nullopt));
  }
  return bars;
}

std::vector<Bar> stallBars(const domain::KernelDiagnosis& kernel, const domain::KernelDiagnosis* pinned) {
  std::vector<Bar> bars;
  for (const domain::ProfileMetric& stall : kernel.stalls) {
    const auto* other = pinned != nullptr
                            ? find(pinned->stalls, [&stall](const auto& one) { return one.name == stall.name; })
                            : nullptr;
    std::optional<double> reference;
    if (pinned != nullptr && !pinned->stalls.empty()) {
      reference = other != nullptr ? other->value : 0.0;  // reasons that did not occur are left out of the list
    }
    bars.push_back(shareBar(stallName(stall.name), stall.value, reference, stallMeaning(stall.name)));
  }
  return bars;
}

std::vector<Bar> occupancyBars(const domain::KernelProfile& profile, const domain::KernelDiagnosis& kernel,
                               const domain::KernelDiagnosis* pinned) {
  std::vector<Bar> bars;
  if (kernel.achievedOccupancy) {
    bars.push_back(shareBar(tr("Achieved"), *kernel.achievedOccupancy,
                            pinned != nullptr ? pinned->achievedOccupancy : std::nullopt,
                            tr("Resident warps on average, of the most a multiprocessor holds")));
  }
  if (profile.theoreticalOccupancy > 0.0) {
    bars.push_back(shareBar(tr("Possible"), profile.theoreticalOccupancy, std::nullopt,
                            tr("What registers, shared memory and block size allow")));
  }
  return bars;
}

QString occupancyLimits(const domain::KernelProfile& profile) {
  if (profile.occupancyLimiter.empty()) {
    return {};
  }
  const std::pair<const char*, QString> limits[] = {
      {"launch__occupancy_limit_registers", tr("registers allow %1")},
      {"launch__occupancy_limit_shared_mem", tr("shared memory %1")},
      {"launch__occupancy_limit_warps", tr("warps %1")},
      {"launch__occupancy_limit_blocks", tr("the hardware %1")},
  };
  QStringList parts;
  for (const auto& [name, text] : limits) {
    if (const double blocks = metric(profile, name); blocks > 0.0) {
      parts.push_back(text.arg(formatCount(static_cast<std::int64_t>(blocks))));
    }
  }
  const QString limiter = tr("Limited by %1").arg(toQString(profile.occupancyLimiter));
  return parts.isEmpty() ? limiter : tr("%1. Blocks on a multiprocessor: %2").arg(limiter, parts.join(u", "_s));
}

MemoryLevels memoryLevels(const domain::KernelDiagnosis& kernel, double taskBytes) {
  const auto use = [&kernel](domain::HardwareUnit unit) {
    const auto* found = find(kernel.units, [unit](const auto& one) { return one.unit == unit; });
    return found != nullptr ? std::optional(found->share) : std::nullopt;
  };
  return {kernel.traffic, use(domain::HardwareUnit::L1), use(domain::HardwareUnit::L2),
          use(domain::HardwareUnit::DeviceMemory), taskBytes};
}

std::vector<RooflinePoint> rooflinePoints(const RooflineInput& input) {
  const domain::Diagnosis& diagnosis = input.report.diagnosis;
  const double operations = operationsOf(diagnosis);
  const double intensity = diagnosis.taskBytes > 0.0 ? operations / diagnosis.taskBytes : 0.0;
  std::vector<RooflinePoint> points;
  const auto addTimed = [&](const QString& name, double timeNs, RooflinePoint::Role role) {
    if (timeNs > 0.0) {
      points.push_back({name, intensity, operations / (timeNs * 1e-9), role, false});
    }
  };
  const QString name = tr("candidate %1").arg(input.report.candidate.value());
  addCounted(points, diagnosis, name, RooflinePoint::Role::Candidate);
  if (points.empty()) {
    addTimed(name, diagnosis.candidateNs, RooflinePoint::Role::Candidate);
  }
  if (input.pinned && input.pinned->report) {
    addCounted(points, input.pinned->report->diagnosis, input.pinned->name, RooflinePoint::Role::Pinned);
  } else if (input.pinned && input.pinned->detail) {
    addTimed(input.pinned->name, input.pinned->time.median, RooflinePoint::Role::Pinned);
  }
  for (const domain::Baseline& baseline : input.baselines) {
    addTimed(toQString(baseline.mode), baseline.timing.medianNs, RooflinePoint::Role::Baseline);
  }
  for (const services::CellSummary& cell : input.cells) {
    if (cell.state == services::CellSummary::State::Filled && cell.best != input.report.candidate) {
      addTimed(tr("best of %1").arg(toQString(cell.cell.name())), cell.bestTimeNs, RooflinePoint::Role::Elite);
    }
  }
  return points;
}

std::vector<SampleRow> sampleRows(const services::CandidateDetail& detail) {
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  if (correct == nullptr) {
    return {};
  }
  const domain::PairedTiming& timing = correct->timing;
  return {
      {tr("this candidate"), timing.candidate.sequenceNs, intervalOf(timing.candidate), TimingLine::Role::Candidate},
      {tr("eager (interleaved)"), timing.eager.sequenceNs, intervalOf(timing.eager), TimingLine::Role::Other}};
}

std::vector<TimingLine> timingLines(const services::CandidateDetail& detail, const std::optional<PinnedNumbers>& pinned,
                                    const std::vector<domain::Baseline>& baselines) {
  std::vector<TimingLine> lines;
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  if (correct == nullptr) {
    return lines;
  }
  const domain::PairedTiming& timing = correct->timing;
  lines.push_back(
      {tr("this candidate"), intervalOf(timing.candidate), timing.candidate.minNs, TimingLine::Role::Candidate});
  if (timing.eager.samples > 0) {
    lines.push_back({tr("eager (interleaved)"), intervalOf(timing.eager), timing.eager.minNs, TimingLine::Role::Other});
  }
  if (pinned && pinned->detail && pinned->detail->row.id != detail.row.id) {
    lines.push_back({pinned->name, pinned->time, pinned->leastNs, TimingLine::Role::Pinned});
  }
  for (const domain::Baseline& baseline : baselines) {
    if (baseline.timing.medianNs > 0.0) {
      const QString name = toQString(baseline.mode);
      const bool isPinned = pinned && !pinned->detail && pinned->name == name;
      lines.push_back({name, intervalOf(baseline.timing), baseline.timing.minNs,
                       isPinned ? TimingLine::Role::Pinned : TimingLine::Role::Other});
    }
  }
  return lines;
}

}  // namespace swage::ui
