// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/text.h"
#include "app/cli/views.h"
#include "core/domain/numeric_mode.h"
#include "core/domain/record/winner.h"
#include "core/engine/record_service_impl.h"

namespace swage::cli {
namespace {

std::string baselinesText(const SearchReport& report) {
  std::vector<std::string> parts;
  for (const domain::Baseline& baseline : report.baselines) {
    const bool isRejected = domain::isRejected(baseline);
    parts.push_back(baseline.failure.empty() || isRejected
                        ? fmt::format("{} {} ({}{})", baseline.mode, formatTime(baseline.timing.medianNs),
                                      domain::name(baseline.accuracy), isRejected ? ", rejected" : "")
                        : fmt::format("{} failed", baseline.mode));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

const domain::Correct* correctBest(const SearchReport& report) {
  return report.best && report.best->evaluation ? domain::asCorrect(*report.best->evaluation) : nullptr;
}

bool beatsBaseline(const SearchReport& report) {
  return report.best && report.best->row.speedup.low > 1.0;
}

std::string bestText(const SearchReport& report) {
  if (!report.best) {
    return "best        none: no candidate is correct\n";
  }
  const services::CandidateRow& row = report.best->row;
  std::string text = fmt::format("best        candidate {}: {} ({} to {})\n", row.id.value(), formatTime(row.timeNs),
                                 formatTime(row.lowNs), formatTime(row.highNs));
  text += fmt::format("speedup     {} against {}", formatSpeedupInterval(row.speedup), report.run.baselineMode);
  if (const domain::Correct* correct = correctBest(report)) {
    const std::string modes = domain::numericModes(report.best->genome.value_or(domain::Genome()));
    text += fmt::format(", {}{}", domain::name(correct->accuracy), modes.empty() ? "" : ", products as " + modes);
  }
  text += row.isAlgebraic ? ", algebraic" : "";
  text += row.speedup.isUncertain() ? "; uncertain: the device was busy\n" : "\n";
  if (row.roofShare > 0.0) {
    text += fmt::format("roofline    {:.0f} % of what memory bandwidth and arithmetic allow\n", 100.0 * row.roofShare);
  }
  if (domain::pytorchWins(report.run)) {
    text += fmt::format("winner      PyTorch's own way, {}: no candidate is significantly faster\n",
                        domain::pytorchWay(report.run.baselineMode));
  }
  if (row.cell) {
    text += "cell        " + describeCell(*row.cell) + '\n';
  }
  return text;
}

}  // namespace

Result<SearchReport> readReport(const std::filesystem::path& project, const services::RunOutcome& outcome) {
  SearchReport report;
  report.project = project;
  report.outcome = outcome;
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  SWAGE_TRY_ASSIGN(report.run, record.run(outcome.run));
  SWAGE_TRY_ASSIGN(report.baselines, record.baselines(outcome.run));
  SWAGE_TRY_ASSIGN(const std::vector<services::CellSummary> cells, record.cells(outcome.run, std::nullopt));
  report.filledCells =
      static_cast<int>(std::count_if(cells.begin(), cells.end(), [](const services::CellSummary& cell) {
        return cell.state == services::CellSummary::State::Filled;
      }));
  if (outcome.best.isValid()) {
    SWAGE_TRY_ASSIGN(report.best, record.candidate(outcome.best));
  }
  return report;
}

std::string reportText(const SearchReport& report) {
  const services::RunSummary& run = report.run;
  std::string text = fmt::format("task        {} on {} ({})\n", run.taskName, run.target, run.deviceName);
  text += fmt::format("run         r{}, {} after {} of search\n", run.id.value(), domain::title(run.status),
                      formatSeconds(run.elapsedSeconds));
  text += fmt::format("baseline    {}\n", baselinesText(report));
  text += bestText(report);
  text += fmt::format("tried       {}, {} correct, {} filled\n", counted(run.evaluations, "candidate"), run.correct,
                      counted(report.filledCells, "cell"));
  text += fmt::format("record      {}\n", report.project.string());
  if (report.outcome.targetMissed) {
    text += "target      missed: the winner's speedup is not significantly above it\n";
  }
  // Of a run the winner is exported, which may be PyTorch's own way.
  if (report.best || domain::pytorchWins(run)) {
    text += fmt::format(
        "export      swage export {} --project {} --format modelnew -o {}_new.py\n",
        domain::pytorchWins(run) ? fmt::format("r{}", run.id.value()) : std::to_string(report.best->row.id.value()),
        report.project.string(), run.taskName);
  }
  return text;
}

domain::Json toJson(const SearchReport& report) {
  domain::Json json = toJson(report.run);
  json["project"] = report.project.string();
  json["interrupted"] = report.outcome.interrupted;
  json["filled_cells"] = report.filledCells;
  json["baselines"] = domain::Json::array();
  for (const domain::Baseline& baseline : report.baselines) {
    json["baselines"].push_back(domain::toJson(baseline));
  }
  json["beats_baseline"] = beatsBaseline(report);
  json["pytorch_wins"] = domain::pytorchWins(report.run);
  json["target_missed"] = report.outcome.targetMissed;
  json["winner"] = nullptr;
  if (report.best) {
    domain::Json winner = toJson(report.best->row);
    winner["evaluation"] = report.best->evaluation ? domain::toJson(*report.best->evaluation) : domain::Json();
    json["winner"] = std::move(winner);
  }
  return json;
}

}  // namespace swage::cli
