// SPDX-License-Identifier: Apache-2.0
#include "core/run/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/run/baseline_stage.h"
#include "core/run/elite_profiles.h"
#include "core/run/snapshots.h"
#include "core/store/failures.h"

namespace swage::run {
namespace {

using services::RunState;

constexpr std::chrono::milliseconds kTick{100};
constexpr int kTicksPerArchive = 3;
constexpr int kTicksPerProgress = 2;
constexpr int kTicksPerCheckpoint = 50;

// What the device or its worker is to blame for was said when it happened.
services::Notice::Subject causeOf(const services::RunOutcome& outcome) {
  using Subject = services::Notice::Subject;
  if (!outcome.error) {
    return Subject::Other;
  }
  if (store::isDiskFull(*outcome.error)) {
    return Subject::DiskFull;
  }
  return store::isHeld(*outcome.error) ? Subject::RecordLocked : outcome.cause;
}

}  // namespace

Session::Session(SessionParts parts, QObject* parent)
    : QObject(parent), m_parts(std::move(parts)), m_clock(m_parts.now) {
  m_ticker.setInterval(kTick);
  connect(&m_ticker, &QTimer::timeout, this, &Session::tick);
}

// In this order: a pipeline borrows from all the others.
Session::~Session() {
  m_profiles.reset();
  m_sanitizing.reset();
  m_finishing.reset();
  m_pipeline.reset();
  m_proposerPool.reset();
}

void Session::start(const services::RunSpec& spec) {
  SWAGE_ASSERT(m_state == RunState::Idle);
  m_spec = spec;
  setState(RunState::Importing);
  m_ticker.start();
  QTimer::singleShot(0, this, [this] {
    if (m_concluding) {
      return;
    }
    // A mistyped name must not leave an empty project behind.
    Result<> possible = m_spec.resume ? Result<>() : checkTaskExists(m_spec.task);
    if (!possible) {
      fail(possible.error());
      return;
    }
    if (const Result<> opened = openRecord(); !opened) {
      fail(opened.error());
      return;
    }
    checkCompiler();
  });
}

bool Session::isActive() const {
  return m_state != RunState::Idle && !services::hasEnded(m_state) && !m_concluding;
}

void Session::pause() {
  if (m_state == RunState::Running && m_afterHalt == AfterHalt::Nothing && !isFinishing()) {
    requestHalt(AfterHalt::Pause);
  }
}

void Session::resume() {
  if (m_concluding) {
    return;
  }
  if (m_state == RunState::Running && m_afterHalt == AfterHalt::Pause) {
    m_afterHalt = AfterHalt::Nothing;
    m_pipeline->run();
    return;
  }
  if (m_state != RunState::Paused) {
    return;
  }
  if (const Result<> stored = m_record->setRunStatus(m_run, store::RunStatus::Running, m_clock.elapsedSeconds());
      !stored) {
    fail(stored.error());
    return;
  }
  m_clock.run();
  setState(RunState::Running);
  m_pipeline->run();
}

void Session::stop() {
  if (!isActive() || m_state == RunState::Stopping) {
    return;
  }
  const bool searching = m_state == RunState::Running && m_pipeline;
  if (!searching) {
    conclude(std::nullopt, true, &Session::stopProcesses);
    return;
  }
  setState(RunState::Stopping);
  if (m_profiles) {
    m_profiles->cancel();
  } else if (m_sanitizing && !m_finishing) {
    m_outcome.interrupted = true;
    m_sanitizing->cancel();
  } else if (m_finishing) {
    m_finishing->cancel();
    m_outcome.interrupted = true;
  } else {
    requestHalt(AfterHalt::Stop);
  }
}

void Session::kill() {
  if (isActive()) {
    conclude(std::nullopt, true, &Session::killProcesses);
  } else if (m_concluding) {
    killProcesses();
  }
}

void Session::setState(RunState state) {
  if (state != m_state) {
    m_state = state;
    Q_EMIT stateChanged(state);
  }
}

bool Session::isTimeOver() const {
  return m_spec.timeBudgetSeconds > 0.0 && m_clock.elapsedSeconds() >= m_spec.timeBudgetSeconds;
}

bool Session::mayPropose(std::int64_t inFlight) const {
  return !isTimeOver() && (m_spec.maxEvaluations <= 0 || m_pipeline->evaluations() + inFlight < m_spec.maxEvaluations);
}

void Session::handleEnded(const store::CandidateRecord& candidate, double trialSeconds) {
  m_archiveDirty = true;
  m_proposers.countEnded(candidate, trialSeconds, m_searcher->archive());
  Q_EMIT candidateEvaluated(rowOf(candidate, m_eagerSpeedup, m_roof.roofNs));
  const bool isIdentity = candidate.id == m_pipeline->identity();
  if (isIdentity && candidate.evaluation && domain::asCorrect(*candidate.evaluation) == nullptr) {
    notice(services::Notice::Severity::Warning,
           "the task's own operators, run one by one, do not pass: " + domain::summary(*candidate.evaluation));
  }
  const search::Elite* best = m_searcher->archive().bestOverall();
  const bool reached = m_spec.targetSpeedup > 0.0 && best != nullptr &&
                       best->overEager.times(m_eagerSpeedup).low >= m_spec.targetSpeedup;
  if (reached && m_state == RunState::Running && m_afterHalt == AfterHalt::Nothing && !isFinishing()) {
    notice(services::Notice::Severity::Info,
           fmt::format("the speedup of candidate {} is significantly above {:g}: the search ends",
                       best->candidate.value(), m_spec.targetSpeedup));
    requestHalt(AfterHalt::Finish);
  }
}

void Session::requestHalt(AfterHalt then) {
  m_afterHalt = then;
  m_pipeline->halt();
}

void Session::handleHalted() {
  if (m_concluding) {
    return;
  }
  switch (std::exchange(m_afterHalt, AfterHalt::Nothing)) {
    case AfterHalt::Nothing: return;
    case AfterHalt::Pause: {
      m_clock.hold();
      const Result<> stored = m_record->setRunStatus(m_run, store::RunStatus::Paused, m_clock.elapsedSeconds());
      if (!stored) {
        fail(stored.error());
        return;
      }
      setState(RunState::Paused);
      emitProgress();
      return;
    }
    case AfterHalt::Stop: conclude(std::nullopt, true, &Session::stopProcesses); return;
    case AfterHalt::Finish: finishSearch(); return;
  }
}

void Session::handleDrained() {
  if (m_concluding || isFinishing() || m_afterHalt != AfterHalt::Nothing || m_state != RunState::Running) {
    return;
  }
  if (m_search->isExhausted()) {
    notice(services::Notice::Severity::Info, "every program the patterns can make for this task has been tried");
  }
  requestHalt(AfterHalt::Finish);
}

void Session::tick() {
  ++m_ticks;
  if (m_concluding) {
    return;
  }
  if (m_state == RunState::Running && m_afterHalt == AfterHalt::Nothing && !isFinishing() && isTimeOver()) {
    requestHalt(AfterHalt::Finish);
  }
  if (m_ticks % kTicksPerProgress == 0) {
    emitProgress();
    emitLanes();
  }
  if (m_archiveDirty && m_searcher && m_ticks % kTicksPerArchive == 0) {
    m_archiveDirty = false;
    Q_EMIT archiveChanged(cellsOf(m_searcher->archive(), m_device, m_eagerSpeedup, m_roof.roofNs));
    emitProposers();
  }
  if (m_state == RunState::Running && m_run.isValid() && m_ticks % kTicksPerCheckpoint == 0) {
    if (const Result<> stored = m_record->setRunStatus(m_run, store::RunStatus::Running, m_clock.elapsedSeconds());
        !stored) {
      fail(stored.error());
    }
  }
  if (const Result<> kept = keepProposers(Keep::WhenDue); !kept) {
    fail(kept.error());
  }
}

void Session::notice(services::Notice::Severity severity, std::string text, std::string hint) {
  Q_EMIT noticed({.severity = severity, .text = std::move(text), .hint = std::move(hint)});
}

void Session::noticeLostGpu(const Error& error) {
  Q_EMIT noticed({.severity = services::Notice::Severity::Warning,
                  .text = "a GPU is left out: " + error.message(),
                  .hint = error.hint(),
                  .subject = services::Notice::Subject::GpuLost});
}

void Session::fail(const Error& error) {
  if (isActive()) {
    conclude(error, false, &Session::stopProcesses);
  }
}

// The first call decides how the run ended; what still comes from the processes is ignored.
void Session::conclude(std::optional<Error> error, bool interrupted, void (Session::*endProcesses)()) {
  m_concluding = true;
  m_clock.hold();
  m_outcome.run = m_run;
  m_outcome.interrupted = interrupted;
  m_outcome.baselineMode = m_baselineMode;
  if (!m_outcome.best.isValid() && !m_outcome.winner.isValid() && m_searcher) {
    if (const search::Elite* best = m_searcher->archive().bestOverall()) {
      m_outcome.best = best->candidate;
      m_outcome.bestSpeedup = best->overEager.times(m_eagerSpeedup);
    }
  }
  // PyTorch's own way, where it wins, is once as fast as itself.
  const bool isOwnWay = m_outcome.winner.isValid() && m_outcome.winner != m_outcome.best;
  m_outcome.targetMissed = std::max(m_outcome.bestSpeedup.low, isOwnWay ? 1.0 : 0.0) < services::wantedSpeedup(m_spec);
  if (m_record && m_run.isValid()) {
    const store::RunStatus status = error         ? store::RunStatus::Failed
                                    : interrupted ? store::RunStatus::Interrupted
                                                  : store::RunStatus::Finished;
    Result<> stored = m_record->setRunStatus(m_run, status, m_clock.elapsedSeconds());
    if (stored) {
      stored = keepProposers(Keep::Now);
    }
    if (!stored && !error) {
      error = std::move(stored).error();
    }
  }
  m_outcome.state = error ? RunState::Failed : interrupted ? RunState::Interrupted : RunState::Finished;
  m_outcome.error = std::move(error);
  m_outcome.cause = causeOf(m_outcome);
  (this->*endProcesses)();
}

void Session::stopProcesses() {
  if (m_sanitizing) {
    m_sanitizing->cancel();
  }
  if (m_pipeline) {
    m_pipeline->halt();
  }
  if (m_compilerCheck) {
    m_compilerCheck->cancel();
  }
  if (m_preparation) {
    m_preparation->cancel();
  }
  if (m_targetChoice) {
    m_targetChoice->cancel();
  }
  if (m_baselineStage) {
    m_baselineStage->cancel();
  }
  if (m_finishing) {
    m_finishing->abandon();
  }
  if (m_profiles && m_profiles->isRunning()) {
    m_profiles->cancel();
  }
  if (m_rig) {
    m_rig->stop();
  }
  endLanes(&trust::Rig::stop);
  if (m_compilers && !m_compilersGone) {
    m_compilers->stop();
  }
  QTimer::singleShot(0, this, &Session::finishWhenQuiet);
}

void Session::killProcesses() {
  if (m_rig) {
    m_rig->kill();
  }
  endLanes(&trust::Rig::kill);
  if (m_compilers && !m_compilersGone) {
    m_compilers->kill();
  }
  stopProcesses();
}

void Session::closeRecord() {
  m_ticker.stop();
  m_record.reset();
  if (m_rig) {
    m_rig->giveBackDevice();
  }
}

void Session::finishWhenQuiet() {
  const bool profiling = m_profiles && m_profiles->isRunning();
  const bool isRigGone = !m_rig || m_rig->isGone();
  if (!m_concluding || !isRigGone || !m_compilersGone || !areLanesGone() || profiling ||
      std::exchange(m_finishedEmitted, true)) {
    return;
  }
  if (m_searcher) {
    Q_EMIT archiveChanged(cellsOf(m_searcher->archive(), m_device, m_eagerSpeedup, m_roof.roofNs));
    emitProposers();
  }
  emitLanes();
  closeRecord();
  setState(m_outcome.state);
  m_stage = services::name(m_outcome.state);
  m_selfTestSteps = 0;
  emitProgress();
  Q_EMIT finished(m_outcome);
}

}  // namespace swage::run
