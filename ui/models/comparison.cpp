// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "core/domain/source_parameters.h"
#include "ui/models/format.h"
#include "ui/models/pinned_baseline.h"
#include "ui/models/plan_model.h"
#include "ui/models/quantity.h"
#include "ui/models/text_diff.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("comparison", text);
}

QString none() {
  return u"–"_s;
}

const domain::Correct* correctOf(const ComparedCandidate& candidate) {
  return candidate.detail.evaluation ? domain::asCorrect(*candidate.detail.evaluation) : nullptr;
}

// A number of each candidate: how it reads, and which is better. No value where a candidate does not have it.
struct Metric {
  const char* name;
  std::function<std::optional<double>(const ComparedCandidate&)> value;
  std::function<QString(double)> text;
  Preference preference = Preference::Lower;
  bool inSummary = false;
  bool isSpeed = false;  // follows from the time, and so does who is better
};

template <class Value>
std::optional<double> sumOfKernels(const ComparedCandidate& candidate, Value value) {
  if (candidate.detail.kernels.empty()) {
    return std::nullopt;
  }
  double sum = 0.0;
  for (const domain::KernelFacts& kernel : candidate.detail.kernels) {
    sum += static_cast<double>(value(kernel));
  }
  return sum;
}

std::optional<double> positive(double value) {
  return value > 0.0 ? std::optional(value) : std::nullopt;
}

const domain::KernelDiagnosis* largestKernel(const ComparedCandidate& candidate) {
  if (!candidate.report || candidate.report->diagnosis.kernels.empty()) {
    return nullptr;
  }
  const auto& kernels = candidate.report->diagnosis.kernels;
  return &*std::max_element(kernels.begin(), kernels.end(),
                            [](const auto& a, const auto& b) { return a.share < b.share; });
}

std::optional<double> achievedOccupancy(const ComparedCandidate& candidate) {
  const domain::KernelDiagnosis* kernel = largestKernel(candidate);
  return kernel != nullptr ? kernel->achievedOccupancy : std::nullopt;
}

// Of all launches in one call.
std::optional<double> deviceMemoryBytes(const ComparedCandidate& candidate) {
  if (!candidate.report) {
    return std::nullopt;
  }
  double bytes = 0.0;
  const auto& kernels = candidate.report->diagnosis.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const domain::MemoryTraffic& traffic = kernels[i].traffic;
    if (!traffic.bytesRead || !traffic.bytesWritten) {
      return std::nullopt;
    }
    bytes += (*traffic.bytesRead + *traffic.bytesWritten) * candidate.report->profile.kernels[i].launches;
  }
  return positive(bytes);
}

QString countText(double value) {
  return formatCount(static_cast<std::int64_t>(value));
}

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> kMetrics = {
      {QT_TRANSLATE_NOOP("comparison", "Against the fastest baseline"),
       [](const auto& one) { return positive(one.detail.row.speedup.value); },
       [](double value) { return formatSpeedup(value); }, Preference::Higher, false, true},
      {QT_TRANSLATE_NOOP("comparison", "% of roofline"),
       [](const auto& one) { return positive(one.detail.row.roofShare); }, formatPercent, Preference::Higher, false,
       true},
      {QT_TRANSLATE_NOOP("comparison", "Relative error"),
       [](const auto& one) {
         return correctOf(one) != nullptr ? std::optional(one.detail.row.relativeError) : std::nullopt;
       },
       formatError, Preference::Neither},
      {QT_TRANSLATE_NOOP("comparison", "Launches"),
       [](const auto& one) { return std::optional<double>(one.detail.program.plan.launchCount()); }, countText,
       Preference::Lower},
      {QT_TRANSLATE_NOOP("comparison", "Registers per thread"),
       [](const auto& one) { return positive(one.detail.row.registers); }, countText, Preference::Neither, true},
      {QT_TRANSLATE_NOOP("comparison", "Spilled bytes"),
       [](const auto& one) { return sumOfKernels(one, [](const auto& kernel) { return kernel.spillBytes; }); },
       countText, Preference::Lower},
      {QT_TRANSLATE_NOOP("comparison", "Static shared memory"),
       [](const auto& one) { return sumOfKernels(one, [](const auto& kernel) { return kernel.staticSharedBytes; }); },
       formatBytes, Preference::Neither, true},
      {QT_TRANSLATE_NOOP("comparison", "Achieved occupancy"), achievedOccupancy, formatPercent, Preference::Neither,
       true},
      {QT_TRANSLATE_NOOP("comparison", "Device memory traffic"), deviceMemoryBytes, formatBytes, Preference::Lower},
  };
  return kMetrics;
}

