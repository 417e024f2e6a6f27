// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/benchmark_model.h"

#include <QStringList>

#include <array>
#include <limits>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;

constexpr std::array kTaskColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Problem"), QT_TRANSLATE_NOOP("columns", "Level and number"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Name"), QT_TRANSLATE_NOOP("columns", "Name of the problem's file")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Speedup"),
               QT_TRANSLATE_NOOP("columns", "Of the best kernel over PyTorch's fastest way, with its 95 % interval"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Over"),
               QT_TRANSLATE_NOOP("columns", "PyTorch's fastest way to run the problem")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "PyTorch"), QT_TRANSLATE_NOOP("columns", "Time of PyTorch's fastest way"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Kernel"), QT_TRANSLATE_NOOP("columns", "Time of the best kernel"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Accuracy"), QT_TRANSLATE_NOOP("columns", "Accuracy class of the kernel")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Error (eager)"),
               QT_TRANSLATE_NOOP("columns", "Relative error of the kernel against float64, and that of eager PyTorch"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "% of roofline"),
               QT_TRANSLATE_NOOP("columns", "Of what memory bandwidth and arithmetic allow for this problem"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Cell"), QT_TRANSLATE_NOOP("columns", "Cell of the best kernel")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Candidates"),
               QT_TRANSLATE_NOOP("columns", "Candidates of the search, and how many were correct"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Duration"), QT_TRANSLATE_NOOP("columns", "From the import to the verdict"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "KernelBench"),
               QT_TRANSLATE_NOOP("columns", "What KernelBench's own checker says of the exported file")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Remarks"),
               QT_TRANSLATE_NOOP("columns", "What failed, and what a speedup on this problem means")}};

constexpr std::array kSummaryColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Group"), QT_TRANSLATE_NOOP("columns", "Which problems are counted")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Tasks"), QT_TRANSLATE_NOOP("columns", "Problems, failed ones included"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Kernels"),
               QT_TRANSLATE_NOOP("columns", "Problems with a kernel that is at least as exact as PyTorch"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Geometric mean"),
               QT_TRANSLATE_NOOP("columns", "Of the speedups of these kernels"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Median"), QT_TRANSLATE_NOOP("columns", "Of the same"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Above 1×"), QT_TRANSLATE_NOOP("columns", "Share of all problems: fast_1"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Above 1.5×"),
               QT_TRANSLATE_NOOP("columns", "Share of all problems: fast_1.5"), kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Above 2×"), QT_TRANSLATE_NOOP("columns", "Share of all problems: fast_2"),
               kRight},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Accepted"),
               QT_TRANSLATE_NOOP("columns", "Exported files that KernelBench's own checker accepts"), kRight}};

QString errorText(const services::BenchmarkTask& task) {
  return task.accuracy.empty()
             ? QString()
             : u"%1 (%2)"_s.arg(formatError(task.relativeError), formatError(task.eagerRelativeError));
}

QString remarkText(const services::BenchmarkTask& task) {
  QStringList words;
  if (task.isDegenerate) {
    words << BenchmarkModel::tr("degenerate");
  }
  if (task.isAlgebraic) {
    words << BenchmarkModel::tr("algebraic");
  }
  if (task.isCaptured) {
    words << BenchmarkModel::tr("CUDA graph");
  }
  if (!task.remarks.empty()) {
    words << toQString(task.remarks.front());
  }
  return words.join(u", "_s);
}

QString displayText(const services::BenchmarkTask& task, BenchmarkColumn column) {
  switch (column) {
    case BenchmarkColumn::Problem: return u"%1/%2"_s.arg(task.level).arg(task.problem);
    case BenchmarkColumn::Name: return toQString(task.name);
    case BenchmarkColumn::Speedup: return formatSpeedupMargin(task.speedup);
    case BenchmarkColumn::Over: return toQString(task.fastestWay);
    case BenchmarkColumn::Fastest: return formatTime(task.fastestNs);
    case BenchmarkColumn::Kernel: return formatTime(task.kernelNs);
    case BenchmarkColumn::Accuracy: return toQString(task.accuracy);
    case BenchmarkColumn::Error: return errorText(task);
    case BenchmarkColumn::Roof: return task.roofShare > 0.0 ? formatShare(task.roofShare) : QString();
    case BenchmarkColumn::Cell: return toQString(task.cell);
    case BenchmarkColumn::Candidates: return u"%1 (%2)"_s.arg(formatCount(task.candidates), formatCount(task.correct));
    case BenchmarkColumn::Seconds: return formatDuration(task.seconds);
    case BenchmarkColumn::Verdict: return toQString(task.verdict);
    case BenchmarkColumn::Remarks: return remarkText(task);
  }
  return {};
}

