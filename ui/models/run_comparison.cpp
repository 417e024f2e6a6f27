// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_comparison.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <functional>

#include "ui/models/format.h"
#include "ui/models/run_words.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::RunSummary;

QString tr(const char* text) {
  return QCoreApplication::translate("runComparison", text);
}

QString none() {
  return u"–"_s;
}

std::int64_t filledCells(const ComparedRun& run) {
  return std::count_if(run.cells.begin(), run.cells.end(),
                       [](const auto& cell) { return cell.state == services::CellSummary::State::Filled; });
}

std::int64_t reachableCells(const ComparedRun& run) {
  return std::count_if(run.cells.begin(), run.cells.end(),
                       [](const auto& cell) { return cell.state != services::CellSummary::State::Unavailable; });
}

double perSecond(const ComparedRun& run) {
  const RunSummary& summary = run.from.run;
  return summary.elapsedSeconds > 0.0 ? static_cast<double>(summary.evaluations) / summary.elapsedSeconds : 0.0;
}

double secondsToBest(const ComparedRun& run) {
  return run.history.empty() ? 0.0 : run.history.back().elapsedSeconds;
}

bool areAlike(const ComparedRun& left, const ComparedRun& right) {
  return left.from.run.taskName == right.from.run.taskName && left.from.run.deviceName == right.from.run.deviceName;
}

class Rows {
 public:
  Rows(const ComparedRun& left, const ComparedRun& right) : m_left(left), m_right(right) {}

  template <class Text>
  void add(const char* name, Text text, const Delta& delta = {}) {
    m_rows.push_back({tr(name), {}, text(m_left), text(m_right), delta});
  }
  // A number of each run; 0: it has none.
  template <class Value>
  void addNumber(const char* name, Value value, const std::function<QString(double)>& text, Preference preference) {
    const double left = value(m_left);
    const double right = value(m_right);
    const auto shown = [&](const ComparedRun& run) { return value(run) > 0.0 ? text(value(run)) : none(); };
    add(name, shown, left > 0.0 && right > 0.0 ? compareValues(right, left, preference) : Delta());
  }
  [[nodiscard]] std::vector<ComparisonRow> take() { return std::move(m_rows); }

 private:
  const ComparedRun& m_left;
  const ComparedRun& m_right;
  std::vector<ComparisonRow> m_rows;
};

void addWhat(Rows& rows) {
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Run"), [](const auto& one) { return shortName(one.from); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Task"),
           [](const auto& one) { return toQString(one.from.run.taskName); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Device"),
           [](const auto& one) { return toQString(one.from.run.deviceName); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Status"),
           [](const auto& one) { return statusWord(one.from.run.status); });
}

void addBest(Rows& rows, const ComparedRun& left, const ComparedRun& right) {
  const auto interval = [](const ComparedRun& run) {
    const domain::Speedup& speedup = run.from.run.bestSpeedup;
    return DeltaInterval{speedup.value, speedup.low, speedup.high};
  };
  const Delta speedups =
      areAlike(left, right) ? compareIntervals(interval(right), interval(left), Preference::Higher) : Delta();
  rows.add(
      QT_TRANSLATE_NOOP("runComparison", "Best speedup"),
      [](const auto& one) {
        return one.from.run.bestSpeedup.isKnown() ? formatSpeedupInterval(one.from.run.bestSpeedup) : none();
      },
      speedups);
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Best time"),
           [](const auto& one) { return formatTime(one.from.run.bestTimeNs); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Fastest baseline"), [](const auto& one) {
    const RunSummary& run = one.from.run;
    return run.baselineNs > 0.0 ? u"%1, %2"_s.arg(toQString(run.baselineMode), formatTime(run.baselineNs)) : none();
  });
  rows.addNumber(
      QT_TRANSLATE_NOOP("runComparison", "% of roofline"), [](const auto& one) { return one.from.run.roofShare; },
      formatShare, areAlike(left, right) ? Preference::Higher : Preference::Neither);
  rows.addNumber(QT_TRANSLATE_NOOP("runComparison", "Time to best"), secondsToBest, formatDuration, Preference::Lower);
}

void addWork(Rows& rows) {
  const auto count = [](double value) { return formatCount(static_cast<std::int64_t>(value)); };
  rows.addNumber(
      QT_TRANSLATE_NOOP("runComparison", "Evaluations"),
      [](const auto& one) { return static_cast<double>(one.from.run.evaluations); }, count, Preference::Neither);
  rows.addNumber(QT_TRANSLATE_NOOP("runComparison", "Evaluations per second"), perSecond, formatRate,
                 Preference::Higher);
  rows.addNumber(
      QT_TRANSLATE_NOOP("runComparison", "Correct"),
      [](const auto& one) { return static_cast<double>(one.from.run.correct); }, count, Preference::Higher);
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Cells filled"),
           [](const auto& one) { return tr("%1 of %2 reachable").arg(filledCells(one)).arg(reachableCells(one)); });
  rows.addNumber(
      QT_TRANSLATE_NOOP("runComparison", "Search time"), [](const auto& one) { return one.from.run.elapsedSeconds; },
      formatDuration, Preference::Neither);
}

void addSettings(Rows& rows) {
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Target"),
           [](const auto& one) { return toQString(one.from.run.target); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Seed"),
           [](const auto& one) { return QString::number(one.from.run.seed); });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Time budget"), [](const auto& one) {
    return one.from.run.timeBudgetSeconds > 0.0 ? editableDuration(one.from.run.timeBudgetSeconds) : none();
  });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Evaluation limit"), [](const auto& one) {
    return one.from.run.maxEvaluations > 0 ? formatCount(one.from.run.maxEvaluations) : none();
  });
  rows.add(QT_TRANSLATE_NOOP("runComparison", "Started"), [](const auto& one) {
    const qint64 at = one.from.run.startedAtMs;
    return at > 0 ? QDateTime::fromMSecsSinceEpoch(at).toString(u"yyyy-MM-dd HH:mm"_s) : none();
  });
}

}  // namespace

Result<ComparedRun> loadRun(const services::RecordService& open, const RunRef& run) {
  const services::RecordService& record = run.record ? *run.record : open;
  ComparedRun compared{.from = run, .history = {}, .cells = {}};
  SWAGE_TRY_ASSIGN(compared.from.run, record.run(run.run.id));
  SWAGE_TRY_ASSIGN(compared.history, record.history(run.run.id));
  SWAGE_TRY_ASSIGN(compared.cells, record.cells(run.run.id, std::nullopt));
  return compared;
}

std::vector<ComparisonRow> compareRuns(const ComparedRun& left, const ComparedRun& right) {
  Rows rows(left, right);
  addWhat(rows);
  addBest(rows, left, right);
  addWork(rows);
  addSettings(rows);
  return rows.take();
}

}  // namespace swage::ui
