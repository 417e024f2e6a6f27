// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/replay_services.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace swage::workbench {
namespace {

using services::CandidateColumn;
using services::CandidateRow;
using services::CellSummary;
using services::RunState;
using std::chrono_literals::operator""ms;

constexpr std::chrono::milliseconds kTick = 40ms;
constexpr std::int64_t kMostRows = 100000;

std::pair<double, std::string> sortKey(const CandidateRow& row, CandidateColumn column) {
  switch (column) {
    case CandidateColumn::Id: return {static_cast<double>(row.id.value()), {}};
    case CandidateColumn::Cell: return {static_cast<double>(row.cell ? row.cell->index() : -1), {}};
    case CandidateColumn::Island: return {static_cast<double>(row.island), {}};
    case CandidateColumn::Operator: return {0.0, std::string(domain::name(row.madeBy))};
    case CandidateColumn::Status: return {0.0, std::string(domain::name(row.status))};
    case CandidateColumn::Time: return {row.timeNs, {}};
    case CandidateColumn::Speedup: return {row.speedup.low, {}};
    case CandidateColumn::Error: return {row.relativeError, {}};
    case CandidateColumn::Registers: return {static_cast<double>(row.registers), {}};
    case CandidateColumn::Found: return {row.elapsedSeconds, {}};
  }
  return {};
}

bool isCorrect(const CandidateRow& row) {
  return row.timeNs > 0.0 && row.status == domain::CandidateStatus::Correct;
}

// PyTorch's own operators do not compete.
bool competes(const CandidateRow& row) {
  return isCorrect(row) && row.speedup.isKnown() && row.madeBy != domain::OperatorKind::Baseline;
}

// Null: nothing that competes.
const CandidateRow* bestOf(const std::vector<CandidateRow>& rows) {
  const CandidateRow* best = nullptr;
  for (const CandidateRow& row : rows) {
    if (competes(row) && (best == nullptr || domain::ranksBefore(row.speedup, best->speedup))) {
      best = &row;
    }
  }
  return best;
}

void add(CellSummary& cell, const CandidateRow& row) {
  ++cell.tried;
  if (!isCorrect(row)) {
    cell.state = cell.state == CellSummary::State::Empty ? CellSummary::State::FailedOnly : cell.state;
    return;
  }
  ++cell.correct;
  if (competes(row) && (!cell.best.isValid() || domain::ranksBefore(row.speedup, cell.speedup))) {
    cell.state = CellSummary::State::Filled;
    cell.best = row.id;
    cell.bestTimeNs = row.timeNs;
    cell.speedup = row.speedup;
    cell.roofShare = row.roofShare;
    cell.relativeError = row.relativeError;
    cell.registers = row.registers;
    cell.foundSeconds = row.elapsedSeconds;
  }
}

}  // namespace

Result<> ReplayRecord::load() {
  SWAGE_TRY_ASSIGN(const std::vector<services::RunSummary> runs, m_source.runs());
  if (runs.empty()) {
    return Error(ErrorKind::NotFound, "the recording has no run");
  }
  m_run = runs.back();
  SWAGE_TRY_ASSIGN(m_rows, m_source.candidates({.run = m_run.id,
                                                .cell = std::nullopt,
                                                .status = std::nullopt,
                                                .filter = {},
                                                .sort = CandidateColumn::Id,
                                                .descending = false,
                                                .limit = kMostRows,
                                                .offset = 0}));
  // A search that was stopped leaves proposals that nobody evaluated: nothing happened with them.
  std::erase_if(m_rows, [](const CandidateRow& row) { return !domain::isEvaluated(row.status); });
  std::stable_sort(m_rows.begin(), m_rows.end(),
                   [](const auto& a, const auto& b) { return a.elapsedSeconds < b.elapsedSeconds; });
  SWAGE_TRY_ASSIGN(m_cells, m_source.cells(m_run.id, std::nullopt));
  setNow(0.0);
  return {};
}

double ReplayRecord::end() const {
  return m_rows.empty() ? 0.0 : m_rows.back().elapsedSeconds;
}