QVariant sortKey(const services::BenchmarkTask& task, BenchmarkColumn column) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  switch (column) {
    case BenchmarkColumn::Problem: return 1000 * task.level + task.problem;
    case BenchmarkColumn::Speedup: return task.speedup.low;
    case BenchmarkColumn::Fastest: return task.fastestNs > 0.0 ? task.fastestNs : kNever;
    case BenchmarkColumn::Kernel: return task.kernelNs > 0.0 ? task.kernelNs : kNever;
    case BenchmarkColumn::Error: return task.accuracy.empty() ? kNever : task.relativeError;
    case BenchmarkColumn::Roof: return task.roofShare;
    case BenchmarkColumn::Candidates: return static_cast<qlonglong>(task.candidates);
    case BenchmarkColumn::Seconds: return task.seconds;
    default: return displayText(task, column);
  }
}

QString factorText(double factor) {
  return factor > 0.0 ? formatSpeedup(factor) : QString();
}

}  // namespace

std::span<const ColumnInfo> BenchmarkModel::columns() const {
  return kTaskColumns;
}

QVariant BenchmarkModel::cell(int row, BenchmarkColumn column, int role) const {
  const services::BenchmarkTask& task = item(row);
  switch (role) {
    case Qt::DisplayRole: return displayText(task, column);
    case SortRole: return sortKey(task, column);
    case Qt::ToolTipRole:
      return column == BenchmarkColumn::Speedup && task.speedup.isKnown() ? formatSpeedupInterval(task.speedup)
                                                                          : benchmarkRemarks(task);
    default: return {};
  }
}

std::span<const ColumnInfo> BenchmarkSummaryModel::columns() const {
  return kSummaryColumns;
}

QVariant BenchmarkSummaryModel::cell(int row, BenchmarkSummaryColumn column, int role) const {
  if (role != Qt::DisplayRole) {
    return {};
  }
  const services::BenchmarkSummary& summary = item(row);
  switch (column) {
    case BenchmarkSummaryColumn::Title: return toQString(asSentence(summary.title));
    case BenchmarkSummaryColumn::Tasks: return formatCount(summary.tasks);
    case BenchmarkSummaryColumn::Kernels: return formatCount(summary.kernels);
    case BenchmarkSummaryColumn::Mean: return factorText(summary.geometricMean);
    case BenchmarkSummaryColumn::Median: return factorText(summary.median);
    case BenchmarkSummaryColumn::Fast1: return formatShare(summary.fast1);
    case BenchmarkSummaryColumn::Fast15: return formatShare(summary.fast15);
    case BenchmarkSummaryColumn::Fast2: return formatShare(summary.fast2);
    case BenchmarkSummaryColumn::Accepted: return formatCount(summary.accepted);
  }
  return {};
}

QString benchmarkRemarks(const services::BenchmarkTask& task) {
  QStringList lines;
  for (const std::string& remark : task.remarks) {
    lines << toQString(asSentence(remark)).toHtmlEscaped();
  }
  if (!task.aten.empty()) {
    QStringList names;
    for (const std::string& name : task.aten) {
      names << toQString(name);
    }
    lines << BenchmarkModel::tr("Left to PyTorch: %1").arg(names.join(u", "_s)).toHtmlEscaped();
  }
  return lines.isEmpty() ? QString() : u"<p>"_s % lines.join(u"</p><p>"_s) % u"</p>"_s;
}

}  // namespace swage::ui
