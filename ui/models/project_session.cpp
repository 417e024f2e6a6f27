// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/project_session.h"

#include <algorithm>
#include <chrono>

#include "ui/models/cell_view.h"
#include "ui/models/format.h"

namespace swage::ui {
namespace {

using services::RunState;
using std::chrono_literals::operator""ms;

constexpr std::chrono::milliseconds kFrame = 50ms;
constexpr std::chrono::milliseconds kRows = 250ms;

void startOnce(QTimer& timer) {
  if (!timer.isActive()) {
    timer.start();
  }
}

domain::CandidateId overallBest(const std::vector<services::CellSummary>& cells) {
  const auto best = std::find_if(cells.begin(), cells.end(), [](const auto& cell) { return cell.isOverallBest; });
  return best != cells.end() ? best->best : domain::CandidateId();
}

const services::CellSummary* find(const std::vector<services::CellSummary>& cells, int index) {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [index](const auto& cell) { return cell.cell.index() == index; });
  return found != cells.end() ? &*found : nullptr;
}

services::Progress progressOf(const services::RunSummary& run, const std::vector<services::CellSummary>& cells) {
  services::Progress progress;
  progress.elapsedSeconds = run.elapsedSeconds;
  progress.evaluations = run.evaluations;
  progress.correct = run.correct;
  progress.perSecond = run.elapsedSeconds > 0.0 ? static_cast<double>(run.evaluations) / run.elapsedSeconds : 0.0;
  progress.bestSpeedup = run.bestSpeedup;
  progress.best = run.best;
  progress.filledCells = static_cast<int>(std::count_if(
      cells.begin(), cells.end(), [](const auto& cell) { return cell.state == services::CellSummary::State::Filled; }));
  return progress;
}

}  // namespace

ProjectSession::ProjectSession(services::RunService& run, services::RecordService& record, QObject* parent)
    : QObject(parent), m_run(run), m_record(record), m_state(run.state()), m_cells(emptyCells()) {
  m_frame.setSingleShot(true);
  m_frame.setInterval(kFrame);
  m_rows.setSingleShot(true);
  m_rows.setInterval(kRows);
  connect(&m_frame, &QTimer::timeout, this, &ProjectSession::showFrame);
  connect(&m_rows, &QTimer::timeout, this, &ProjectSession::showRows);
  connect(&run, &services::RunService::stateChanged, this, &ProjectSession::handleState);
  connect(&run, &services::RunService::runCreated, this, &ProjectSession::handleRunCreated);
  connect(&run, &services::RunService::progressed, this, &ProjectSession::handleProgress);
  connect(&run, &services::RunService::archiveChanged, this, &ProjectSession::handleCells);
  connect(&run, &services::RunService::candidateEvaluated, this, [this] { startOnce(m_rows); });
  connect(&run, &services::RunService::baselineMeasured, this, [this] {
    m_historyDirty = true;
    startOnce(m_rows);
  });
  connect(&run, &services::RunService::lanesChanged, this, [this](const auto& lanes) {
    m_lanes = lanes;
    Q_EMIT lanesChanged();
  });
  connect(&run, &services::RunService::noticed, this, [this](services::Notice notice) {
    notice.text = asSentence(notice.text);
    Q_EMIT noticed(notice);
  });
  connect(&run, &services::RunService::finished, this, &ProjectSession::handleFinished);
}

void ProjectSession::openProject(const std::filesystem::path& project) {
  m_project = project;
  m_hasRecord = false;
  forgetEnd();
  clearRun();
  std::error_code ignored;
  if (std::filesystem::exists(project / "runs.sqlite", ignored) && openRecord()) {
    const auto runs = m_record.runs();
    if (!runs) {
      report(runs.error());
    } else if (!runs->empty()) {
      const auto older = [](const auto& a, const auto& b) { return a.id < b.id; };
      showRun(std::max_element(runs->begin(), runs->end(), older)->id);
      return;
    }
  }
  Q_EMIT runShown(m_shownRun);
}

bool ProjectSession::openRecord() {
  const Result<> opened = m_record.open(m_project);
  m_hasRecord = opened.has_value();
  if (!opened) {
    report(opened.error());
  }
  return m_hasRecord;
}

void ProjectSession::showRun(domain::RunId run) {
  forgetEnd();
  clearRun();
  m_shownRun = run;
  reloadRun();
  Q_EMIT runShown(run);
  Q_EMIT progressChanged();
  updateFollowed();
}

// How the last search ended says nothing about another task or run.
void ProjectSession::forgetEnd() {
  if (!m_active && m_state != RunState::Idle) {
    m_state = RunState::Idle;
    Q_EMIT stateChanged(m_state);
  }
}

void ProjectSession::clearRun() {
  m_shownRun = {};
  m_summary.reset();
  m_progress = {};
  m_cells = emptyCells();
  m_history.clear();
  m_baselines.clear();
  m_follow = Follow::Best;
  m_selectedCell = -1;
  m_hovered.reset();
  applySelection({});
}

void ProjectSession::reloadRun() {
  if (auto summary = m_record.run(m_shownRun)) {
    m_summary = std::move(*summary);
  } else {
    report(summary.error());
    return;
  }
  if (auto cells = m_record.cells(m_shownRun, std::nullopt)) {
    m_cells = std::move(*cells);
  } else {
    report(cells.error());
  }
  if (!showsLiveRun()) {
    const double budget = m_progress.budgetSeconds;  // only a live run tells it
    m_progress = progressOf(*m_summary, m_cells);
    m_progress.budgetSeconds = budget;
  }
  reloadHistory();
  Q_EMIT cellsChanged();
}