QString textOf(const Metric& metric, const ComparedCandidate& candidate) {
  const auto value = metric.value(candidate);
  return value ? metric.text(*value) : none();
}

template <class Text>
ComparisonRow rowOf(const Comparison& comparison, const char* name, Text text) {
  return {tr(name),
          comparison.ancestor ? text(*comparison.ancestor) : QString(),
          text(comparison.left),
          text(comparison.right),
          {}};
}

void appendMetric(std::vector<ComparisonRow>& rows, const Comparison& comparison, const Metric& metric) {
  const auto left = metric.value(comparison.left);
  const auto right = metric.value(comparison.right);
  if (!left && !right) {
    return;
  }
  ComparisonRow row = rowOf(comparison, metric.name, [&metric](const auto& one) { return textOf(metric, one); });
  if (left && right) {
    row.delta = compareValues(*right, *left, metric.preference);
    row.delta.verdict = metric.isSpeed ? verdictOf(comparison) : row.delta.verdict;
  }
  rows.push_back(std::move(row));
}

QString timeText(const ComparedCandidate& candidate) {
  const services::CandidateRow& row = candidate.detail.row;
  return formatInterval(row.timeNs, row.lowNs, row.highNs);
}

DeltaInterval againstEager(const ComparedCandidate& candidate) {
  const domain::Correct* correct = correctOf(candidate);
  if (correct == nullptr || correct->timing.eager.samples == 0) {
    return {};
  }
  return {correct->timing.speedup, correct->timing.speedupLow, correct->timing.speedupHigh};
}

QString againstEagerText(const ComparedCandidate& candidate) {
  const DeltaInterval speedup = againstEager(candidate);
  return speedup.isKnown()
             ? tr("%1 (%2 to %3)")
                   .arg(formatSpeedup(speedup.median), formatSpeedup(speedup.low), formatSpeedup(speedup.high))
             : none();
}

QString runName(const ComparedCandidate& candidate) {
  const QString run = u"r"_s % QString::number(candidate.detail.row.run.value());
  return candidate.from.project.isEmpty() ? run : candidate.from.project % u" / "_s % run;
}

QString accuracyText(const ComparedCandidate& candidate) {
  const domain::Correct* correct = correctOf(candidate);
  return correct != nullptr ? toQString(domain::name(correct->accuracy)) : none();
}

QString rewritesText(const ComparedCandidate& candidate) {
  QStringList texts;
  for (const domain::Rewrite& rewrite : candidate.detail.genome.value_or(domain::Genome()).rewrites) {
    texts.push_back(toQString(domain::describe(rewrite)));
  }
  return texts.isEmpty() ? none() : texts.join(u"; "_s);
}

QString nodesText(const std::vector<int>& nodes) {
  QStringList texts;
  for (const int node : nodes) {
    texts.push_back(QString::number(node));
  }
  return texts.join(u' ');
}

const domain::RegionGene* regionOf(const std::optional<domain::Genome>& genome, const std::vector<int>& nodes) {
  if (!genome) {
    return nullptr;
  }
  const auto found = std::find_if(genome->regions.begin(), genome->regions.end(),
                                  [&nodes](const auto& region) { return region.nodes == nodes; });
  return found == genome->regions.end() ? nullptr : &*found;
}

QString parameterText(const domain::RegionGene* region, const std::string& name) {
  const auto found = region != nullptr ? region->parameters.find(name) : decltype(region->parameters.end()){};
  return region != nullptr && found != region->parameters.end() ? QString::number(found->second) : none();
}

