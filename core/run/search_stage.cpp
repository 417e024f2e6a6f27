// SPDX-License-Identifier: Apache-2.0
#include "core/run/search_stage.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/run/advice_event.h"
#include "core/run/learned_advice.h"
#include "core/run/models_end.h"
#include "core/run/offer_event.h"
#include "core/run/pair_order.h"
#include "core/run/recorded_case.h"
#include "core/run/reply_check.h"
#include "core/search/contenders.h"

namespace swage::run {

using services::Notice;
using services::RunState;

namespace {

constexpr double kFirstKernelSeconds = 30.0;  // beyond its time, until which a search waits for its first kernel

}  // namespace

SearchStage::SearchStage(RunContext& context, RunRigs& rigs) : Stage(context), m_rigs(rigs) {
  connect(&m_rigs, &RunRigs::joined, this, [this](process::WorkerSupervisor& worker, const std::string& device) {
    m_pipeline->addWorker(worker, device);
  });
  connect(&m_rigs, &RunRigs::left, this,
          [this](process::WorkerSupervisor& worker) { m_pipeline->removeWorker(worker); });
}

SearchStage::~SearchStage() {
  m_context.searcher = nullptr;
}

void SearchStage::start() {
  if (const Result<> built = build(); !built) {
    finish(built.error());
    return;
  }
  m_beginning = {m_pipeline->evaluations(), m_context.clock.elapsedSeconds()};
  Q_EMIT changed();
  m_context.clock.run();
  Q_EMIT stateChanged(RunState::Running);
  Q_EMIT doing({});
  m_pipeline->run();
  m_rigs.open();
  if (m_profiles && m_context.resumed) {
    for (const search::Contender& elite : search::contendersOf(m_searcher->archive())) {
      showProfile(elite.id);
    }
  }
}

// Models read it with the candidate.
void SearchStage::showProfile(domain::CandidateId id) {
  const auto recorded = RecordedCase::read(*m_context.record, id);
  if (recorded && recorded->profile) {
    m_search->takeProfile(recorded->candidate, *recorded->profile);
    Q_EMIT changed();
  }
}

std::optional<judge::GivenAdvice> SearchStage::adviceFor(domain::CandidateId id) const {
  const auto recorded = RecordedCase::read(*m_context.record, id);
  return recorded ? m_pairs->adviceFor(recorded->on(m_context.device, m_context.roof, m_arithmetic), id) : std::nullopt;
}

std::vector<models::KernelNumbers> SearchStage::numbersFor(domain::CandidateId id) const {
  const auto recorded = RecordedCase::read(*m_context.record, id);
  return recorded ? kernelNumbers(recorded->on(m_context.device, m_context.roof, m_arithmetic))
                  : std::vector<models::KernelNumbers>();
}

void SearchStage::takeNews(const judge::SwarmNews& news) {
  m_swarmFeed->take(news);
  if (const Result<> kept = keepNews(*m_context.record, m_context.run, news); !kept) {
    finish(kept.error());
  }
}

// Also while the search ends, when nothing can be done about a record that takes nothing any more.
void SearchStage::keepSpending(const domain::ProposerName& proposer, const search::Cost& cost,
                               const std::string& conversation) {
  const Offer lost{.madeBy = proposer, .program = {}, .cost = cost, .conversation = conversation};
  const Result<> kept = keepOffer(*m_context.record, m_context.run, {}, lost);
  if (!kept && !m_over) {
    finish(kept.error());
  } else if (!kept) {
    notice(Notice::Severity::Warning,
           fmt::format("what '{}' has spent last cannot be saved: {}", proposer.text(), kept.error().message()),
           kept.error().hint());
  }
}

bool SearchStage::isSearching() const {
  const bool isAsked = m_afterHalt != AfterHalt::Nothing && m_afterHalt != AfterHalt::Profile;
  return !m_over && m_context.state == RunState::Running && !isAsked;
}

// The kernels of a large model may take longer to find and to compile than a short search has.
bool SearchStage::waitsForFirstKernel() const {
  const double over = m_context.clock.elapsedSeconds() - m_context.spec.timeBudgetSeconds;
  return !m_hasEvaluatedKernel && over < kFirstKernelSeconds;
}

void SearchStage::noteKernel(const store::CandidateRecord& candidate) {
  m_hasEvaluatedKernel =
      m_hasEvaluatedKernel || (candidate.program.plan.hasKernels() && candidate.evaluation &&
                               !std::holds_alternative<domain::CompileFailed>(*candidate.evaluation));
}

void SearchStage::tick() {
  if (!isSearching() || !m_context.isTimeOver()) {
    return;
  }
  if (waitsForFirstKernel()) {
    if (!std::exchange(m_isOverdue, true)) {
      notice(
          Notice::Severity::Info,
          fmt::format("the time is over, but no kernel has been evaluated: the search waits for the first one, for at "
                      "most {:g} s",
                      kFirstKernelSeconds));
    }
    return;
  }
  requestHalt(AfterHalt::Finish);
}

void SearchStage::handleEnded(const store::CandidateRecord& candidate, double trialSeconds) {
  m_board.countEnded(candidate, trialSeconds, m_searcher->archive());
  m_swarmFeed->ended(candidate);
  Q_EMIT changed();
  Q_EMIT evaluated(candidate);
  const bool isIdentity = candidate.id == m_pipeline->identity();
  m_hasEvaluatedKernel =
      m_hasEvaluatedKernel ||
      (!isIdentity && candidate.evaluation && !std::holds_alternative<domain::CompileFailed>(*candidate.evaluation));
  if (isIdentity && candidate.evaluation && domain::asCorrect(*candidate.evaluation) == nullptr) {
    const auto* wrong = std::get_if<domain::Wrong>(&*candidate.evaluation);
    const std::string why = wrong != nullptr && !wrong->detail.empty() ? ": " + wrong->detail : "";
    notice(Notice::Severity::Warning,
           "the task's own operators, run one by one, do not pass: " + domain::summary(*candidate.evaluation) + why);
  }
  const double target = m_context.spec.targetSpeedup;
  const search::Elite* best = m_searcher->archive().bestOverall();
  const bool reached = target > 0.0 && best != nullptr && best->overEager.times(m_context.eagerSpeedup).low >= target;
  if (reached && isSearching()) {
    notice(Notice::Severity::Info,
           fmt::format("the speedup of candidate {} is significantly above {:g}: the search ends",
                       best->candidate.value(), target));
    requestHalt(AfterHalt::Finish);
  }
  // Behind an evaluation: on a CPU compilers have nothing to do then.
  const bool isCorrect = candidate.evaluation && domain::asCorrect(*candidate.evaluation) != nullptr;
  const bool isFree = isSearching() && m_afterHalt == AfterHalt::Nothing;
  if (isCorrect && isFree && m_profiles && m_profiles->isDue(m_pipeline->evaluations())) {
    requestHalt(AfterHalt::Profile);
  }
}

void SearchStage::handleDrained() {
  if (!isSearching()) {
    return;
  }
  if (m_search->isExhausted()) {
    notice(Notice::Severity::Info, "every program the patterns can make for this task has been tried");
  }
  requestHalt(AfterHalt::Finish);
}

void SearchStage::requestHalt(AfterHalt then) {
  m_afterHalt = then;
  if (isProfiling()) {
    m_profiles->cancel();  // the pipeline is halted already, until endProfile()
  } else {
    m_pipeline->halt();
  }
}

void SearchStage::beginProfile() {
  if (!m_profiles->start()) {
    m_pipeline->run();
    return;
  }
  m_rigs.lendFirst("profiling");
  Q_EMIT doing(fmt::format("profiling candidate {}", m_profiles->candidate().value()));
}

void SearchStage::endProfile() {
  if (m_over) {
    Q_EMIT gone();
    return;
  }
  m_rigs.lendFirst({});
  Q_EMIT doing({});
  if (m_afterHalt == AfterHalt::Nothing) {
    m_pipeline->run();
  } else {
    m_pipeline->halt();  // it says so once more
  }
}

void SearchStage::handleHalted() {
  if (isProfiling()) {
    return;
  }
  const AfterHalt then = std::exchange(m_afterHalt, AfterHalt::Nothing);
  if (m_over || then == AfterHalt::Nothing) {
    return;
  }
  if (then == AfterHalt::Profile) {
    beginProfile();
    return;
  }
  m_context.clock.hold();
  if (then == AfterHalt::Pause) {
    if (const Result<> kept = m_context.keepStatus(store::RunStatus::Paused); !kept) {
      finish(kept.error());
      return;
    }
    Q_EMIT stateChanged(RunState::Paused);
    return;
  }
  const ModelsEnd models =
      then == AfterHalt::Finish ? modelsEnd(m_context, *m_proposers, m_pipeline->evaluations()) : ModelsEnd{};
  if (models.warning) {
    Q_EMIT noticed(*models.warning);
  }
  m_over = true;
  m_proposers->stop();
  if (const auto told = m_pairs ? leaveExperience(m_context) : std::nullopt) {
    Q_EMIT noticed(*told);
  }
  m_rigs.close();
  finish(models.error ? Result<>(*models.error) : Result<>());
}

void SearchStage::pause() {
  if (isSearching()) {
    requestHalt(AfterHalt::Pause);
  }
}

void SearchStage::resume() {
  if (m_context.state == RunState::Running && m_afterHalt == AfterHalt::Pause) {
    m_afterHalt = AfterHalt::Nothing;
    if (!isProfiling()) {
      m_pipeline->run();
    }
    return;
  }
  if (m_over || m_context.state != RunState::Paused) {
    return;
  }
  if (const Result<> kept = m_context.keepStatus(store::RunStatus::Running); !kept) {
    finish(kept.error());
    return;
  }
  m_context.clock.run();
  Q_EMIT stateChanged(RunState::Running);
  m_pipeline->run();
}

Stage::Stop SearchStage::stop() {
  if (m_context.state != RunState::Running) {
    return Stop::AtOnce;  // paused: nothing is in flight that has to end
  }
  requestHalt(AfterHalt::Stop);
  return Stop::Interrupts;
}

void SearchStage::cancel() {
  m_over = true;
  if (m_profiles) {
    m_profiles->cancel();
  }
  if (m_pipeline) {
    m_pipeline->halt();
  }
  if (m_proposers) {
    m_proposers->stop();
  }
  if (!m_compilersGone) {
    m_compilers->stop();
  }
}

void SearchStage::kill() {
  if (!m_compilersGone) {
    m_compilers->kill();
  }
  cancel();
}

void SearchStage::addTo(services::Progress& progress) const {
  if (!isBuilt()) {
    return;
  }
  if (m_context.doing.empty()) {
    progress.stage = m_pipeline->stage();
  }
  progress.evaluations = m_pipeline->evaluations();
  progress.correct = m_pipeline->correct();
  const double seconds = progress.elapsedSeconds - m_beginning.elapsedSeconds;
  progress.perSecond =
      seconds > 0.0 ? static_cast<double>(progress.evaluations - m_beginning.evaluations) / seconds : 0.0;
  progress.filledCells = m_searcher->archive().filledCells();
  if (const search::Elite* best = m_searcher->archive().bestOverall()) {
    progress.best = best->candidate;
    progress.bestSpeedup = best->overEager.times(m_context.eagerSpeedup);
  }
}

domain::CandidateId SearchStage::candidateOf(const process::WorkerSupervisor& worker) const {
  if (isProfiling() && &worker == &m_rigs.first().worker()) {
    return m_profiles->candidate();
  }
  return m_pipeline ? m_pipeline->candidateOf(worker) : domain::CandidateId();
}

std::vector<services::LaneStatus> SearchStage::compilerLanes() const {
  return m_compilers ? m_compilers->lanes() : std::vector<services::LaneStatus>();
}

services::ProposerReport SearchStage::proposers() const {
  return m_board.report(*m_searcher, m_proposers->credits(), m_search->name(), m_context.clock.elapsedSeconds());
}

services::SwarmReport SearchStage::pairs() const {
  return m_swarmFeed->report();
}

Result<> SearchStage::follow(const services::PairOrder& order) {
  if (!isBuilt() || m_over) {
    return Error(ErrorKind::InvalidInput, "pairs can only be addressed while the search is running");
  }
  SWAGE_TRY(m_swarmFeed->follow(order));
  SWAGE_TRY(keepOrder(*m_context.record, m_context.run, order));
  Q_EMIT changed();
  return {};
}

Result<services::ReplyCheck> SearchStage::checkReply(const std::string& text) const {
  if (!isBuilt()) {
    return Error(ErrorKind::InvalidInput, "the search has not begun");
  }
  return readReply(text, domain::standardLanguage(m_context.device.kind), m_context.bundle->task.graph);
}

}  // namespace swage::run
