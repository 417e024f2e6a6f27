// SPDX-License-Identifier: Apache-2.0
// What a search is made of, and what it takes up of an earlier sitting.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/run/advice_event.h"
#include "core/run/learned_advice.h"
#include "core/run/offer_event.h"
#include "core/run/pipeline_options.h"
#include "core/run/recorded_swarm.h"
#include "core/run/search_stage.h"

namespace swage::run {

using services::Notice;

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
    noteKernel(candidate);
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
}  // namespace swage::run