struct RegionRows {
  const Comparison& comparison;

  void append(std::vector<ComparisonRow>& rows, const std::vector<int>& nodes) const {
    const domain::RegionGene* left = regionOf(comparison.left.detail.genome, nodes);
    const domain::RegionGene* right = regionOf(comparison.right.detail.genome, nodes);
    const domain::RegionGene* ancestor =
        comparison.ancestor ? regionOf(comparison.ancestor->detail.genome, nodes) : nullptr;
    const auto pattern = [](const domain::RegionGene* region) {
      return region != nullptr ? toQString(region->pattern) : none();
    };
    rows.push_back(
        {tr("Nodes %1: pattern").arg(nodesText(nodes)), pattern(ancestor), pattern(left), pattern(right), {}});
    std::set<std::string> names;
    for (const domain::RegionGene* region : {left, right}) {
      for (const auto& [name, value] : region != nullptr ? region->parameters : decltype(region->parameters){}) {
        names.insert(name);
      }
    }
    for (const std::string& name : names) {
      rows.push_back({u"    "_s % toQString(name),
                      parameterText(ancestor, name),
                      parameterText(left, name),
                      parameterText(right, name),
                      {}});
    }
  }
};

QString stepName(const PlanRow& row) {
  return row.name.isEmpty() ? row.kind : QString(row.kind % u' ' % row.name);
}

QString stepText(const PlanRow& row) {
  QStringList parts;
  for (const QString& part :
       {row.geometry, row.shared.isEmpty() ? QString() : tr("%1 bytes shared").arg(row.shared), row.arguments}) {
    if (!part.isEmpty()) {
      parts.push_back(part);
    }
  }
  return parts.join(u"; "_s);
}

QString stepNames(const std::vector<PlanRow>& rows) {
  QString names;
  for (const PlanRow& row : rows) {
    names += stepName(row) % u'\n';
  }
  return names;
}

ComparisonRow stepRow(const PlanRow* left, const PlanRow* right) {
  const auto text = [](const PlanRow* row) { return row != nullptr ? stepText(*row) : none(); };
  return {stepName(left != nullptr ? *left : *right), {}, text(left), text(right), {}};
}

// Of candidates of different runs, where they come from.
void appendOrigins(std::vector<ComparisonRow>& rows, const Comparison& comparison) {
  const ComparedCandidate& left = comparison.left;
  const ComparedCandidate& right = comparison.right;
  if (left.run.id == right.run.id && left.from.project == right.from.project) {
    return;
  }
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Run"), runName));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Task"),
                       [](const auto& one) { return toQString(one.run.taskName); }));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Device"),
                       [](const auto& one) { return toQString(one.run.deviceName); }));
}

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
constexpr std::array<ColumnInfo, 6> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "What"), ""},
    {QT_TRANSLATE_NOOP("columns", "Ancestor"), QT_TRANSLATE_NOOP("columns", "The youngest that both descend from")},
    {QT_TRANSLATE_NOOP("columns", "A"), QT_TRANSLATE_NOOP("columns", "The candidate on the left")},
    {QT_TRANSLATE_NOOP("columns", "B"), QT_TRANSLATE_NOOP("columns", "The candidate on the right")},
    {QT_TRANSLATE_NOOP("columns", "B − A"), QT_TRANSLATE_NOOP("columns", "Relative to A"), kRight},
    {QT_TRANSLATE_NOOP("columns", "B is"),
     QT_TRANSLATE_NOOP("columns", "Whether the 95 % intervals of A and B lie apart")},
}};

}  // namespace

