// SPDX-License-Identifier: Apache-2.0
#include "core/run/activity_feed.h"

#include <algorithm>
#include <utility>

#include "core/run/proposer_board.h"
#include "core/run/snapshots.h"

namespace swage::run {
namespace {

constexpr int kTicksPerArchive = 3;
constexpr int kTicksPerProgress = 2;
// The record has a sample of the search each second at first, and then fewer and fewer: two hundred in an hour.
constexpr double kLeastSampleSeconds = 1.0;
constexpr double kSampleShare = 0.02;  // of the search time until then

}  // namespace

ActivityFeed::ActivityFeed(const RunContext& context, const RunRigs& rigs, const SearchStage& search, QObject* parent)
    : QObject(parent), m_context(context), m_rigs(rigs), m_search(search) {}

void ActivityFeed::tick() {
  ++m_ticks;
  if (m_ticks % kTicksPerProgress == 0) {
    tellProgress();
    tellLanes();
  }
  if (m_archiveDirty && m_ticks % kTicksPerArchive == 0) {
    tellArchive();
  }
}

Result<> ActivityFeed::keepDue(store::Record& record) {
  const double elapsed = m_context.clock.elapsedSeconds();
  const double pause = std::max(kLeastSampleSeconds, kSampleShare * elapsed);
  return m_context.clock.isRunning() && elapsed >= m_sampledAt + pause ? keep(record) : Result<>();
}

Result<> ActivityFeed::keepLast(store::Record& record) {
  return m_context.clock.elapsedSeconds() > m_sampledAt ? keep(record) : Result<>();
}

Result<> ActivityFeed::keep(store::Record& record) {
  if (!m_search.isBuilt() || !m_context.run.isValid()) {
    return {};
  }
  m_sampledAt = m_context.clock.elapsedSeconds();
  return record.addEvent(m_context.run, domain::EventKind::Proposers, sampleJson(sampleOf(m_search.proposers())));
}

void ActivityFeed::tellProgress() {
  services::Progress progress;
  progress.state = m_context.state;
  progress.stage = m_context.doing;
  progress.step = m_context.step;
  progress.steps = m_context.steps;
  progress.finishing = m_context.finishing;
  progress.elapsedSeconds = m_context.clock.elapsedSeconds();
  progress.budgetSeconds = m_context.spec.timeBudgetSeconds;
  progress.maxEvaluations = m_context.spec.maxEvaluations;
  m_search.addTo(progress);
  Q_EMIT progressed(progress);
}

void ActivityFeed::tellLanes() {
  std::vector<services::LaneStatus> lanes;
  for (LaneBoard::Lane& lane : m_rigs.lanes()) {
    lane.status.candidate = m_search.candidateOf(*lane.worker);
    lanes.push_back(std::move(lane.status));
  }
  const std::vector<services::LaneStatus> compilers = m_search.compilerLanes();
  lanes.insert(lanes.end(), compilers.begin(), compilers.end());
  Q_EMIT lanesChanged(lanes);
}

void ActivityFeed::tellArchive() {
  if (!m_search.isBuilt()) {
    return;
  }
  m_archiveDirty = false;
  Q_EMIT archiveChanged(
      cellsOf(m_context.searcher->archive(), m_context.device, m_context.eagerSpeedup, m_context.roof.roofNs));
  Q_EMIT proposersChanged(m_search.proposers());
  Q_EMIT pairsChanged(std::make_shared<const services::SwarmReport>(m_search.pairs()));
}

void ActivityFeed::tellAll() {
  tellArchive();
  tellLanes();
}

}  // namespace swage::run
