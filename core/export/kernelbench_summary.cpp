// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/export/kernelbench.h"

namespace swage::exporting {
namespace {

using Rows = std::vector<KernelBenchRow>;

bool isComparable(const KernelBenchRow& row) {
  return row.kernel && row.kernel->speedup.isKnown() && row.kernel->accuracy <= row.baselineAccuracy;
}

// The kernel of a row, if its speedup may be compared with others.
const KernelBenchKernel* countedKernel(const KernelBenchRow& row) {
  return isComparable(row) && row.kernel->hasKernels() ? &*row.kernel : nullptr;
}

std::string whyNot(const KernelBenchRow& row) {
  if (!row.failedStage.empty()) {
    return fmt::format("{}: {}", row.failedStage, row.failure);
  }
  if (!row.kernel) {
    return "no kernel is correct";
  }
  if (row.kernel->accuracy > row.baselineAccuracy) {
    return fmt::format("its kernel has accuracy {}, the baseline {}", domain::name(row.kernel->accuracy),
                       domain::name(row.baselineAccuracy));
  }
  if (!row.kernel->hasKernels()) {
    return "no kernel is faster than a CUDA graph of PyTorch's operators";
  }
  return row.kernel->speedup.isKnown() ? fmt::format("slower than {}", row.baselineMode) : "its kernel was not timed";
}

// Over the fastest way that was timed, also where KernelBench would reject its result.
double strictSpeedup(const KernelBenchRow& row) {
  double fastest = 0.0;
  double baseline = 0.0;
  for (const KernelBenchWay& way : row.baselines) {
    if (way.timeNs > 0.0 && (fastest == 0.0 || way.timeNs < fastest)) {
      fastest = way.timeNs;
    }
    if (way.mode == row.baselineMode) {
      baseline = way.timeNs;
    }
  }
  return row.kernel->speedup.value * (baseline > 0.0 ? fastest / baseline : 1.0);
}

double geometricMean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return values.empty() ? 0.0 : std::exp(sum / static_cast<double>(values.size()));
}

double medianOf(std::vector<double> values) {
  if (values.empty()) {
    return 0.0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double shareAbove(const std::vector<double>& speedups, double least, std::int64_t tasks) {
  const auto count = std::count_if(speedups.begin(), speedups.end(), [least](double one) { return one > least; });
  return tasks > 0 ? static_cast<double>(count) / static_cast<double>(tasks) : 0.0;
}

bool isAlgebraic(const KernelBenchRow& row) {
  return row.kernel && row.kernel->isAlgebraic;
}

template <class Keep>
Rows only(const Rows& rows, Keep keep) {
  Rows kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), keep);
  return kept;
}

}  // namespace

KernelBenchSummary summarise(std::string title, const Rows& rows) {
  KernelBenchSummary summary;
  summary.title = std::move(title);
  summary.tasks = static_cast<std::int64_t>(rows.size());
  std::vector<double> speedups;
  std::vector<double> strict;
  std::vector<double> exports;
  for (const KernelBenchRow& row : rows) {
    const KernelBenchKernel* kernel = countedKernel(row);
    summary.accepted += row.check.verdict == "accepted" ? 1 : 0;
    exports.push_back(isComparable(row) && isOwnExport(row.exported) ? row.kernel->speedup.value : 1.0);
    if (kernel != nullptr) {
      speedups.push_back(kernel->speedup.value);
      strict.push_back(strictSpeedup(row));
    }
    if (kernel == nullptr || kernel->speedup.value < 1.0) {
      summary.losses.push_back(
          {row.level, row.problem, row.name, kernel != nullptr ? kernel->speedup : domain::Speedup(), whyNot(row)});
    }
  }
  summary.kernels = static_cast<std::int64_t>(speedups.size());
  summary.geometricMean = geometricMean(speedups);
  summary.median = medianOf(speedups);
  summary.strictGeometricMean = geometricMean(strict);
  summary.exportsGeometricMean = geometricMean(exports);
  summary.fast1 = shareAbove(speedups, 1.0, summary.tasks);
  summary.fast15 = shareAbove(speedups, 1.5, summary.tasks);
  summary.fast2 = shareAbove(speedups, 2.0, summary.tasks);
  std::stable_sort(summary.losses.begin(), summary.losses.end(),
                   [](const auto& a, const auto& b) { return a.speedup.value < b.speedup.value; });
  return summary;
}

std::vector<KernelBenchSummary> kernelBenchSummaries(const KernelBenchDocument& document) {
  const Rows& rows = document.rows;
  std::vector<KernelBenchSummary> summaries = {
      summarise("all tasks", rows),
      summarise("without algebraic kernels", only(rows, [](const auto& row) { return !isAlgebraic(row); })),
      summarise("without degenerate tasks", only(rows, [](const auto& row) { return !row.isDegenerate; })),
      summarise("without both", only(rows, [](const auto& row) { return !row.isDegenerate && !isAlgebraic(row); }))};
  std::set<int> levels;
  for (const KernelBenchRow& row : rows) {
    levels.insert(row.level);
  }
  for (const int level : levels) {
    summaries.push_back(
        summarise(fmt::format("level {}", level), only(rows, [level](const auto& row) { return row.level == level; })));
  }
  return summaries;
}

std::vector<KernelBenchOperator> atenOperators(const KernelBenchDocument& document) {
  std::map<std::string, KernelBenchOperator> found;
  const auto add = [&found](const std::string& op, std::vector<std::string> KernelBenchOperator::*where,
                            const KernelBenchRow& row) {
    KernelBenchOperator& entry = found[op];
    entry.name = op;
    (entry.*where).push_back(fmt::format("{}/{}", row.level, row.problem));
  };
  for (const KernelBenchRow& row : document.rows) {
    for (const std::string& op : row.kernel ? row.kernel->aten : std::vector<std::string>()) {
      add(op, &KernelBenchOperator::inBest, row);
    }
    for (const std::string& op : row.alwaysAten) {
      add(op, &KernelBenchOperator::inEvery, row);
    }
  }
  std::vector<KernelBenchOperator> operators;
  for (auto& [name, entry] : found) {
    operators.push_back(std::move(entry));
  }
  return operators;
}

bool isViewOperator(std::string_view op) {
  static constexpr std::array<std::string_view, 23> kViews{
      "alias",   "as_strided", "chunk",   "detach",    "diagonal",  "expand", "expand_as",        "flatten",
      "movedim", "narrow",     "permute", "select",    "slice",     "split",  "split_with_sizes", "squeeze",
      "t",       "transpose",  "unbind",  "unflatten", "unsqueeze", "view",   "_unsafe_view"};
  constexpr std::string_view kPrefix = "aten.";
  if (!op.starts_with(kPrefix)) {
    return false;
  }
  op.remove_prefix(kPrefix.size());
  return std::find(kViews.begin(), kViews.end(), op.substr(0, op.find('.'))) != kViews.end();
}

}  // namespace swage::exporting