void ProjectSession::reloadHistory() {
  m_historyDirty = false;
  if (auto history = m_record.history(m_shownRun)) {
    m_history = std::move(*history);
  } else {
    report(history.error());
  }
  if (auto baselines = m_record.baselines(m_shownRun)) {
    m_baselines = std::move(*baselines);
  } else {
    report(baselines.error());
  }
  Q_EMIT historyChanged();
}

void ProjectSession::start(const services::RunSpec& spec) {
  if (!canStart()) {
    return;
  }
  m_project = spec.project;
  clearRun();
  m_active = true;
  Q_EMIT runShown(m_shownRun);
  Q_EMIT stateChanged(m_state);
  m_run.start(spec);
}

void ProjectSession::togglePause() {
  if (m_state == RunState::Paused) {
    m_run.resume();
  } else if (canPause()) {
    m_run.pause();
  }
}

void ProjectSession::stop() {
  if (canStop()) {
    m_run.stop();
  }
}

void ProjectSession::kill() {
  if (isActive()) {
    m_run.kill();
  }
}

bool ProjectSession::canPause() const {
  return m_active && (m_state == RunState::Running || m_state == RunState::Paused);
}

bool ProjectSession::canStop() const {
  return m_active && m_state != RunState::Stopping;
}

bool ProjectSession::canResumeRecorded() const {
  return canStart() && m_summary && m_summary->status != domain::RunStatus::Finished;
}

bool ProjectSession::showsLiveRun() const {
  return isActive() && m_run.currentRun() == m_shownRun;
}

void ProjectSession::handleState(RunState state) {
  m_state = state;
  Q_EMIT stateChanged(state);
}

void ProjectSession::handleRunCreated(domain::RunId run) {
  if (openRecord()) {
    showRun(run);
  }
}

void ProjectSession::handleProgress(const services::Progress& progress) {
  if (m_shownRun.isValid() && !showsLiveRun()) {
    return;
  }
  m_historyDirty = m_historyDirty || progress.best != m_progress.best;
  m_progress = progress;
  m_progressDirty = true;
  startOnce(m_frame);
}

void ProjectSession::handleCells(const std::vector<services::CellSummary>& cells) {
  if (!showsLiveRun()) {
    return;
  }
  m_cells = cells;
  m_cellsDirty = true;
  startOnce(m_frame);
}

void ProjectSession::handleFinished(const services::RunOutcome& outcome) {
  m_frame.stop();
  m_rows.stop();
  m_active = false;
  m_state = outcome.state;
  if (outcome.run.isValid() && outcome.run == m_shownRun) {
    reloadRun();
    Q_EMIT candidatesChanged();
    updateFollowed();
    applySelection(m_selected);  // measured again at the end of the run
  }
  Q_EMIT stateChanged(m_state);
  Q_EMIT progressChanged();
  if (outcome.error && outcome.error->kind() != ErrorKind::Cancelled) {
    Q_EMIT noticed({services::Notice::Severity::Error, outcome.error->message(), outcome.error->hint(), outcome.cause});
  }
  Q_EMIT finished(outcome);
}

void ProjectSession::report(const Error& error) {
  Q_EMIT noticed({services::Notice::Severity::Error, error.message(), error.hint()});
}

void ProjectSession::showFrame() {
  if (m_progressDirty) {
    m_progressDirty = false;
    Q_EMIT progressChanged();
  }
  if (m_cellsDirty) {
    m_cellsDirty = false;
    m_hovered.reset();
    Q_EMIT cellsChanged();
    updateFollowed();
  }
  if (m_historyDirty) {
    startOnce(m_rows);
  }
}

void ProjectSession::showRows() {
  if (!m_shownRun.isValid()) {
    return;
  }
  Q_EMIT candidatesChanged();
  if (m_historyDirty) {
    reloadHistory();
  }
}

void ProjectSession::selectCell(int index) {
  m_follow = index < 0 ? Follow::Best : Follow::Cell;
  m_selectedCell = index;
  const services::CellSummary* cell = find(m_cells, index);
  applySelection(cell != nullptr ? cell->best : domain::CandidateId());
}

void ProjectSession::selectCandidate(domain::CandidateId id) {
  m_follow = Follow::Candidate;
  if (id == m_selected) {
    return;
  }
  m_selectedCell = -1;
  applySelection(id);
}

void ProjectSession::followBest() {
  m_follow = Follow::Best;
  m_selectedCell = -1;
  updateFollowed();
}

void ProjectSession::updateFollowed() {
  domain::CandidateId wanted = m_selected;
  if (m_follow == Follow::Best) {
    wanted = overallBest(m_cells);
  } else if (m_follow == Follow::Cell) {
    const services::CellSummary* cell = find(m_cells, m_selectedCell);
    wanted = cell != nullptr ? cell->best : domain::CandidateId();
  }
  if (wanted != m_selected) {
    applySelection(wanted);
  }
}

void ProjectSession::applySelection(domain::CandidateId id) {
  m_selected = id;
  m_detail.reset();
  if (id.isValid()) {
    if (auto detail = m_record.candidate(id)) {
      m_detail = std::move(*detail);
    } else {
      report(detail.error());
    }
  }
  Q_EMIT selectionChanged();
}

const services::CandidateDetail* ProjectSession::bestOf(int cell) {
  const services::CellSummary* summary = find(m_cells, cell);
  if (summary == nullptr || !summary->best.isValid()) {
    return nullptr;
  }
  if (!m_hovered || m_hovered->row.id != summary->best) {
    auto detail = m_record.candidate(summary->best);
    if (!detail) {
      return nullptr;
    }
    m_hovered = std::move(*detail);
  }
  return &*m_hovered;
}

}  // namespace swage::ui
