// SPDX-License-Identifier: Apache-2.0
#include "core/run/snapshots.h"

#include <algorithm>

namespace swage::run {
namespace {

// The roof is what copying at the measured bandwidth takes. What only reads may be faster: it is at the roof, too.
double shareOf(double roofNs, double timeNs) {
  return roofNs > 0.0 && timeNs > 0.0 ? std::min(1.0, roofNs / timeNs) : 0.0;
}

services::CellSummary emptyCell(int index, const domain::DeviceInfo& device) {
  services::CellSummary cell;
  cell.cell = domain::Cell::fromIndex(index);
  cell.state = domain::isReachable(cell.cell, device) ? services::CellSummary::State::Empty
                                                      : services::CellSummary::State::Unavailable;
  return cell;
}

void decideState(services::CellSummary& cell) {
  if (cell.best.isValid()) {
    cell.state = services::CellSummary::State::Filled;
  } else if (cell.tried > 0) {
    cell.state = services::CellSummary::State::FailedOnly;
  }
}

}  // namespace

domain::Speedup speedupOf(const store::CandidateRecord& candidate, const domain::Speedup& eagerSpeedup) {
  const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr;
  const domain::Speedup overEager = correct != nullptr ? domain::againstEager(correct->timing) : domain::Speedup();
  const bool isEager = candidate.madeBy == domain::OperatorKind::Baseline && overEager.isKnown();
  return isEager ? eagerSpeedup : overEager.times(eagerSpeedup);
}

services::CandidateRow rowOf(const store::CandidateRecord& candidate, const domain::Speedup& eagerSpeedup,
                             double roofNs) {
  services::CandidateRow row;
  row.id = candidate.id;
  row.run = candidate.run;
  row.island = candidate.island;
  row.madeBy = candidate.madeBy;
  row.cell = candidate.cell;
  row.status = candidate.evaluation ? std::string(domain::statusName(*candidate.evaluation)) : "pending";
  row.summary = candidate.evaluation ? domain::summary(*candidate.evaluation) : std::string();
  row.elapsedSeconds = candidate.elapsedSeconds;
  row.parents = candidate.parents;
  for (const domain::KernelFacts& kernel : candidate.kernels) {
    row.registers = std::max(row.registers, kernel.registers);
  }
  if (!candidate.evaluation) {
    return row;
  }
  if (const domain::Correct* correct = domain::asCorrect(*candidate.evaluation)) {
    row.timeNs = correct->timing.candidate.medianNs;
    row.lowNs = correct->timing.candidate.lowNs;
    row.highNs = correct->timing.candidate.highNs;
    row.speedup = speedupOf(candidate, eagerSpeedup);
    row.roofShare = shareOf(roofNs, row.timeNs);
    for (const domain::OutputError& error : correct->errors) {
      row.relativeError = std::max(row.relativeError, error.relativeL2);
    }
  }
  return row;
}

services::CandidateRow rowOf(const store::CandidateLine& line, double roofNs) {
  services::CandidateRow row;
  row.id = line.id;
  row.run = line.run;
  row.island = line.island;
  row.madeBy = line.madeBy;
  row.cell = line.cell;
  row.status = line.status;
  row.summary = line.summary;
  row.timeNs = line.timeNs;
  row.lowNs = line.lowNs;
  row.highNs = line.highNs;
  row.speedup = line.speedup;
  row.relativeError = line.relativeError;
  row.registers = line.registers;
  row.elapsedSeconds = line.elapsedSeconds;
  row.parents = line.parents;
  row.annotation = line.annotation;
  row.roofShare = shareOf(roofNs, line.timeNs);
  return row;
}

services::CandidateDetail detailOf(store::CandidateRecord candidate, const domain::Speedup& eagerSpeedup,
                                   double roofNs) {
  services::CandidateDetail detail;
  detail.row = rowOf(candidate, eagerSpeedup, roofNs);
  detail.genome = std::move(candidate.genome);
  detail.program = std::move(candidate.program);
  detail.assembly = std::move(candidate.assembly);
  detail.compileLog = std::move(candidate.compileLog);
  detail.kernels = std::move(candidate.kernels);
  detail.evaluation = std::move(candidate.evaluation);
  return detail;
}

services::RunSummary summaryOf(const store::RunRow& run, double roofNs) {
  services::RunSummary summary;
  summary.id = run.id;
  summary.taskName = run.taskName;
  summary.deviceName = run.device.name;
  summary.target = domain::name(run.device.target);
  summary.status = store::name(run.status);
  summary.startedAtMs = run.startedAtMs;
  summary.elapsedSeconds = run.elapsedSeconds;
  summary.evaluations = run.evaluations;
  summary.correct = run.correct;
  summary.best = run.best;
  summary.winner = run.winner;
  summary.bestTimeNs = run.bestTimeNs;
  summary.bestSpeedup = run.bestSpeedup;
  summary.baselineMode = run.baselineMode;
  summary.baselineNs = run.baselineNs;
  summary.roofShare = shareOf(roofNs, run.bestTimeNs);
  summary.seed = run.seed;
  summary.timeBudgetSeconds = run.timeBudgetSeconds;
  summary.maxEvaluations = run.maxEvaluations;
  return summary;
}

std::vector<services::CellSummary> cellsOf(const search::Archive& archive, const domain::DeviceInfo& device,
                                           const domain::Speedup& eagerSpeedup, double roofNs) {
  const search::Elite* overall = archive.bestOverall();
  std::vector<services::CellSummary> cells;
  cells.reserve(domain::kCellCount);
  for (int index = 0; index < domain::kCellCount; ++index) {
    services::CellSummary cell = emptyCell(index, device);
    for (int island = 0; island < archive.islandCount(); ++island) {
      const search::CellState& state = archive.at(island, cell.cell);
      cell.tried += state.tried;
      cell.correct += state.correct;
    }
    if (const search::Elite* elite = archive.best(cell.cell)) {
      cell.best = elite->candidate;
      cell.bestTimeNs = elite->timeNs;
      cell.speedup = elite->overEager.times(eagerSpeedup);
      cell.roofShare = shareOf(roofNs, elite->timeNs);
      cell.isOverallBest = overall != nullptr && overall->candidate == elite->candidate;
    }
    decideState(cell);
    cells.push_back(cell);
  }
  return cells;
}

std::vector<services::CellSummary> cellsOf(const std::vector<store::CellLine>& lines, const store::RunRow& run,
                                           double roofNs, domain::CandidateId best) {
  std::vector<services::CellSummary> cells;
  cells.reserve(domain::kCellCount);
  for (int index = 0; index < domain::kCellCount; ++index) {
    cells.push_back(emptyCell(index, run.device));
  }
  for (const store::CellLine& line : lines) {
    services::CellSummary& cell = cells[static_cast<std::size_t>(line.cell.index())];
    cell.tried = line.tried;
    cell.correct = line.correct;
    cell.best = line.best;
    cell.bestTimeNs = line.bestTimeNs;
    cell.speedup = line.bestSpeedup;
    cell.roofShare = shareOf(roofNs, line.bestTimeNs);
    cell.relativeError = line.bestError;
    cell.registers = line.bestRegisters;
    cell.foundSeconds = line.bestSeconds;
    cell.isOverallBest = best.isValid() && line.best == best;
    decideState(cell);
  }
  return cells;
}

}  // namespace swage::run
