// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_session.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/run/baseline_stage.h"
#include "core/run/finishing_stages.h"
#include "core/run/preparation_stages.h"
#include "core/run/rig_stage.h"
#include "core/run/snapshots.h"
#include "core/services/drawn_seed.h"
#include "core/store/failures.h"

namespace swage::run {
namespace {

using services::Notice;
using services::RunState;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::uint64_t kLargestSeed = std::uint64_t{1} << 48U;  // exact as a number of JSON
constexpr int kTicksPerCheckpoint = 50;

// The inputs of all checks follow from it: who writes a kernel must not know them beforehand.
std::uint64_t drawSeed() {
  std::random_device source;
  return 1 + std::uniform_int_distribution<std::uint64_t>(0, kLargestSeed - 1)(source);
}

std::string subjectOf(const services::RunSpec& spec) {
  return spec.resume ? fmt::format("run {}", spec.resume->value()) : spec.task;
}

// What the device or its worker is to blame for was said when it happened.
Notice::Subject causeOf(const services::RunOutcome& outcome) {
  using Subject = Notice::Subject;
  if (!outcome.error) {
    return Subject::Other;
  }
  if (store::isDiskFull(*outcome.error)) {
    return Subject::DiskFull;
  }
  return store::isHeld(*outcome.error) ? Subject::RecordLocked : outcome.cause;
}

}  // namespace

RunSession::RunSession(SessionParts parts, QObject* parent) : QObject(parent), m_context(std::move(parts)) {
  m_ticker.setInterval(kTick);
  connect(&m_ticker, &QTimer::timeout, this, &RunSession::tick);
}

// The last stage first: it may use what an earlier one owns.
RunSession::~RunSession() {
  m_feed.reset();
  while (!m_stages.empty()) {
    m_stages.pop_back();
  }
}

void RunSession::makeStages() {
  m_rigs = std::make_unique<RunRigs>(m_context);
  connect(m_rigs.get(), &RunRigs::noticed, this, &RunSession::noticed);
  connect(m_rigs.get(), &RunRigs::failed, this, &RunSession::fail);
  connect(m_rigs.get(), &RunRigs::stopped, this, &RunSession::finishWhenQuiet);
  auto rig = std::make_unique<RigStage>(m_context, *m_rigs);
  connect(rig.get(), &RigStage::runCreated, this, &RunSession::runCreated);
  auto baselines = std::make_unique<BaselineStage>(m_context);
  connect(baselines.get(), &BaselineStage::measured, this, &RunSession::baselineMeasured);
  auto search = std::make_unique<SearchStage>(m_context, *m_rigs);
  m_search = search.get();
  add(std::make_unique<CompilerStage>(m_context));
  add(std::make_unique<TaskStage>(m_context));
  add(std::make_unique<TargetStage>(m_context));
  add(std::move(rig));
  add(std::move(baselines));
  add(std::move(search));
  add(std::make_unique<SanitizerStage>(m_context, *m_rigs));
  add(std::make_unique<MeasureStage>(m_context, *m_rigs));
  add(std::make_unique<ProfileStage>(m_context, *m_rigs));
  m_feed = std::make_unique<ActivityFeed>(m_context, *m_rigs, *m_search);
  connect(m_search, &SearchStage::changed, m_feed.get(), &ActivityFeed::touch);
  connect(m_feed.get(), &ActivityFeed::progressed, this, &RunSession::progressed);
  connect(m_feed.get(), &ActivityFeed::archiveChanged, this, &RunSession::archiveChanged);
  connect(m_feed.get(), &ActivityFeed::lanesChanged, this, &RunSession::lanesChanged);
  connect(m_feed.get(), &ActivityFeed::proposersChanged, this, &RunSession::proposersChanged);
  connect(m_feed.get(), &ActivityFeed::pairsChanged, this, &RunSession::pairsChanged);
}

void RunSession::add(std::unique_ptr<Stage> added) {
  Stage& stage = *m_stages.emplace_back(std::move(added));
  connect(&stage, &Stage::finished, this, [this, &stage](const Result<>& done) { handleFinished(stage, done); });
  connect(&stage, &Stage::gone, this, &RunSession::finishWhenQuiet);
  connect(&stage, &Stage::stateChanged, this, [this](RunState state) {
    setState(state);
    m_feed->tellProgress();
  });
  connect(&stage, &Stage::doing, this, [this](const std::string& what) {
    m_context.doing = what;
    m_feed->tellProgress();
  });
  connect(&stage, &Stage::noticed, this, [this](const Notice& notice) {
    if (!m_concluding) {
      Q_EMIT noticed(notice);
    }
  });
  connect(&stage, &Stage::evaluated, this, [this](const store::CandidateRecord& candidate) {
    m_feed->touch();
    Q_EMIT candidateEvaluated(rowOf(candidate, m_context.eagerSpeedup, m_context.roof.roofNs));
  });
}

void RunSession::start(const services::RunSpec& spec) {
  SWAGE_ASSERT(m_context.state == RunState::Idle);
  m_context.spec = spec;
  if (spec.seed == services::kDrawnSeed) {
    m_context.spec.seed = drawSeed();
  }
  makeStages();
  setState(RunState::Importing);
  m_ticker.start();
  QTimer::singleShot(0, this, [this] {
    if (m_concluding) {
      return;
    }
    // A mistyped name must not leave an empty project behind.
    Result<> possible = m_context.spec.resume ? Result<>() : checkTaskExists(m_context.spec.task);
    if (possible) {
      possible = openRecord(m_context);
    }
    if (!possible) {
      fail(possible.error());
      return;
    }
    m_context.doing = "importing " + subjectOf(m_context.spec);
    m_feed->tellProgress();
    advance();
  });
}

// To the next stage that has anything to do; behind the last one the run has ended.
void RunSession::advance() {
  while (m_next < m_stages.size()) {
    Stage& stage = *m_stages[m_next++];
    if (stage.isNeeded()) {
      stage.start();
      return;
    }
  }
  conclude(std::nullopt, Interrupted::No);
}

void RunSession::handleFinished(const Stage& stage, const Result<>& done) {
  if (m_concluding) {
    return;
  }
  if (!done) {
    fail(done.error());
    return;
  }
  m_context.finishing = m_context.finishing || &stage == m_search;
  if (m_context.outcome.interrupted) {
    conclude(std::nullopt, Interrupted::Yes);
  } else {
    advance();
  }
}

bool RunSession::isActive() const {
  return m_context.state != RunState::Idle && !services::hasEnded(m_context.state) && !m_concluding;
}

void RunSession::pause() {
  if (!m_concluding && m_search != nullptr) {
    m_search->pause();
  }
}

void RunSession::resume() {
  if (!m_concluding && m_search != nullptr) {
    m_search->resume();
  }
}

void RunSession::stop() {
  if (!isActive() || m_context.state == RunState::Stopping) {
    return;
  }
  const Stage::Stop how = m_next > 0 ? m_stages[m_next - 1]->stop() : Stage::Stop::AtOnce;
  if (how == Stage::Stop::AtOnce) {
    conclude(std::nullopt, Interrupted::Yes);
    return;
  }
  m_context.outcome.interrupted = how == Stage::Stop::Interrupts;
  setState(RunState::Stopping);
}

void RunSession::kill() {
  if (isActive()) {
    conclude(std::nullopt, Interrupted::Yes, End::Kill);
  } else if (m_concluding) {
    end(End::Kill);
  }
}

namespace {
Error noSearch() {
  return Error(ErrorKind::InvalidInput, "no search is running");
}
}  // namespace

Result<> RunSession::follow(const services::PairOrder& order) {
  return m_concluding || m_search == nullptr ? Result<>(noSearch()) : m_search->follow(order);
}

Result<services::ReplyCheck> RunSession::checkReply(const std::string& text) const {
  return m_concluding || m_search == nullptr ? Result<services::ReplyCheck>(noSearch()) : m_search->checkReply(text);
}

void RunSession::setState(RunState state) {
  if (state != m_context.state) {
    m_context.state = state;
    Q_EMIT stateChanged(state);
  }
}

void RunSession::tick() {
  ++m_ticks;
  if (m_concluding) {
    return;
  }
  m_search->tick();
  m_feed->tick();
  if (!m_context.record) {
    return;
  }
  Result<> kept = m_feed->keepDue(*m_context.record);
  const bool isDue = m_context.state == RunState::Running && m_ticks % kTicksPerCheckpoint == 0;
  if (kept && isDue) {
    kept = m_context.keepStatus(store::RunStatus::Running);
  }
  if (!kept) {
    fail(kept.error());
  }
}

void RunSession::fail(const Error& error) {
  if (isActive()) {
    conclude(error, Interrupted::No);
  }
}

// The first call decides how the run ended; what still comes from the processes is ignored.
void RunSession::conclude(std::optional<Error> error, Interrupted interrupted, End how) {
  m_concluding = true;
  m_context.clock.hold();
  settleOutcome(std::move(error), interrupted);
  end(how);
}

void RunSession::settleOutcome(std::optional<Error> error, Interrupted interrupted) {
  services::RunOutcome& outcome = m_context.outcome;
  outcome.run = m_context.run;
  outcome.interrupted = interrupted == Interrupted::Yes;
  outcome.baselineMode = m_context.baselineMode;
  if (!outcome.best.isValid() && !outcome.winner.isValid() && m_context.searcher != nullptr) {
    if (const search::Elite* best = m_context.searcher->archive().bestOverall()) {
      outcome.best = best->candidate;
      outcome.bestSpeedup = best->overEager.times(m_context.eagerSpeedup);
    }
  }
  // PyTorch's own way, where it wins, is once as fast as itself.
  const bool isOwnWay = outcome.winner.isValid() && outcome.winner != outcome.best;
  outcome.targetMissed =
      std::max(outcome.bestSpeedup.low, isOwnWay ? 1.0 : 0.0) < services::wantedSpeedup(m_context.spec);
  if (m_context.record && m_context.run.isValid()) {
    const store::RunStatus status = error                 ? store::RunStatus::Failed
                                    : outcome.interrupted ? store::RunStatus::Interrupted
                                                          : store::RunStatus::Finished;
    Result<> stored = m_context.keepStatus(status);
    if (stored) {
      stored = m_feed->keepLast(*m_context.record);
    }
    if (!stored && !error) {
      error = std::move(stored).error();
    }
  }
  outcome.state = error ? RunState::Failed : outcome.interrupted ? RunState::Interrupted : RunState::Finished;
  outcome.error = std::move(error);
  outcome.cause = causeOf(outcome);
}

void RunSession::end(End how) {
  m_rigs->silence();
  if (how == End::Kill) {
    m_rigs->kill();
  }
  for (const auto& stage : m_stages) {
    if (how == End::Kill) {
      stage->kill();
    } else {
      stage->cancel();
    }
  }
  m_rigs->stop();
  QTimer::singleShot(0, this, &RunSession::finishWhenQuiet);
}

void RunSession::finishWhenQuiet() {
  const bool areGone =
      m_rigs->areGone() && std::all_of(m_stages.begin(), m_stages.end(), [](const auto& one) { return one->isGone(); });
  if (!m_concluding || !areGone || std::exchange(m_finishedEmitted, true)) {
    return;
  }
  m_feed->tellAll();
  m_ticker.stop();
  m_context.record.reset();
  m_rigs->giveBackFirst();
  setState(m_context.outcome.state);
  m_context.doing = services::name(m_context.outcome.state);
  m_context.steps = 0;
  m_feed->tellProgress();
  Q_EMIT finished(m_context.outcome);
}

}  // namespace swage::run
