// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_table_model.h"

#include <QDateTime>
#include <QFont>

#include <algorithm>
#include <array>

#include "ui/models/format.h"
#include "ui/models/run_words.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::RunSummary;

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
constexpr std::array<ColumnInfo, 12> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Run"), QT_TRANSLATE_NOOP("columns", "Number of the run in the record"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Task"), QT_TRANSLATE_NOOP("columns", "The task")},
    {QT_TRANSLATE_NOOP("columns", "Project"),
     QT_TRANSLATE_NOOP("columns", "Folder of the record; empty: the open one")},
    {QT_TRANSLATE_NOOP("columns", "Device"), QT_TRANSLATE_NOOP("columns", "Device of the measurements")},
    {QT_TRANSLATE_NOOP("columns", "Status"), QT_TRANSLATE_NOOP("columns", "State of the run")},
    {QT_TRANSLATE_NOOP("columns", "Best speedup"),
     QT_TRANSLATE_NOOP("columns", "Against the fastest baseline whose accuracy PyTorch's default settings permit"),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Best time"), QT_TRANSLATE_NOOP("columns", "Median of its best candidate"), kRight},
    {QT_TRANSLATE_NOOP("columns", "% of roofline"),
     QT_TRANSLATE_NOOP("columns", "Of what memory bandwidth and arithmetic allow for this task"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Evaluated"), QT_TRANSLATE_NOOP("columns", "Candidates whose evaluation has ended"),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Correct"), QT_TRANSLATE_NOOP("columns", "Candidates that were correct"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Started"), QT_TRANSLATE_NOOP("columns", "In local time"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Duration"), QT_TRANSLATE_NOOP("columns", "Search time, resumptions included"),
     kRight},
}};

QString displayText(const RunSummary& run, RunColumn column) {
  switch (column) {
    case RunColumn::Id: return u"r"_s % QString::number(run.id.value());
    case RunColumn::Task: return toQString(run.taskName);
    case RunColumn::Project: return {};
    case RunColumn::Device: return toQString(run.deviceName);
    case RunColumn::Status: return statusWord(run.status);
    case RunColumn::Speedup: return formatSpeedupMargin(run.bestSpeedup);
    case RunColumn::Time: return formatTime(run.bestTimeNs);
    case RunColumn::Roof: return run.roofShare > 0.0 ? formatShare(run.roofShare) : QString();
    case RunColumn::Evaluations: return formatCount(run.evaluations);
    case RunColumn::Correct: return formatCount(run.correct);
    case RunColumn::Started:
      return run.startedAtMs > 0 ? QDateTime::fromMSecsSinceEpoch(run.startedAtMs).toString(u"yyyy-MM-dd HH:mm"_s)
                                 : QString();
    case RunColumn::Duration: return formatDuration(run.elapsedSeconds);
  }
  return {};
}

double numberOf(const RunSummary& run, RunColumn column) {
  switch (column) {
    case RunColumn::Speedup: return run.bestSpeedup.low;
    case RunColumn::Time: return run.bestTimeNs;
    case RunColumn::Roof: return run.roofShare;
    case RunColumn::Evaluations: return static_cast<double>(run.evaluations);
    case RunColumn::Correct: return static_cast<double>(run.correct);
    case RunColumn::Started: return static_cast<double>(run.startedAtMs);
    case RunColumn::Duration: return run.elapsedSeconds;
    default: return static_cast<double>(run.id.value());
  }
}

bool comesBefore(const RunRef& first, const RunRef& second, RunColumn column) {
  const RunSummary& a = first.run;
  const RunSummary& b = second.run;
  switch (column) {
    case RunColumn::Project: return first.project < second.project;
    case RunColumn::Task: return a.taskName < b.taskName;
    case RunColumn::Device: return a.deviceName < b.deviceName;
    case RunColumn::Status: return domain::name(a.status) < domain::name(b.status);
    default: return numberOf(a, column) < numberOf(b, column);
  }
}

bool holds(std::string_view key, const std::string& text, const RunSummary& run) {
  if (key == "task" || key == "device") {
    return domain::containsText(key == "task" ? run.taskName : run.deviceName, text);
  }
  if (key == "status") {
    return text == domain::name(run.status) || text == domain::title(run.status);
  }
  if (key == "target") {
    return run.target == text;
  }
  return domain::containsText(run.taskName, text) || domain::containsText(run.deviceName, text);
}