void ReplayRecord::setNow(double elapsedSeconds) {
  m_now = elapsedSeconds;
  const auto later = std::upper_bound(m_rows.begin(), m_rows.end(), elapsedSeconds,
                                      [](double time, const CandidateRow& row) { return time < row.elapsedSeconds; });
  m_visible.assign(m_rows.begin(), later);
}

Result<> ReplayRecord::open(const std::filesystem::path&) {
  return {};
}

Result<std::vector<services::RunSummary>> ReplayRecord::runs() const {
  services::RunSummary run = m_run;
  run.status = m_now < end() ? domain::RunStatus::Running : m_run.status;
  run.elapsedSeconds = std::min(m_now, m_run.elapsedSeconds);
  run.evaluations = static_cast<std::int64_t>(m_visible.size());
  run.correct = std::count_if(m_visible.begin(), m_visible.end(), isCorrect);
  const CandidateRow* best = bestOf(m_visible);
  run.best = best != nullptr ? best->id : domain::CandidateId();
  run.bestTimeNs = best != nullptr ? best->timeNs : 0.0;
  run.bestSpeedup = best != nullptr ? best->speedup : domain::Speedup();
  return std::vector<services::RunSummary>{run};
}

Result<services::RunSummary> ReplayRecord::run(domain::RunId) const {
  SWAGE_TRY_ASSIGN(const auto all, runs());
  return all.front();
}

std::vector<CandidateRow> ReplayRecord::select(const services::CandidateQuery& page) const {
  std::vector<CandidateRow> rows;
  std::copy_if(m_visible.begin(), m_visible.end(), std::back_inserter(rows), [&page](const CandidateRow& row) {
    return (!page.cell || row.cell == page.cell) && (!page.status || row.status == *page.status);
  });
  return rows;
}

Result<std::int64_t> ReplayRecord::candidateCount(const services::CandidateQuery& page) const {
  return static_cast<std::int64_t>(select(page).size());
}

Result<std::vector<CandidateRow>> ReplayRecord::candidates(const services::CandidateQuery& page) const {
  std::vector<CandidateRow> rows = select(page);
  std::stable_sort(rows.begin(), rows.end(), [&page](const CandidateRow& a, const CandidateRow& b) {
    return page.descending ? sortKey(b, page.sort) < sortKey(a, page.sort)
                           : sortKey(a, page.sort) < sortKey(b, page.sort);
  });
  const auto size = static_cast<std::int64_t>(rows.size());
  const std::int64_t first = std::min(page.offset, size);
  const std::int64_t last = std::min(first + page.limit, size);
  return std::vector<CandidateRow>(rows.begin() + first, rows.begin() + last);
}

// The recording searches and sorts; what has not happened yet is left out afterwards, on its thread.
QFuture<Result<services::CandidateIds>> ReplayRecord::candidateIds(const services::CandidateQuery& page) const {
  return m_source.candidateIds(page).then([visible = visibleIds()](Result<services::CandidateIds> ids) {
    if (!ids) {
      return ids;
    }
    auto kept = std::make_shared<std::vector<domain::CandidateId>>();
    std::copy_if((*ids)->begin(), (*ids)->end(), std::back_inserter(*kept),
                 [&visible](domain::CandidateId id) { return visible.contains(id); });
    return Result<services::CandidateIds>(std::move(kept));
  });
}

Result<std::vector<CandidateRow>> ReplayRecord::candidates(std::span<const domain::CandidateId> ids) const {
  return m_source.candidates(ids);
}

Result<services::Lineage> ReplayRecord::lineage(domain::CandidateId id, const services::LineageReach& reach) const {
  SWAGE_TRY_ASSIGN(services::Lineage family, m_source.lineage(id, reach));
  std::erase_if(family.rows, [visible = visibleIds()](const CandidateRow& row) { return !visible.contains(row.id); });
  return family;
}

QFuture<Result<domain::AnnotationEdit>> ReplayRecord::annotate(const domain::AnnotationEdit&) {
  return QtFuture::makeReadyFuture(Result<domain::AnnotationEdit>(
      Error(ErrorKind::Unsupported, "the demo cannot be annotated: it only replays a recorded run",
            "start swage-workbench without --demo")));
}

