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
#include "core/run/pipeline_options.h"
#include "core/run/recorded_case.h"
#include "core/run/recorded_swarm.h"
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

Result<> SearchStage::build() {
  SWAGE_TRY_ASSIGN(const store::RunRow row, m_context.record->run(m_context.run));
  m_context.eagerSpeedup = row.eagerSpeedup;
  m_context.baselineMode = row.baselineMode;
  const domain::Graph& graph = m_context.bundle->task.graph;
  m_context.roof = stats::roofline(graph, m_context.device);
  m_arithmetic = graph.outputs.empty() ? domain::ScalarType::Float32 : graph.type(graph.outputs.front().value).dtype;
  SWAGE_TRY_ASSIGN(m_synthesizer, m_context.parts.programs.makeSynthesizer(graph, m_context.device));
  search::SearchOptions search;
  search.seed = m_context.spec.seed;
  search.reachable = m_synthesizer->reachableCells();
  m_searcher = std::make_unique<search::Searcher>(*m_synthesizer, search);
  m_context.searcher = m_searcher.get();
  SWAGE_TRY(buildProposers());
  buildCompilers();
  buildPipeline();
  SWAGE_TRY(takeUpHistory());
  m_context.identity = m_pipeline->identity();
  return {};
}

// The search first: it keeps the archive.
Result<> SearchStage::buildProposers() {
  m_proposers = std::make_unique<ProposerPool>(ProposerPool::Options{
      .now = m_context.parts.now,
      .isElite =
          [this](const store::CandidateRecord& candidate) { return holdsItsCell(candidate, m_searcher->archive()); },
      .budget = {.cents = 100.0 * m_context.spec.budgetUsd, .tokens = m_context.spec.budgetTokens}});
  auto search = std::make_unique<SearcherProposer>(*m_searcher, *m_synthesizer);
  m_search = search.get();
  SWAGE_TRY(buildPairs());
  SWAGE_TRY(m_proposers->add(std::move(search),
                             m_context.parts.searches ? ProposerPool::Turns::Some : ProposerPool::Turns::None));
  const ProposerContext context{.task = m_context.bundle->task,
                                .device = m_context.device,
                                .run = m_context.run,
                                .seed = m_context.spec.seed,
                                .source = m_context.bundle->applied,
                                .adviceFor = m_pairs ? AdviceFor([this](auto id) { return adviceFor(id); }) : nullptr,
                                .numbersFor = [this](auto id) { return numbersFor(id); }};
  std::vector<ModelProposer*> models;
  for (const ProposerFactory& make : m_context.parts.proposers) {
    std::unique_ptr<Proposer> made = make(context);
    if (auto* model = qobject_cast<ModelProposer*>(made.get())) {
      models.push_back(model);
    }
    SWAGE_TRY(m_proposers->add(std::move(made)));
  }
  buildProfiles(!models.empty());
  buildFeed(std::move(models));
  connect(m_proposers.get(), &ProposerPool::spent, this, &SearchStage::keepSpending);
  connect(m_proposers.get(), &ProposerPool::dropped, this, [this](const auto& proposer, const Error& why) {
    if (m_context.parts.searches || m_proposers->isAnybodyLeft()) {  // else the end of the search says it
      notice(Notice::Severity::Warning,
             fmt::format("the proposer '{}' is no longer used in this run: {}", proposer.text(), why.message()),
             why.hint());
    }
  });
  return {};
}

void SearchStage::buildFeed(std::vector<ModelProposer*> models) {
  for (const ModelProposer* model : models) {
    connect(model, &ModelProposer::advised, this, [this](const judge::SwarmNews& news) {
      if (news.scored && m_pairs) {
        m_pairs->restore(*news.scored);
      }
      takeNews(news);
    });
  }
  m_swarmFeed = std::make_unique<SwarmFeed>(
      SwarmFeed::Parts{.swarm = m_pairs.get(),
                       .pool = m_proposers.get(),
                       .searcher = m_searcher.get(),
                       .models = std::move(models),
                       .budget = {.cents = 100.0 * m_context.spec.budgetUsd, .tokens = m_context.spec.budgetTokens}});
}

void SearchStage::buildProfiles(bool hasModels) {
  const std::vector<domain::DeviceKind>& kinds = m_context.parts.profiledInSearch;
  const bool isPossible = std::find(kinds.begin(), kinds.end(), m_context.device.kind) != kinds.end();
  if (!isPossible || (!m_pairs && !hasModels)) {
    return;
  }
  m_profiles = std::make_unique<SearchProfiles>(m_context, m_rigs);
  connect(m_profiles.get(), &SearchProfiles::profiled, this, &SearchStage::showProfile);
  connect(m_profiles.get(), &SearchProfiles::finished, this, &SearchStage::endProfile);
  connect(m_profiles.get(), &SearchProfiles::givenUp, this, [this](const Error& why) {
    notice(Notice::Severity::Info, "no more candidates are profiled during this search: " + why.message(), why.hint());
  });
}

// Models read it with the candidate.
void SearchStage::showProfile(domain::CandidateId id) {
  const auto recorded = RecordedCase::read(*m_context.record, id);
  if (recorded && recorded->profile) {
    m_search->takeProfile(recorded->candidate, *recorded->profile);
    Q_EMIT changed();
  }
}

