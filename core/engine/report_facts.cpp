// SPDX-License-Identifier: Apache-2.0
#include "core/engine/report_facts.h"

#include <algorithm>
#include <ctime>
#include <map>

#include <fmt/format.h>

#include "core/engine/record_service_impl.h"

namespace swage::engine {
namespace {

using exporting::ReportCandidate;
using exporting::ReportCell;
using exporting::RunReport;

constexpr std::int64_t kTop = 10;
constexpr std::int64_t kAll = 1'000'000'000;

std::string dateText(std::int64_t utcMs) {
  const std::time_t seconds = utcMs / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string typesText(const std::vector<std::string>& types) {
  return fmt::format("{}", fmt::join(types, ", "));
}

void addTask(RunReport& report, const domain::Task& task) {
  report.taskName = task.name;
  report.taskSource = fmt::format("class {} of {}", task.source.className, task.source.file);
  report.overrides = task.source.overrides;
  report.torchVersion = task.torchVersion;
  report.operators = static_cast<std::int64_t>(task.graph.nodes.size());
  const auto text = [&task](domain::ValueId value) {
    const domain::TensorType& type = task.graph.type(value);
    return fmt::format("{}[{}]", domain::name(type.dtype), fmt::join(type.shape, ", "));
  };
  std::vector<std::string> inputs;
  for (const domain::GraphInput& input : task.graph.inputs) {
    if (input.kind == domain::InputKind::User) {
      inputs.push_back(text(input.value));
    }
  }
  std::vector<std::string> outputs;
  for (const domain::GraphOutput& output : task.graph.outputs) {
    if (output.kind == domain::OutputKind::User) {
      outputs.push_back(text(output.value));
    }
  }
  report.inputs = typesText(inputs);
  report.outputs = typesText(outputs);
}

void addRun(RunReport& report, const store::RunRow& row, const services::RunSummary& summary) {
  report.run = row.id;
  report.status = domain::title(summary.status);
  report.startedAt = dateText(row.startedAtMs);
  report.elapsedSeconds = row.elapsedSeconds;
  report.budgetSeconds = row.timeBudgetSeconds;
  report.maxEvaluations = row.maxEvaluations;
  report.seed = row.seed;
  report.evaluations = summary.evaluations;
  report.correct = summary.correct;
  report.device = row.device;
  report.baselineMode = summary.baselineMode;
  report.baselineNs = summary.baselineNs;
  report.swageVersion = SWAGE_VERSION;
}

ReportCandidate candidateOf(const services::CandidateRow& row) {
  ReportCandidate one;
  one.id = row.id;
  one.madeBy = domain::name(row.madeBy);
  one.cell = row.cell ? row.cell->name() : std::string();
  one.timeNs = row.timeNs;
  one.lowNs = row.lowNs;
  one.highNs = row.highNs;
  one.speedup = row.speedup;
  one.relativeError = row.relativeError;
  one.roofShare = row.roofShare;
  one.registers = row.registers;
  one.isPyTorch = row.madeBy == domain::OperatorKind::Baseline;
  return one;
}

ReportCell::State stateOf(services::CellSummary::State state) {
  switch (state) {
    case services::CellSummary::State::Unavailable: return ReportCell::State::Unavailable;
    case services::CellSummary::State::Empty: return ReportCell::State::Empty;
    case services::CellSummary::State::FailedOnly: return ReportCell::State::FailedOnly;
    case services::CellSummary::State::Filled: return ReportCell::State::Filled;
  }
  return ReportCell::State::Empty;
}

Result<> addTop(RunReport& report, const RecordServiceImpl& service) {
  services::CandidateQuery page;
  page.run = report.run;
  page.status = domain::CandidateStatus::Correct;
  page.sort = services::CandidateColumn::Time;
  page.limit = kTop;
  SWAGE_TRY_ASSIGN(const std::vector<services::CandidateRow> rows, service.candidates(page));
  for (const services::CandidateRow& row : rows) {
    report.top.push_back(candidateOf(row));
  }
  std::stable_sort(report.top.begin(), report.top.end(), [](const ReportCandidate& a, const ReportCandidate& b) {
    return domain::ranksBefore(a.speedup, b.speedup);
  });
  return {};
}

Result<> addFailures(RunReport& report, const RecordServiceImpl& service) {
  services::CandidateQuery page;
  page.run = report.run;
  page.limit = kAll;
  SWAGE_TRY_ASSIGN(const std::vector<services::CandidateRow> rows, service.candidates(page));
  std::map<std::string, std::int64_t> counts;
  for (const services::CandidateRow& row : rows) {
    if (row.status != domain::CandidateStatus::Correct) {
      ++counts[std::string(domain::name(row.status))];
    }
  }
  report.failures.assign(counts.begin(), counts.end());
  std::stable_sort(report.failures.begin(), report.failures.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return {};
}

Result<> addCells(RunReport& report, const RecordServiceImpl& service) {
  SWAGE_TRY_ASSIGN(const std::vector<services::CellSummary> cells, service.cells(report.run, std::nullopt));
  for (const services::CellSummary& cell : cells) {
    report.cells.push_back({cell.cell, stateOf(cell.state), cell.tried, cell.best, cell.bestTimeNs, cell.speedup});
  }
  SWAGE_TRY_ASSIGN(const std::vector<services::HistoryPoint> history, service.history(report.run));
  for (const services::HistoryPoint& point : history) {
    report.history.push_back({point.elapsedSeconds, point.speedup, point.candidate});
  }
  return {};
}

Result<> addBest(RunReport& report, const RecordServiceImpl& service, domain::CandidateId best) {
  if (!best.isValid()) {
    return {};
  }
  SWAGE_TRY_ASSIGN(const services::CandidateDetail detail, service.candidate(best));
  SWAGE_TRY_ASSIGN(report.assurances, service.assurances(best));
  report.best = candidateOf(detail.row);
  report.bestWins = detail.row.speedup.low > 1.0 && !report.best->isPyTorch;
  report.source = detail.program.source;
  for (const domain::Rewrite& rewrite : detail.genome.value_or(domain::Genome()).rewrites) {
    report.rewrites.push_back(domain::describe(rewrite));
  }
  if (const auto* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr) {
    report.errors = correct->errors;
    report.accuracy = domain::name(correct->accuracy);
    report.timing = correct->timing.candidate;
  }
  return {};
}

// What is typed to search again, to look at the record and to take the winner.
void addCommands(RunReport& report, const domain::Task& task) {
  const std::string target(domain::name(report.device.kind));
  std::string search = "swage optimize " + task.source.file;
  for (const auto& [name, value] : task.source.overrides) {
    search += fmt::format(" --set {}={}", name, value);
  }
  search += fmt::format(" --target {} --seed {}", target, report.seed);
  if (report.budgetSeconds > 0.0) {
    search += fmt::format(" --time-budget {:.0f}s", report.budgetSeconds);
  }
  if (report.maxEvaluations > 0) {
    search += fmt::format(" --max-evaluations {}", report.maxEvaluations);
  }
  report.commands.push_back(search);
  if (report.best) {
    report.commands.push_back(fmt::format("swage verify {}", report.best->id.value()));
    report.commands.push_back(fmt::format("swage export {} -o {}_new.py", report.best->id.value(), report.taskName));
  }
}

}  // namespace

Result<RunReport> readRunReport(const std::filesystem::path& project, domain::RunId run) {
  RecordServiceImpl service;
  SWAGE_TRY(service.open(project));
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::RunRow row, record.run(run));
  SWAGE_TRY_ASSIGN(const services::RunSummary summary, service.run(run));
  SWAGE_TRY_ASSIGN(const domain::Task task, record.task(row.taskId));
  RunReport report;
  addTask(report, task);
  addRun(report, row, summary);
  SWAGE_TRY_ASSIGN(report.baselines, service.baselines(run));
  SWAGE_TRY_ASSIGN(report.doubts, service.doubts(run));
  SWAGE_TRY(addCells(report, service));
  SWAGE_TRY(addTop(report, service));
  SWAGE_TRY(addFailures(report, service));
  SWAGE_TRY(addBest(report, service, summary.best));
  addCommands(report, task);
  return report;
}

}  // namespace swage::engine