Result<std::optional<domain::Profile>> ReplayRecord::profile(domain::CandidateId id) const {
  return m_source.profile(id);
}

std::set<domain::CandidateId> ReplayRecord::visibleIds() const {
  std::set<domain::CandidateId> ids;
  std::transform(m_visible.begin(), m_visible.end(), std::inserter(ids, ids.end()),
                 [](const CandidateRow& row) { return row.id; });
  return ids;
}

Result<services::CandidateDetail> ReplayRecord::candidate(domain::CandidateId id) const {
  return m_source.candidate(id);
}

Result<std::vector<CellSummary>> ReplayRecord::cells(domain::RunId run, std::optional<int> island) const {
  return cellsAt(run, island, m_now);
}

Result<std::vector<CellSummary>> ReplayRecord::cellsAt(domain::RunId, std::optional<int> island, double seconds) const {
  std::vector<CellSummary> cells;
  for (const CellSummary& known : m_cells) {
    CellSummary cell;
    cell.cell = known.cell;
    cell.state = known.state == CellSummary::State::Unavailable ? known.state : CellSummary::State::Empty;
    cells.push_back(cell);
  }
  std::vector<CandidateRow> rows;
  std::copy_if(m_visible.begin(), m_visible.end(), std::back_inserter(rows), [&](const CandidateRow& row) {
    return row.cell && row.elapsedSeconds <= seconds && (!island || row.island == *island);
  });
  for (const CandidateRow& row : rows) {
    add(cells[static_cast<std::size_t>(row.cell->index())], row);
  }
  if (const CandidateRow* best = bestOf(rows)) {
    cells[static_cast<std::size_t>(best->cell->index())].isOverallBest = true;
  }
  return cells;
}

Result<int> ReplayRecord::islandCount(domain::RunId) const {
  int count = 0;
  for (const CandidateRow& row : m_visible) {
    count = std::max(count, row.island + 1);
  }
  return count;
}

Result<std::vector<services::HistoryPoint>> ReplayRecord::history(domain::RunId) const {
  SWAGE_TRY_ASSIGN(std::vector<services::HistoryPoint> points, m_source.history(m_run.id));
  std::erase_if(points, [this](const auto& point) { return point.elapsedSeconds > m_now; });
  return points;
}

Result<std::vector<domain::Baseline>> ReplayRecord::baselines(domain::RunId) const {
  return m_source.baselines(m_run.id);
}

services::ProposerReport ReplayRecord::report() const {
  services::ProposerReport report;
  report.elapsedSeconds = m_now;
  std::map<std::pair<domain::ProposerName, int>, services::ProposerTally> tallies;
  std::map<int, std::pair<domain::Speedup, services::ProposerTally*>> elites;  // by cell and island
  for (const CandidateRow& row : m_visible) {
    services::ProposerTally& tally = tallies[{row.madeBy, row.island}];
    tally.proposer = domain::name(row.madeBy);
    tally.island = row.island;
    ++tally.proposed;
    tally.correct += row.status == domain::CandidateStatus::Correct ? 1 : 0;
    tally.last = row.id;
    tally.lastStatus = domain::name(row.status);
    if (row.cell && competes(row)) {
      auto& [speedup, holder] = elites[row.island * domain::kCellCount + row.cell->index()];
      if (holder == nullptr || domain::ranksBefore(row.speedup, speedup)) {
        speedup = row.speedup;
        holder = &tally;
        ++tally.improved;
        ++report.improvements;
      }
    }
  }
  std::set<int> cells;
  for (const auto& [place, elite] : elites) {
    ++elite.second->elites;
    cells.insert(place % domain::kCellCount);
  }
  report.filledCells = static_cast<int>(cells.size());
  for (auto& [key, tally] : tallies) {
    report.tallies.push_back(std::move(tally));
  }
  return report;
}

