// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/judge/swarm.h"
#include "core/process/compiler_pool.h"
#include "core/run/candidate_pipeline.h"
#include "core/run/proposer_board.h"
#include "core/run/proposer_pool.h"
#include "core/run/run_rigs.h"
#include "core/run/search_profiles.h"
#include "core/run/searcher_proposer.h"
#include "core/run/stage.h"
#include "core/run/swarm_feed.h"
#include "core/search/searcher.h"
#include "core/synth/synthesizer.h"

namespace swage::run {

// The search itself: proposers, compilers and workers around a pipeline, until a budget is used up, the target is
// reached, or nothing is left to try. Now and then it holds the pipeline for a profile, which pairs and models read.
// Searcher and compilers stay until the end of the run.
class SearchStage final : public Stage {
  Q_OBJECT

 public:
  // `rigs` outlives this.
  SearchStage(RunContext& context, RunRigs& rigs);
  ~SearchStage() override;

  void start() override;
  Stop stop() override;
  void cancel() override;
  void kill() override;
  [[nodiscard]] bool isGone() const override { return m_compilersGone && (!m_profiles || m_profiles->isGone()); }

  void pause();
  void resume();
  // A few times a second: whether the time is over.
  void tick();

  // There is a searcher, with proposers and a pipeline.
  [[nodiscard]] bool isBuilt() const { return m_pipeline != nullptr; }
  // What there is to see; empty and zero before it is built.
  void addTo(services::Progress& progress) const;
  [[nodiscard]] domain::CandidateId candidateOf(const process::WorkerSupervisor& worker) const;
  [[nodiscard]] std::vector<services::LaneStatus> compilerLanes() const;
  [[nodiscard]] services::ProposerReport proposers() const;  // isBuilt()
  [[nodiscard]] services::SwarmReport pairs() const;         // isBuilt()
  // What a person wants of a pair; kept in the record once it holds. Errors are a person's to read.
  [[nodiscard]] Result<> follow(const services::PairOrder& order);
  // How a reply of a model would be read.
  [[nodiscard]] Result<services::ReplyCheck> checkReply(const std::string& text) const;

 Q_SIGNALS:
  // The archive, or what is known of proposers.
  void changed();

 private:
  enum class AfterHalt : std::uint8_t { Nothing, Profile, Pause, Stop, Finish };

  [[nodiscard]] Result<> build();
  [[nodiscard]] Result<> buildProposers();
  [[nodiscard]] Result<> buildPairs();
  // What the judge names about a candidate of the record, for a model.
  [[nodiscard]] std::optional<judge::GivenAdvice> adviceFor(domain::CandidateId id) const;
  [[nodiscard]] std::vector<models::KernelNumbers> numbersFor(domain::CandidateId id) const;
  void takeNews(const judge::SwarmNews& news);
  // Calls of a model that no candidate came of.
  void keepSpending(const domain::ProposerName& proposer, const search::Cost& cost, const std::string& conversation);
  void buildCompilers();
  void buildPipeline();
  void buildFeed(std::vector<ModelProposer*> models);
  void buildProfiles(bool hasModels);
  [[nodiscard]] Result<> takeUpHistory();
  [[nodiscard]] bool isSearching() const;
  void handleEnded(const store::CandidateRecord& candidate, double trialSeconds);
  void handleHalted();
  void handleDrained();
  void requestHalt(AfterHalt then);
  [[nodiscard]] bool isProfiling() const { return m_profiles && m_profiles->isRunning(); }
  void beginProfile();
  void endProfile();
  [[nodiscard]] bool waitsForFirstKernel() const;
  void noteKernel(const store::CandidateRecord& candidate);
  // What the record has of it, to pairs.
  void showProfile(domain::CandidateId id);

  RunRigs& m_rigs;
  // In this order: a pipeline borrows from all the others.
  std::unique_ptr<synth::Synthesizer> m_synthesizer;
  std::unique_ptr<search::Searcher> m_searcher;
  judge::RuleBook m_rules;
  domain::ScalarType m_arithmetic = domain::ScalarType::Float32;  // of the task
  std::unique_ptr<judge::Swarm> m_pairs;                          // null: no judge
  std::unique_ptr<ProposerPool> m_proposers;
  SearcherProposer* m_search = nullptr;  // the pool's
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::unique_ptr<CandidatePipeline> m_pipeline;
  std::unique_ptr<SearchProfiles> m_profiles;  // null: nobody reads any
  ProposerBoard m_board;
  std::unique_ptr<SwarmFeed> m_swarmFeed;
  AfterHalt m_afterHalt = AfterHalt::Nothing;
  bool m_over = false;
  bool m_compilersGone = true;
  bool m_hasEvaluatedKernel = false;
  bool m_isOverdue = false;  // waits for the first kernel after its time
  struct Beginning {
    std::int64_t evaluations = 0;
    double elapsedSeconds = 0.0;
  } m_beginning;  // of this sitting
};

}  // namespace swage::run
