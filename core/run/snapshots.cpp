// SPDX-License-Identifier: Apache-2.0
#include "core/run/snapshots.h"

#include <algorithm>

namespace swage::run {
namespace {

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

double roofShareOf(double timeNs, double roofNs) {
  return roofNs > 0.0 && timeNs > 0.0 ? std::min(1.0, roofNs / timeNs) : 0.0;
}

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
  row.status = candidate.evaluation ? domain::statusOf(*candidate.evaluation) : services::CandidateStatus::Pending;
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
    row.roofShare = roofShareOf(row.timeNs, roofNs);
    for (const domain::OutputError& error : correct->errors) {
      row.relativeError = std::max(row.relativeError, error.relativeL2);
    }
  }
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
  services::RunSummary summary = static_cast<const services::RunSummary&>(run);
  summary.roofShare = roofShareOf(run.bestTimeNs, roofNs);
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
      cell.roofShare = roofShareOf(elite->timeNs, roofNs);
      cell.isOverallBest = overall != nullptr && overall->candidate == elite->candidate;
    }
    decideState(cell);
    cells.push_back(cell);
  }
  return cells;
}

std::vector<services::CellSummary> cellsOf(const std::vector<domain::CellSummary>& lines, const store::RunRow& run,
                                           double roofNs, domain::CandidateId best) {
  std::vector<services::CellSummary> cells;
  cells.reserve(domain::kCellCount);
  for (int index = 0; index < domain::kCellCount; ++index) {
    cells.push_back(emptyCell(index, run.device));
  }
  for (const domain::CellSummary& line : lines) {
    services::CellSummary& cell = cells[static_cast<std::size_t>(line.cell.index())];
    const services::CellSummary::State empty = cell.state;
    cell = line;
    cell.state = empty;
    cell.roofShare = roofShareOf(line.bestTimeNs, roofNs);
    cell.isOverallBest = best.isValid() && line.best == best;
    decideState(cell);
  }
  return cells;
}

}  // namespace swage::run