QFuture<Result<services::RunActivity>> ReplayRecord::activity(domain::RunId) const {
  return m_source.activity(m_run.id).then(
      [now = m_now, report = report()](Result<services::RunActivity> recorded) -> Result<services::RunActivity> {
        if (!recorded) {
          return recorded;
        }
        std::erase_if(recorded->timeline, [now](const auto& sample) { return sample.elapsedSeconds > now; });
        recorded->report.tallies = report.tallies;
        recorded->report.filledCells = report.filledCells;
        recorded->report.improvements = report.improvements;
        recorded->report.proposers.clear();
        if (!recorded->timeline.empty()) {
          recorded->report.proposers = recorded->timeline.back().proposers;
          recorded->report.exchange = recorded->timeline.back().exchange;
        }
        return recorded;
      });
}

ReplayRun::ReplayRun(ReplayRecord& record, double speed, QObject* parent)
    : RunService(parent), m_record(record), m_speed(speed) {
  m_tick.setInterval(kTick);
  connect(&m_tick, &QTimer::timeout, this, &ReplayRun::tick);
}

void ReplayRun::enter(RunState state) {
  m_state = state;
  Q_EMIT stateChanged(state);
}

void ReplayRun::start(const services::RunSpec& spec) {
  const std::string recorded = m_record.taskName();
  if (!spec.task.empty() && std::filesystem::path(spec.task).stem() != recorded) {
    Q_EMIT noticed({services::Notice::Severity::Warning,
                    fmt::format("The demo replays its recorded run of {}. {} is not searched.", recorded,
                                std::filesystem::path(spec.task).stem().string()),
                    "Start swage-workbench without --demo to search it."});
  }
  m_record.setNow(0.0);
  m_told = 0;
  enter(RunState::Running);
  Q_EMIT runCreated(m_record.runId());
  resume();
}

void ReplayRun::pause() {
  m_tick.stop();
  enter(RunState::Paused);
}

void ReplayRun::resume() {
  if (m_state == RunState::Paused) {
    enter(RunState::Running);
  }
  m_clock.start();
  m_tick.start();
}

void ReplayRun::stop() {
  finish(true);
}

void ReplayRun::tick() {
  m_record.setNow(m_record.now() + static_cast<double>(m_clock.restart()) / 1000.0 * m_speed);
  report();
  if (m_record.now() >= m_record.end()) {
    finish(false);
  }
}

void ReplayRun::report() {
  const std::vector<CandidateRow>& rows = m_record.visible();
  for (; m_told < rows.size(); ++m_told) {
    Q_EMIT candidateEvaluated(rows[m_told]);
  }
  const auto run = m_record.run(m_record.runId());
  const auto cells = m_record.cells(m_record.runId(), std::nullopt);
  if (!run || !cells) {
    return;
  }
  services::Progress progress;
  progress.state = m_state;
  progress.stage = "replaying a recorded run";
  progress.elapsedSeconds = m_record.now();
  progress.budgetSeconds = m_record.end();
  progress.evaluations = run->evaluations;
  progress.correct = run->correct;
  progress.perSecond = static_cast<double>(run->evaluations) / std::max(m_record.now(), 1e-3);
  progress.best = run->best;
  progress.bestSpeedup = run->bestSpeedup;
  Q_EMIT progressed(progress);
  Q_EMIT archiveChanged(*cells);
  services::LaneStatus lane;
  lane.name = run->deviceName;
  lane.doing = "replayed";
  lane.isBusy = true;
  lane.done = run->evaluations;
  Q_EMIT lanesChanged({lane});
  Q_EMIT proposersChanged(m_record.report());
}

void ReplayRun::finish(bool interrupted) {
  m_tick.stop();
  services::RunOutcome outcome;
  outcome.run = m_record.runId();
  outcome.interrupted = interrupted;
  if (const CandidateRow* best = bestOf(m_record.visible())) {
    outcome.best = best->id;
    outcome.bestSpeedup = best->speedup;
  }
  outcome.state = interrupted ? RunState::Interrupted : RunState::Finished;
  enter(outcome.state);
  Q_EMIT finished(outcome);
}

}  // namespace swage::workbench