// None without a judge, or where this installation has no rules.
Result<> SearchStage::buildPairs() {
  if (!m_context.spec.judge || !m_context.parts.rules) {
    return {};
  }
  SWAGE_TRY_ASSIGN(m_rules,
                   judge::RuleBook::load(process::ruleFolders(*m_context.parts.rules, m_context.spec.project)));
  judge::SwarmOptions options;
  options.pairs = std::clamp(m_context.spec.pairs, 1, services::kMostPairs);
  options.islands = m_searcher->archive().islandCount();
  options.seed = m_context.spec.seed;
  m_pairs = std::make_unique<judge::Swarm>(m_rules, options);
  if (const std::optional<Notice> told = beginWithExperience(m_context, *m_pairs)) {
    Q_EMIT noticed(*told);
  }
  m_search->guideBy(*m_pairs, m_context.device, m_context.roof, m_arithmetic);
  return {};
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

void SearchStage::buildCompilers() {
  const process::Programs& programs = m_context.parts.programs;
  process::CompilerPool::Options pool;
  pool.command = programs.compilerCommand;
  pool.size = programs.compilersFor(m_context.device.kind);
  pool.stopGrace = programs.stopGrace;
  pool.now = m_context.parts.now;
  m_compilers = std::make_unique<process::CompilerPool>(std::move(pool));
  m_compilersGone = false;
  connect(m_compilers.get(), &process::CompilerPool::failed, this, [this](const Error& error) { finish(error); });
  connect(m_compilers.get(), &process::CompilerPool::stopped, this, [this] {
    m_compilersGone = true;
    Q_EMIT gone();
  });
}

void SearchStage::buildPipeline() {
  CandidatePipeline::Options options = pipelineOptions(m_context, m_compilers->size());
  options.mayPropose = [this](std::int64_t inFlight) {
    const std::int64_t most = m_context.spec.maxEvaluations;
    return (!m_context.isTimeOver() || waitsForFirstKernel()) &&
           (most <= 0 || m_pipeline->evaluations() + inFlight < most);
  };
  m_pipeline = std::make_unique<CandidatePipeline>(
      CandidatePipeline::Parts{*m_context.record, *m_proposers, *m_compilers, m_rigs.first().worker()},
      std::move(options));
  connect(m_pipeline.get(), &CandidatePipeline::proposed, this, [this](const store::CandidateRecord& candidate) {
    m_board.countProposed(candidate);
    Q_EMIT changed();
  });
  connect(m_pipeline.get(), &CandidatePipeline::restored, this, [this](const auto& candidate) {
    m_board.takeUp(candidate, m_searcher->archive());
    m_swarmFeed->takeUp(candidate);
  });
  connect(m_pipeline.get(), &CandidatePipeline::ended, this, &SearchStage::handleEnded);
  connect(m_pipeline.get(), &CandidatePipeline::halted, this, &SearchStage::handleHalted);
  connect(m_pipeline.get(), &CandidatePipeline::drained, this, &SearchStage::handleDrained);
  connect(m_pipeline.get(), &CandidatePipeline::failed, this, [this](const Error& error) { finish(error); });
}

Result<> SearchStage::takeUpHistory() {
  const store::Record& record = *m_context.record;
  if (m_context.resumed) {
    if (m_pairs) {
      SWAGE_TRY(restoreCredit(record, m_context.run, *m_pairs));
    }
    SWAGE_TRY_ASSIGN(std::vector<store::CandidateRecord> history, record.history(m_context.run));
    SWAGE_TRY(m_pipeline->restore(std::move(history)));
    SWAGE_TRY(addRecordedCosts(record, m_context.run, *m_proposers));
    SWAGE_TRY_ASSIGN(SwarmBoard board, recordedBoard(record, m_context.run));
    m_swarmFeed->takeUp(std::move(board));
  }
  // From here on: what pairs do with an earlier sitting's candidates has been said.
  connect(m_search, &SearcherProposer::advised, this, &SearchStage::takeNews);
  if (m_pipeline->identity().isValid()) {
    return {};
  }
  Result<domain::Program> program = m_synthesizer->realise(domain::Genome());
  if (!program) {
    return std::move(program).error().withContext("writing the graph as a launch plan");
  }
  m_pipeline->addIdentity(std::move(*program));
  return {};
}

// Nobody has asked it to pause or to end.
bool SearchStage::isSearching() const {
  const bool isAsked = m_afterHalt != AfterHalt::Nothing && m_afterHalt != AfterHalt::Profile;
  return !m_over && m_context.state == RunState::Running && !isAsked;
}

// The kernels of a large model may take longer to find and to compile than a short search has.
bool SearchStage::waitsForFirstKernel() const {
  const double over = m_context.clock.elapsedSeconds() - m_context.spec.timeBudgetSeconds;
  return !m_hasEvaluatedKernel && over < kFirstKernelSeconds;
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
    notice(Notice::Severity::Warning,
           fmt::format("the task's own operators, run one by one, do not pass: {}{}{}",
                       domain::summary(*candidate.evaluation), wrong != nullptr && !wrong->detail.empty() ? ": " : "",
                       wrong != nullptr ? wrong->detail : std::string()));
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
