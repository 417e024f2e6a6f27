// SPDX-License-Identifier: Apache-2.0
// The part of Session that says how far it is, what its processes do and who proposes what.
#include <algorithm>

#include "core/run/baseline_stage.h"
#include "core/run/elite_profiles.h"
#include "core/run/session.h"

namespace swage::run {
namespace {

// The record has a sample of the search each second at first, and then fewer and fewer: two hundred in an hour.
constexpr double kLeastSampleSeconds = 1.0;
constexpr double kSampleShare = 0.02;  // of the search time until then

}  // namespace

void Session::emitProgress() {
  services::Progress progress;
  progress.state = m_state;
  progress.stage = m_stage;
  progress.step = m_selfTestStep;
  progress.steps = m_selfTestSteps;
  progress.finishing = isFinishing();
  progress.elapsedSeconds = m_clock.elapsedSeconds();
  progress.budgetSeconds = m_spec.timeBudgetSeconds;
  progress.maxEvaluations = m_spec.maxEvaluations;
  if (m_pipeline) {
    if (m_stage.empty()) {
      progress.stage = m_pipeline->stage();
    }
    progress.evaluations = m_pipeline->evaluations();
    progress.correct = m_pipeline->correct();
    const double seconds = progress.elapsedSeconds - m_elapsedAtStart;
    progress.perSecond =
        seconds > 0.0 ? static_cast<double>(progress.evaluations - m_evaluationsAtStart) / seconds : 0.0;
    progress.filledCells = m_searcher->archive().filledCells();
    if (const search::Elite* best = m_searcher->archive().bestOverall()) {
      progress.best = best->candidate;
      progress.bestSpeedup = best->overEager.times(m_eagerSpeedup);
    }
  }
  Q_EMIT progressed(progress);
}

void Session::emitLanes() {
  std::vector<services::LaneStatus> lanes;
  for (LaneBoard::Lane& lane : m_laneBoard.lanes()) {
    if (m_pipeline) {
      lane.status.candidate = m_pipeline->candidateOf(*lane.worker);
    }
    lanes.push_back(std::move(lane.status));
  }
  if (m_compilers) {
    const std::vector<services::LaneStatus> compilers = m_compilers->lanes();
    lanes.insert(lanes.end(), compilers.begin(), compilers.end());
  }
  Q_EMIT lanesChanged(lanes);
}

void Session::emitProposers() {
  Q_EMIT proposersChanged(
      m_proposers.report(*m_searcher, m_proposerPool->credits(), m_search->name(), m_clock.elapsedSeconds()));
}

Result<> Session::keepProposers(Keep when) {
  const double elapsed = m_clock.elapsedSeconds();
  const double pause = std::max(kLeastSampleSeconds, kSampleShare * elapsed);
  const bool isDue = when == Keep::Now ? elapsed > m_sampledAt : m_clock.isRunning() && elapsed >= m_sampledAt + pause;
  if (!isDue || !m_proposerPool || !m_record || !m_run.isValid()) {
    return {};
  }
  m_sampledAt = elapsed;
  const services::ProposerReport report =
      m_proposers.report(*m_searcher, m_proposerPool->credits(), m_search->name(), elapsed);
  return m_record->addEvent(m_run, domain::EventKind::Proposers, sampleJson(sampleOf(report)));
}

}  // namespace swage::run
