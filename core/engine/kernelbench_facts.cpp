// SPDX-License-Identifier: Apache-2.0
#include "core/engine/kernelbench_facts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/engine/record_service_impl.h"

namespace swage::engine {
namespace {

using exporting::KernelBenchKernel;
using exporting::KernelBenchRow;
using Names = std::set<std::string>;

constexpr std::int64_t kAll = 1'000'000'000;

Names atenNames(const domain::LaunchPlan& plan) {
  Names names;
  for (const domain::PlanStep& step : plan.steps) {
    if (const auto* aten = std::get_if<domain::AtenStep>(&step); aten != nullptr) {
      names.insert(aten->node.op);
    }
  }
  std::erase_if(names, [](const std::string& op) { return exporting::isViewOperator(op); });
  return names;
}

std::vector<std::string> listed(const Names& names) {
  return {names.begin(), names.end()};
}

void addBaselines(KernelBenchRow& row, const std::vector<domain::Baseline>& baselines, const std::string& mode) {
  row.baselineMode = mode;
  row.baselines.clear();
  for (const domain::Baseline& one : baselines) {
    row.baselines.push_back(
        {one.mode, one.timing.medianNs, one.timing.lowNs, one.timing.highNs, one.accuracy, one.failure});
    if (one.mode == mode) {
      row.baselineAccuracy = one.accuracy;
    }
  }
}

KernelBenchKernel kernelOf(const services::CandidateDetail& detail) {
  const services::CandidateRow& from = detail.row;
  KernelBenchKernel kernel;
  kernel.candidate = from.id;
  kernel.timeNs = from.timeNs;
  kernel.lowNs = from.lowNs;
  kernel.highNs = from.highNs;
  kernel.speedup = from.speedup;
  kernel.roofShare = from.roofShare;
  kernel.cell = from.cell ? from.cell->name() : std::string();
  kernel.aten = listed(atenNames(detail.program.plan));
  kernel.isCaptured = detail.program.plan.isCaptured;
  Names patterns;
  if (detail.genome) {
    kernel.isAlgebraic = domain::isAlgebraic(*detail.genome);
    for (const domain::RegionGene& region : detail.genome->regions) {
      patterns.insert(region.pattern);
    }
  }
  kernel.patterns = listed(patterns);
  if (const auto* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr) {
    kernel.accuracy = correct->accuracy;
    const auto worst = std::max_element(correct->errors.begin(), correct->errors.end(),
                                        [](const auto& a, const auto& b) { return a.relativeL2 < b.relativeL2; });
    if (worst != correct->errors.end()) {
      kernel.relativeError = worst->relativeL2;
      kernel.eagerRelativeError = worst->eagerRelativeL2;
    }
  }
  return kernel;
}

// What every correct candidate with a kernel leaves to PyTorch; nothing once one leaves nothing. No value: there is no
// such candidate.
Result<std::optional<Names>> alwaysAten(const RecordServiceImpl& service, domain::RunId run) {
  SWAGE_TRY_ASSIGN(
      const std::vector<services::CandidateRow> rows,
      service.candidates({.run = run, .status = domain::CandidateStatus::Correct, .filter = {}, .limit = kAll}));
  std::optional<Names> common;
  for (const services::CandidateRow& row : rows) {
    SWAGE_TRY_ASSIGN(const services::CandidateDetail detail, service.candidate(row.id));
    if (!detail.program.plan.hasKernels()) {
      continue;
    }
    const Names names = atenNames(detail.program.plan);
    if (!common) {
      common = names;
    } else {
      std::erase_if(*common, [&names](const std::string& op) { return !names.contains(op); });
    }
    if (common->empty()) {
      break;
    }
  }
  return common;
}

// How the candidates of a run ended that has no correct one, the most frequent first.
Result<std::string> failuresText(const RecordServiceImpl& service, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<services::CandidateRow> rows,
                   service.candidates({.run = run, .filter = {}, .limit = kAll}));
  std::map<domain::CandidateStatus, std::pair<std::int64_t, std::string>> ends;  // how often, and an example
  for (const services::CandidateRow& row : rows) {
    if (domain::hasFailed(row.status)) {
      auto& [count, example] = ends[row.status];
      ++count;
      example = row.summary;
    }
  }
  if (ends.empty()) {
    return std::string(rows.size() > 1 ? "no kernel was evaluated before the budget was used up"
                                       : "no kernel was proposed");
  }
  std::vector<std::pair<domain::CandidateStatus, std::pair<std::int64_t, std::string>>> ordered(ends.begin(),
                                                                                                ends.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::vector<std::string> parts;
  for (const auto& [status, end] : ordered) {
    parts.push_back(fmt::format("{} {}", end.first, domain::name(status)));
  }
  return fmt::format("no kernel is correct: {}; {}", fmt::join(parts, ", "), ordered.front().second.second);
}

}  // namespace

bool meansDegenerate(std::string_view doubt) {
  return !doubt.starts_with("no output depends on the weight");
}

void addTaskFacts(KernelBenchRow& row, const domain::Task& task) {
  row.constants = task.source.overrides;
  Names operators;
  for (const domain::Node& node : task.graph.nodes) {
    operators.insert(node.op);
  }
  std::erase_if(operators, [](const std::string& op) { return exporting::isViewOperator(op); });
  row.operators = listed(operators);
}

Result<> addRunFacts(KernelBenchRow& row, const std::filesystem::path& project) {
  RecordServiceImpl service;
  SWAGE_TRY(service.open(project));
  SWAGE_TRY_ASSIGN(const services::RunSummary run, service.run(row.run));
  SWAGE_TRY_ASSIGN(const std::vector<domain::Baseline> baselines, service.baselines(row.run));
  addBaselines(row, baselines, run.baselineMode);
  row.device = run.deviceName;
  row.candidates = run.evaluations;
  row.correct = run.correct;
  row.searchSeconds = run.elapsedSeconds;
  SWAGE_TRY_ASSIGN(row.doubts, service.doubts(row.run));
  row.isDegenerate = std::any_of(row.doubts.begin(), row.doubts.end(), meansDegenerate);
  if (run.best.isValid()) {
    SWAGE_TRY_ASSIGN(const services::CandidateDetail best, service.candidate(run.best));
    row.kernel = kernelOf(best);
  }
  SWAGE_TRY_ASSIGN(const std::optional<Names> always, alwaysAten(service, row.run));
  row.alwaysAten = always ? listed(*always) : row.operators;
  if (!row.kernel) {
    row.failedStage = "search";
    row.failureKind = name(ErrorKind::NotFound);
    SWAGE_TRY_ASSIGN(row.failure, failuresText(service, row.run));
  }
  return {};
}

}  // namespace swage::engine