Result<Comparison> loadComparison(const ComparisonServices& services, const CandidateRef& left,
                                  const CandidateRef& right) {
  const auto load = [&services](const CandidateRef& from) -> Result<ComparedCandidate> {
    const services::RecordService& record = from.record ? *from.record : services.record;
    ComparedCandidate candidate{.detail = {}, .report = {}, .from = from, .run = {}};
    SWAGE_TRY_ASSIGN(candidate.detail, record.candidate(from.id));
    // Of an edited source the record has the parameters of its parent.
    candidate.detail.genome =
        domain::withSourceParameters(std::move(candidate.detail.genome), candidate.detail.program.source);
    if (auto run = record.run(candidate.detail.row.run)) {
      candidate.run = std::move(*run);
    }
    if (!from.record) {
      SWAGE_TRY_ASSIGN(candidate.report, services.profiles.report(from.id));
    }
    return candidate;
  };
  Comparison comparison;
  SWAGE_TRY_ASSIGN(comparison.left, load(left));
  SWAGE_TRY_ASSIGN(comparison.right, load(right));
  if (left.record || right.record) {
    return comparison;
  }
  SWAGE_TRY_ASSIGN(const std::optional<domain::CandidateId> ancestor,
                   services.compare.commonAncestor(left.id, right.id));
  if (ancestor && *ancestor != left.id && *ancestor != right.id) {
    SWAGE_TRY_ASSIGN(comparison.ancestor, load(*ancestor));
  }
  return comparison;
}

QString obstacleOf(const Comparison& comparison) {
  const services::RunSummary& left = comparison.left.run;
  const services::RunSummary& right = comparison.right.run;
  const auto differ = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
  if (differ(left.taskName, right.taskName)) {
    return tr("other tasks");
  }
  return differ(left.deviceName, right.deviceName) ? tr("other devices") : QString();
}

Verdict verdictOf(const Comparison& comparison) {
  const services::CandidateRow& left = comparison.left.detail.row;
  const services::CandidateRow& right = comparison.right.detail.row;
  if (!obstacleOf(comparison).isEmpty()) {
    return Verdict::Unknown;
  }
  const Verdict times = compareTimes(intervalOf(right), intervalOf(left)).verdict;
  const auto interval = [](const domain::Speedup& speedup) {
    return DeltaInterval{speedup.value, speedup.low, speedup.high};
  };
  const Verdict speedups =
      compareIntervals(interval(right.speedup), interval(left.speedup), Preference::Higher).verdict;
  return speedups == Verdict::Unknown || times == Verdict::Unknown || speedups == times ? times : Verdict::Undecided;
}

Delta timeDelta(const Comparison& comparison) {
  Delta delta = compareTimes(intervalOf(comparison.right.detail.row), intervalOf(comparison.left.detail.row));
  delta.verdict = verdictOf(comparison);
  if (delta.verdict == Verdict::Unknown) {
    delta.relative.reset();
  }
  return delta;
}

std::vector<ComparisonRow> compareMetrics(const Comparison& comparison) {
  std::vector<ComparisonRow> rows;
  appendOrigins(rows, comparison);
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Status"),
                       [](const auto& one) { return toQString(domain::name(one.detail.row.status)); }));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Time"), timeText));
  rows.back().delta = timeDelta(comparison);
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Against eager"), againstEagerText));
  rows.back().delta =
      compareIntervals(againstEager(comparison.right), againstEager(comparison.left), Preference::Higher);
  if (rows.back().delta.verdict != Verdict::Unknown) {
    rows.back().delta.verdict = verdictOf(comparison);
  }
  for (const Metric& metric : metrics()) {
    appendMetric(rows, comparison, metric);
  }
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Accuracy class"), accuracyText));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Cell"), [](const auto& one) {
    return one.detail.row.cell ? toQString(one.detail.row.cell->name()) : none();
  }));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Made by"),
                       [](const auto& one) { return toQString(domain::name(one.detail.row.madeBy)); }));
  rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Found after"),
                       [](const auto& one) { return formatDuration(one.detail.row.elapsedSeconds); }));
  return rows;
}

std::vector<ComparisonRow> compareGenomes(const Comparison& comparison) {
  std::vector<std::vector<int>> regions;
  bool isRewritten = false;
  for (const auto* genome : {&comparison.left.detail.genome, &comparison.right.detail.genome}) {
    const domain::Genome known = genome->value_or(domain::Genome());
    isRewritten = isRewritten || !known.rewrites.empty();
    for (const domain::RegionGene& region : known.regions) {
      if (std::find(regions.begin(), regions.end(), region.nodes) == regions.end()) {
        regions.push_back(region.nodes);
      }
    }
  }
  std::sort(regions.begin(), regions.end());
  std::vector<ComparisonRow> rows;
  if (isRewritten) {
    rows.push_back(rowOf(comparison, QT_TRANSLATE_NOOP("comparison", "Rewritten"), rewritesText));
  }
  for (const std::vector<int>& nodes : regions) {
    RegionRows{comparison}.append(rows, nodes);
  }
  return rows;
}

