// SPDX-License-Identifier: Apache-2.0
#include "core/engine/benchmark_service_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/engine/kernelbench_file.h"

namespace swage::engine {
namespace {

std::vector<std::string> remarksOf(const exporting::KernelBenchRow& row) {
  std::vector<std::string> remarks;
  if (!row.failure.empty()) {
    remarks.push_back(fmt::format("{} failed: {}", row.failedStage, row.failure));
  }
  if (!row.check.rejectedWay.empty()) {
    remarks.push_back(row.check.rejectedWay);
  }
  if (!row.check.problem.empty()) {
    remarks.push_back(fmt::format("KernelBench's checker: {}", row.check.problem));
  }
  remarks.insert(remarks.end(), row.doubts.begin(), row.doubts.end());
  for (const exporting::KernelBenchWay& way : row.baselines) {
    if (!way.failure.empty()) {
      remarks.push_back(
          fmt::format("PyTorch's {} {}: {}", way.mode, way.timeNs > 0.0 ? "does not count" : "failed", way.failure));
    }
  }
  return remarks;
}

services::BenchmarkTask taskOf(const exporting::KernelBenchRow& row) {
  services::BenchmarkTask task;
  task.level = row.level;
  task.problem = row.problem;
  task.name = row.name;
  task.run = row.run;
  task.fastestWay = row.baselineMode;
  const auto way = std::find_if(row.baselines.begin(), row.baselines.end(),
                                [&row](const exporting::KernelBenchWay& one) { return one.mode == row.baselineMode; });
  task.fastestNs = way == row.baselines.end() ? 0.0 : way->timeNs;
  if (row.kernel) {
    task.kernelNs = row.kernel->timeNs;
    task.speedup = row.kernel->speedup;
    task.accuracy = domain::name(row.kernel->accuracy);
    task.relativeError = row.kernel->relativeError;
    task.eagerRelativeError = row.kernel->eagerRelativeError;
    task.roofShare = row.kernel->roofShare;
    task.cell = row.kernel->cell;
    task.aten = row.kernel->aten;
    task.isAlgebraic = row.kernel->isAlgebraic;
    task.isCaptured = row.kernel->isCaptured;
  }
  task.candidates = row.candidates;
  task.correct = row.correct;
  task.seconds = row.seconds;
  task.verdict = row.check.verdict;
  task.isDegenerate = row.isDegenerate;
  task.remarks = remarksOf(row);
  return task;
}

// The record of the runs: the command keeps it beside its file unless it is told otherwise.
std::filesystem::path projectOf(const std::filesystem::path& file) {
  std::filesystem::path project = file;
  project.replace_extension(".project");
  std::error_code ignored;
  return std::filesystem::is_directory(project, ignored) ? project : std::filesystem::path();
}

}  // namespace

Result<services::BenchmarkResults> readBenchmark(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(const exporting::KernelBenchDocument document, readKernelBenchFile(file));
  services::BenchmarkResults results;
  results.headline = exporting::kernelBenchHeadline(document);
  results.project = projectOf(file);
  for (const exporting::KernelBenchSummary& one : exporting::kernelBenchSummaries(document)) {
    results.summaries.push_back({one.title, one.tasks, one.kernels, one.accepted, one.geometricMean, one.median,
                                 one.fast1, one.fast15, one.fast2});
  }
  results.tasks.reserve(document.rows.size());
  std::transform(document.rows.begin(), document.rows.end(), std::back_inserter(results.tasks), taskOf);
  results.chart = exporting::kernelBenchChart(document);
  return results;
}

QFuture<Result<services::BenchmarkResults>> BenchmarkServiceImpl::read(const std::filesystem::path& file) const {
  return m_answers.ask<services::BenchmarkResults>(
      [file](const AnswerThread::IsCancelled&) { return readBenchmark(file); });
}

}  // namespace swage::engine
