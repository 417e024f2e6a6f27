// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/synthetic_services.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

namespace swage::workbench {
namespace {

using services::CandidateRow;
using services::CellSummary;

constexpr domain::RunId kRun{1};
constexpr int kIslands = 4;
constexpr int kTickMs = 4;
constexpr int kTicksPerReport = 5;
constexpr double kBaselineNs = 1e6;
// Every so many candidates is a new best, so that charts and map keep moving.
constexpr std::int64_t kPerImprovement = 500;
constexpr int kCompilers = 8;
constexpr std::array kOperators = {domain::OperatorKind::Synthesis,   domain::OperatorKind::Parameter,
                                   domain::OperatorKind::Split,       domain::OperatorKind::Merge,
                                   domain::OperatorKind::PatternSwap, domain::OperatorKind::Crossover,
                                   domain::OperatorKind::Aimed};
constexpr std::array kStatuses = {domain::CandidateStatus::Correct, domain::CandidateStatus::Wrong,
                                  domain::CandidateStatus::CompileFailed, domain::CandidateStatus::Correct,
                                  domain::CandidateStatus::Unstable};

double speedupOf(std::int64_t id) {
  const std::int64_t improvements = id / kPerImprovement;
  return 0.5 + std::log1p(static_cast<double>(improvements)) / 2.0 + 0.1 * std::sin(static_cast<double>(id));
}

domain::Speedup intervalAround(double value) {
  return {value, 0.99 * value, 1.01 * value};
}

std::int64_t best(std::int64_t count) {
  return std::max<std::int64_t>(1, count - count % kPerImprovement);
}

std::vector<services::LaneStatus> lanesAfter(std::int64_t count, double seconds) {
  std::vector<services::LaneStatus> lanes;
  for (int i = 0; i <= kCompilers; ++i) {
    services::LaneStatus lane;
    lane.kind = i == 0 ? services::LaneStatus::Kind::Worker : services::LaneStatus::Kind::Compiler;
    lane.name = i == 0 ? std::string("synthetic") : "compiler " + std::to_string(i);
    lane.doing = i == 0 ? "verifying" : "compiling";
    lane.isBusy = true;
    lane.candidate = domain::CandidateId(count);
    lane.busySeconds = 0.8 * seconds;
    lane.lifeSeconds = seconds;
    lane.done = i == 0 ? count : count / kCompilers;
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

Error nothingToExport() {
  return Error(ErrorKind::Unsupported, "made-up candidates cannot be exported");
}

}  // namespace

CandidateRow SyntheticRecord::row(std::int64_t id) {
  CandidateRow row;
  row.id = domain::CandidateId(id);
  row.run = kRun;
  row.island = static_cast<int>(id % kIslands);
  row.cell = domain::Cell::fromIndex(static_cast<int>(id * 7 % domain::kCellCount));
  row.status = kStatuses[static_cast<std::size_t>(id) % kStatuses.size()];
  row.speedup = intervalAround(speedupOf(id));
  row.timeNs = kBaselineNs / row.speedup.value;
  row.lowNs = row.timeNs * 0.99;
  row.highNs = row.timeNs * 1.01;
  row.relativeError = 1e-7;
  row.registers = 32 + static_cast<int>(id % 64);
  row.elapsedSeconds = static_cast<double>(id) * 1e-4;
  return row;
}

Result<> SyntheticRecord::open(const std::filesystem::path&) {
  return {};
}

Result<std::vector<services::RunSummary>> SyntheticRecord::runs() const {
  services::RunSummary run;
  run.id = kRun;
  run.taskName = "benchmark";
  run.deviceName = "synthetic";
  run.target = "cpu";
  run.status = domain::RunStatus::Running;
  run.evaluations = m_count;
  run.correct = m_count * 2 / 5;
  run.best = domain::CandidateId(best(m_count));
  run.bestSpeedup = intervalAround(speedupOf(best(m_count)));
  run.baselineMode = "eager";
  run.baselineNs = kBaselineNs;
  return std::vector<services::RunSummary>{run};
}

Result<services::RunSummary> SyntheticRecord::run(domain::RunId) const {
  SWAGE_TRY_ASSIGN(const auto all, runs());
  return all.front();
}

Result<std::int64_t> SyntheticRecord::candidateCount(const services::CandidateQuery&) const {
  return m_count;
}

Result<std::vector<CandidateRow>> SyntheticRecord::candidates(const services::CandidateQuery& page) const {
  std::vector<CandidateRow> rows;
  const std::int64_t end = std::min(page.offset + page.limit, m_count);
  for (std::int64_t i = page.offset; i < end; ++i) {
    rows.push_back(row(page.descending ? m_count - i : i + 1));
  }
  return rows;
}

QFuture<Result<services::CandidateIds>> SyntheticRecord::candidateIds(const services::CandidateQuery& page) const {
  auto ids = std::make_shared<std::vector<domain::CandidateId>>();
  ids->reserve(static_cast<std::size_t>(m_count));
  for (std::int64_t i = 0; i < m_count; ++i) {
    ids->push_back(domain::CandidateId(page.descending ? m_count - i : i + 1));
  }
  return QtFuture::makeReadyFuture(Result<services::CandidateIds>(std::move(ids)));
}

Result<std::vector<CandidateRow>> SyntheticRecord::candidates(std::span<const domain::CandidateId> ids) const {
  std::vector<CandidateRow> rows;
  rows.reserve(ids.size());
  std::transform(ids.begin(), ids.end(), std::back_inserter(rows),
                 [](domain::CandidateId id) { return row(id.value()); });
  return rows;
}

Result<services::Lineage> SyntheticRecord::lineage(domain::CandidateId id, const services::LineageReach&) const {
  services::Lineage family;
  family.rows = {row(id.value())};
  return family;
}

QFuture<Result<domain::AnnotationEdit>> SyntheticRecord::annotate(const domain::AnnotationEdit&) {
  return QtFuture::makeReadyFuture(
      Result<domain::AnnotationEdit>(Error(ErrorKind::Unsupported, "made-up candidates cannot be changed")));
}

QFuture<Result<services::ExportFacts>> SyntheticExporter::facts(const std::filesystem::path&,
                                                                domain::CandidateId) const {
  return QtFuture::makeReadyFuture(Result<services::ExportFacts>(nothingToExport()));
}

QFuture<Result<services::ExportFiles>> SyntheticExporter::files(const std::filesystem::path&, domain::CandidateId,
                                                                services::ExportFormat) const {
  return QtFuture::makeReadyFuture(Result<services::ExportFiles>(nothingToExport()));
}

QFuture<Result<>> SyntheticExporter::write(const services::ExportFiles&, const std::filesystem::path&,
                                           services::ExistingFiles) const {
  return QtFuture::makeReadyFuture(Result<>(nothingToExport()));
}

services::ProposerReport SyntheticRecord::report(std::int64_t count, double elapsedSeconds) {
  constexpr int kProposers = static_cast<int>(kOperators.size());
  services::ProposerReport report;
  report.elapsedSeconds = elapsedSeconds;
  report.filledCells = domain::kCellCount;
  report.improvements = count / kPerImprovement;
  constexpr std::int64_t kShares = std::int64_t{kProposers} * kIslands;
  for (int i = 0; i < kProposers; ++i) {
    const std::string name(domain::name(kOperators[static_cast<std::size_t>(i)]));
    report.proposers.push_back({name, 0.5 + 0.4 * std::sin(elapsedSeconds / 3.0 + i), 1.0 / kProposers});
    for (int island = 0; island < kIslands; ++island) {
      report.tallies.push_back({.proposer = name,
                                .island = island,
                                .proposed = count / kShares,
                                .correct = count * 2 / (5 * kShares),
                                .improved = report.improvements / kShares,
                                .elites = (i + island) % 4,
                                .last = domain::CandidateId(std::max<std::int64_t>(1, count - i)),
                                .lastStatus = "correct"});
    }
  }
  return report;
}

QFuture<Result<services::RunActivity>> SyntheticRecord::activity(domain::RunId) const {
  services::RunActivity activity;
  activity.report = report(m_count, 0.0);
  return QtFuture::makeReadyFuture(Result<services::RunActivity>(std::move(activity)));
}

Result<std::optional<domain::Profile>> SyntheticRecord::profile(domain::CandidateId) const {
  return std::optional<domain::Profile>();
}

Result<services::CandidateDetail> SyntheticRecord::candidate(domain::CandidateId id) const {
  services::CandidateDetail detail;
  detail.row = row(id.value());
  return detail;
}

Result<std::vector<CellSummary>> SyntheticRecord::cells(domain::RunId, std::optional<int>) const {
  std::vector<CellSummary> cells;
  for (int i = 0; i < domain::kCellCount; ++i) {
    CellSummary cell;
    cell.cell = domain::Cell::fromIndex(i);
    cell.tried = m_count / domain::kCellCount;
    cell.correct = cell.tried * 2 / 5;
    cell.state = m_count > 0 ? CellSummary::State::Filled : CellSummary::State::Empty;
    cell.best = domain::CandidateId(std::max<std::int64_t>(1, best(m_count) - i));
    cell.speedup = intervalAround(speedupOf(cell.best.value()));
    cell.bestTimeNs = kBaselineNs / cell.speedup.value;
    cell.isOverallBest = i == 0;
    cells.push_back(cell);
  }
  return cells;
}

Result<std::vector<CellSummary>> SyntheticRecord::cellsAt(domain::RunId run, std::optional<int> island, double) const {
  return cells(run, island);
}

Result<int> SyntheticRecord::islandCount(domain::RunId) const {
  return kIslands;
}

Result<std::vector<services::HistoryPoint>> SyntheticRecord::history(domain::RunId) const {
  std::vector<services::HistoryPoint> points;
  double reached = 0.0;
  for (std::int64_t id = 1; id <= m_count; id += kPerImprovement) {
    reached = std::max(reached, speedupOf(id));
    points.push_back({.elapsedSeconds = static_cast<double>(id) * 1e-4,
                      .speedup = intervalAround(reached),
                      .candidate = domain::CandidateId(id)});
  }
  return points;
}

Result<std::vector<domain::Baseline>> SyntheticRecord::baselines(domain::RunId) const {
  return std::vector<domain::Baseline>{};
}

SyntheticRun::SyntheticRun(SyntheticRecord& record, int eventsPerSecond, QObject* parent)
    : RunService(parent), m_record(record), m_eventsPerSecond(eventsPerSecond) {
  m_tick.setInterval(kTickMs);
  m_tick.setTimerType(Qt::PreciseTimer);
  connect(&m_tick, &QTimer::timeout, this, &SyntheticRun::tick);
}

domain::RunId SyntheticRun::currentRun() const {
  return kRun;
}

void SyntheticRun::start(const services::RunSpec& spec) {
  m_budgetSeconds = spec.timeBudgetSeconds;
  m_clock.start();
  m_state = services::RunState::Running;
  Q_EMIT stateChanged(m_state);
  Q_EMIT runCreated(kRun);
  m_tick.start();
}

void SyntheticRun::stop() {
  m_tick.stop();
  m_state = services::RunState::Finished;
  Q_EMIT stateChanged(m_state);
  services::RunOutcome outcome;
  outcome.run = kRun;
  outcome.best = domain::CandidateId(best(m_events));
  outcome.bestSpeedup = intervalAround(speedupOf(best(m_events)));
  Q_EMIT finished(outcome);
}

void SyntheticRun::tick() {
  // By the clock, so that a window that is slow gets as many as one that is not.
  const std::int64_t due = m_clock.elapsed() * m_eventsPerSecond / 1000;
  while (m_events < due) {
    m_record.setCount(++m_events);
    Q_EMIT candidateEvaluated(SyntheticRecord::row(m_events));
  }
  if (++m_ticks % kTicksPerReport == 0) {
    reportRest();
  }
  if (static_cast<double>(m_clock.elapsed()) >= m_budgetSeconds * 1000.0) {
    stop();
  }
}

void SyntheticRun::reportRest() {
  services::Progress progress;
  progress.state = m_state;
  progress.stage = "compiling 8, verifying 1";
  progress.elapsedSeconds = static_cast<double>(m_clock.elapsed()) / 1000.0;
  progress.budgetSeconds = m_budgetSeconds;
  progress.evaluations = m_events;
  progress.correct = m_events * 2 / 5;
  progress.perSecond = m_eventsPerSecond;
  progress.best = domain::CandidateId(best(m_events));
  progress.bestSpeedup = intervalAround(speedupOf(best(m_events)));
  progress.filledCells = domain::kCellCount;
  Q_EMIT progressed(progress);
  if (const auto cells = m_record.cells(kRun, std::nullopt)) {
    Q_EMIT archiveChanged(*cells);
  }
  Q_EMIT lanesChanged(lanesAfter(m_events, progress.elapsedSeconds));
  Q_EMIT proposersChanged(SyntheticRecord::report(m_events, progress.elapsedSeconds));
}

}  // namespace swage::workbench