std::vector<ComparisonRow> comparePlans(const Comparison& comparison) {
  const std::vector<PlanRow> left = planRows(comparison.left.detail.program.plan);
  const std::vector<PlanRow> right = planRows(comparison.right.detail.program.plan);
  const TextDiff diff = diffTexts(stepNames(left), stepNames(right));
  std::vector<ComparisonRow> rows;
  std::size_t atLeft = 0;
  std::size_t atRight = 0;
  const auto appendPairs = [&](std::size_t end) {
    for (; atLeft < end; ++atLeft, ++atRight) {
      rows.push_back(stepRow(&left[atLeft], &right[atRight]));
    }
  };
  for (const DiffChunk& chunk : diff.chunks) {
    appendPairs(static_cast<std::size_t>(chunk.left.first));
    for (; atLeft < static_cast<std::size_t>(chunk.left.end()); ++atLeft) {
      rows.push_back(stepRow(&left[atLeft], nullptr));
    }
    for (; atRight < static_cast<std::size_t>(chunk.right.end()); ++atRight) {
      rows.push_back(stepRow(nullptr, &right[atRight]));
    }
  }
  appendPairs(left.size());
  return rows;
}

QString comparisonSummary(const Comparison& comparison) {
  QStringList parts;
  const QString left = timeText(comparison.left);
  const QString right = timeText(comparison.right);
  const Delta delta = timeDelta(comparison);
  if (const QString text = formatDelta(delta); !text.isEmpty()) {
    parts.push_back(tr("%1 → %2 (%3)").arg(left, right, text));
  } else {
    parts.push_back(tr("%1 → %2").arg(left, right));
  }
  for (const Metric& metric : metrics()) {
    const auto before = metric.value(comparison.left);
    const auto after = metric.value(comparison.right);
    if (metric.inSummary && before && after && *before + *after > 0.0) {
      parts.push_back(u"%1 %2 → %3"_s.arg(tr(metric.name).toLower(), textOf(metric, comparison.left),
                                          textOf(metric, comparison.right)));
    }
  }
  return parts.join(u" · "_s);
}

void ComparisonModel::setRows(std::vector<ComparisonRow> rows) {
  beginResetModel();
  m_rows = std::move(rows);
  choose();
  endResetModel();
}

void ComparisonModel::showOnlyDifferences(bool only) {
  beginResetModel();
  m_onlyDifferences = only;
  choose();
  endResetModel();
}

void ComparisonModel::choose() {
  m_shown.clear();
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    if (!m_onlyDifferences || m_rows[i].differs()) {
      m_shown.push_back(i);
    }
  }
}

int ComparisonModel::differenceCount() const {
  return static_cast<int>(std::count_if(m_rows.begin(), m_rows.end(), [](const auto& row) { return row.differs(); }));
}

std::span<const ColumnInfo> ComparisonModel::columns() const {
  return kColumns;
}

QVariant ComparisonModel::cell(int row, ComparisonColumn column, int role) const {
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
    return {};
  }
  const ComparisonRow& shown = m_rows[m_shown[static_cast<std::size_t>(row)]];
  switch (column) {
    case ComparisonColumn::Name: return shown.name;
    case ComparisonColumn::Ancestor: return shown.ancestor;
    case ComparisonColumn::Left: return shown.left;
    case ComparisonColumn::Right: return shown.right;
    case ComparisonColumn::Delta:
      return formatDelta(Delta{shown.delta.verdict == Verdict::Undecided ? Verdict::Unknown : shown.delta.verdict,
                               shown.delta.relative});
    case ComparisonColumn::Verdict: return describe(shown.delta.verdict);
  }
  return {};
}

}  // namespace swage::ui