bool holds(std::string_view key, const domain::FilterRange& range, const RunSummary& run) {
  if (key == "speedup" || key == "time") {
    const double value = key == "speedup" ? run.bestSpeedup.value : run.bestTimeNs;
    return value > 0.0 && range.contains(value);
  }
  if (key == "evaluations" || key == "correct") {
    return range.contains(static_cast<double>(key == "correct" ? run.correct : run.evaluations));
  }
  return range.contains(key == "duration" ? run.elapsedSeconds : static_cast<double>(run.id.value()));
}

}  // namespace

bool matches(const domain::Filter& filter, const RunSummary& run) {
  return std::all_of(filter.terms.begin(), filter.terms.end(), [&run](const domain::FilterTerm& term) {
    const bool any = std::any_of(term.values.begin(), term.values.end(), [&](const domain::FilterValue& value) {
      return std::visit([&](const auto& one) { return holds(term.key, one, run); }, value);
    });
    return any != term.negated;
  });
}

void RunTableModel::setRuns(std::vector<RunSummary> runs) {
  std::vector<RunRef> all;
  all.reserve(runs.size());
  for (RunSummary& run : runs) {
    all.push_back({nullptr, {}, std::move(run)});
  }
  setRunsOfProjects(std::move(all));
}

void RunTableModel::setRunsOfProjects(std::vector<RunRef> runs) {
  m_all = std::move(runs);
  list();
}

void RunTableModel::setFilter(const domain::Filter& filter) {
  m_filter = filter;
  list();
}

void RunTableModel::setShownRun(domain::RunId run) {
  m_shown = run;
  if (rows() > 0) {
    Q_EMIT dataChanged(index(0, 0), index(rows() - 1, columnCount() - 1), {Qt::FontRole});
  }
}

void RunTableModel::sort(int column, Qt::SortOrder order) {
  if (column >= 0 && column < columnCount()) {
    m_sort = static_cast<RunColumn>(column);
    m_order = order;
    list();
  }
}

void RunTableModel::list() {
  beginResetModel();
  m_listed.clear();
  std::copy_if(m_all.begin(), m_all.end(), std::back_inserter(m_listed),
               [this](const RunRef& one) { return matches(m_filter, one.run); });
  std::stable_sort(m_listed.begin(), m_listed.end(), [this](const RunRef& a, const RunRef& b) {
    return m_order == Qt::AscendingOrder ? comesBefore(a, b, m_sort) : comesBefore(b, a, m_sort);
  });
  endResetModel();
}

const RunRef* RunTableModel::at(int row) const {
  return row >= 0 && row < rows() ? &m_listed[static_cast<std::size_t>(row)] : nullptr;
}

int RunTableModel::rowOf(domain::RunId run) const {
  const auto found = std::find_if(m_listed.begin(), m_listed.end(),
                                  [run](const RunRef& one) { return one.record == nullptr && one.run.id == run; });
  return found == m_listed.end() ? -1 : static_cast<int>(found - m_listed.begin());
}

std::span<const ColumnInfo> RunTableModel::columns() const {
  return kColumns;
}

QVariant RunTableModel::cell(int row, RunColumn column, int role) const {
  const RunRef& listed = m_listed[static_cast<std::size_t>(row)];
  const RunSummary& run = listed.run;
  const bool isShown = listed.record == nullptr && run.id == m_shown;
  switch (role) {
    case Qt::DisplayRole: return column == RunColumn::Project ? listed.project : displayText(run, column);
    case Qt::ToolTipRole:
      return column == RunColumn::Speedup && !run.baselineMode.empty()
                 ? QVariant(u"%1 %2"_s.arg(toQString(run.baselineMode), formatTime(run.baselineNs)))
                 : QVariant();
    case Qt::FontRole: {
      QFont font;
      font.setBold(isShown);
      return isShown ? QVariant(font) : QVariant();
    }
    case RunIdRole: return static_cast<qlonglong>(run.id.value());
    case StatusRole: return toQString(domain::name(run.status));
    default: return {};
  }
}

}  // namespace swage::ui
