// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/process/compiler_check.h"
#include "core/process/compiler_pool.h"
#include "core/process/target_choice.h"
#include "core/process/worker_supervisor.h"
#include "core/run/candidate_pipeline.h"
#include "core/run/finishing_pass.h"
#include "core/run/lane_board.h"
#include "core/run/proposer_board.h"
#include "core/run/proposer_pool.h"
#include "core/run/search_clock.h"
#include "core/run/searcher_proposer.h"
#include "core/run/session_parts.h"
#include "core/run/task_preparation.h"
#include "core/services/activity.h"
#include "core/services/types.h"
#include "core/stats/roofline.h"
#include "core/store/record.h"
#include "core/trust/rig.h"
#include "core/trust/sanitizer_pass.h"

namespace swage::run {

class BaselineStage;
class EliteProfiles;

// One run from the file to the best candidate: import, worker, baselines, search, finishing pass, profiles. Owns the
// record, the worker and the compilers while it runs. Ends with exactly one finished(), when every process it started
// is gone and the record is closed. Lives on the thread it was created on; nothing here waits. Start it once.
class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(SessionParts parts, QObject* parent = nullptr);
  ~Session() override;

  void start(const services::RunSpec& spec);
  void pause();
  void resume();
  void stop();
  void kill();

 Q_SIGNALS:
  void stateChanged(swage::services::RunState state);
  void runCreated(swage::domain::RunId run);
  void progressed(const swage::services::Progress& progress);
  void candidateEvaluated(const swage::services::CandidateRow& row);
  void archiveChanged(const std::vector<swage::services::CellSummary>& cells);
  void lanesChanged(const std::vector<swage::services::LaneStatus>& lanes);
  void proposersChanged(const swage::services::ProposerReport& report);
  void baselineMeasured(const swage::domain::Baseline& baseline);
  void noticed(const swage::services::Notice& notice);
  void finished(const swage::services::RunOutcome& outcome);

 private:
  enum class AfterHalt : std::uint8_t { Nothing, Pause, Stop, Finish };

  // session_setup.cpp: up to the first candidate.
  [[nodiscard]] Result<> openRecord();
  [[nodiscard]] Result<> takeUp(domain::RunId run);
  void checkCompiler();
  void prepareTask();
  void handleBundle(const Result<store::TaskBundle>& bundle);
  void chooseTarget();
  void startRig(domain::DeviceKind target);
  [[nodiscard]] trust::Rig::Options rigOptions(const process::LaunchCommand& command, domain::DeviceKind target,
                                               std::string name) const;
  void watch(trust::Rig& rig);
  void keepEvent(domain::EventKind kind, const std::string& json);
  void handleDevice(const wire::WorkerReady& ready);
  void handleSelfTest(int done, int total);
  void handleLoading();
  [[nodiscard]] Result<> recordGround();
  void handleReady(const wire::TaskReady& task);
  [[nodiscard]] Result<> createRun();
  [[nodiscard]] Result<> knowBaselines();
  void settleBaselines();
  [[nodiscard]] Result<> reuseBaselines(const std::vector<std::string>& modes);
  void measureBaselines(std::vector<std::string> modes);
  void handleBaselines(const Result<std::vector<domain::Baseline>>& measured);
  [[nodiscard]] Result<> addBaselines(const std::vector<domain::Baseline>& baselines);
  void noticeDoubts(const domain::Baseline& baseline);
  void startSearch();
  [[nodiscard]] Result<> buildSearch();
  [[nodiscard]] Result<> buildProposers();
  [[nodiscard]] Result<> takeUpHistory();
  [[nodiscard]] CandidatePipeline::Options pipelineOptions() const;
  [[nodiscard]] double limitSeconds() const;

  // session_devices.cpp: GPUs beyond the first one.
  struct Lane {
    std::unique_ptr<trust::Rig> rig;
    bool joined = false;
  };
  void startMoreWorkers();
  [[nodiscard]] Result<> admitLane(const Lane& lane, const domain::DeviceInfo& device);
  void joinLane(Lane& lane);
  void dropLane(Lane& lane, const Error& error);
  [[nodiscard]] bool promoteLane(const Error& error);
  void handleRigLost(trust::Rig& rig, const Error& error);
  void handleRigStopped(trust::Rig& rig);
  void markLost(const process::WorkerSupervisor& worker, const Error& error);
  [[nodiscard]] const domain::DeviceInfo& deviceOf(const process::WorkerSupervisor& worker) const;
  [[nodiscard]] Lane* laneOf(const process::WorkerSupervisor* worker) const;
  [[nodiscard]] bool areLanesGone() const;
  void endLanes(void (trust::Rig::*how)());

  // session_activity.cpp: what there is to see meanwhile.
  enum class Keep : std::uint8_t { WhenDue, Now };
  void emitProgress();
  void emitLanes();
  void emitProposers();
  // Writes down how the search stands.
  [[nodiscard]] Result<> keepProposers(Keep when);

  // session.cpp: the search and the end.
  void setState(services::RunState state);
  void handleEnded(const store::CandidateRecord& candidate, double trialSeconds);
  void handleHalted();
  void handleDrained();
  void requestHalt(AfterHalt then);
  void finishSearch();
  void sanitise();
  void handleSanitised(const Result<>& done);
  void measureBest();
  void handleWinner(const Result<domain::CandidateId>& winner);
  void noticeUncertainty();
  [[nodiscard]] bool wantsProfiles() const;
  void profileElites();
  void handleProfiles(const std::string& missing);
  void tick();
  void notice(services::Notice::Severity severity, std::string text, std::string hint = {});
  void noticeLostGpu(const Error& error);
  void noticeKilled(const domain::DeviceInfo& device);
  [[nodiscard]] bool isTimeOver() const;
  [[nodiscard]] bool mayPropose(std::int64_t inFlight) const;
  [[nodiscard]] bool isActive() const;
  [[nodiscard]] bool isFinishing() const { return m_sanitizing || m_finishing; }
  void fail(const Error& error);
  void conclude(std::optional<Error> error, bool interrupted, void (Session::*endProcesses)());
  void stopProcesses();
  void killProcesses();
  void closeRecord();
  void finishWhenQuiet();

  SessionParts m_parts;
  services::RunSpec m_spec;
  services::RunState m_state = services::RunState::Idle;
  std::optional<store::Record> m_record;
  std::optional<store::TaskBundle> m_bundle;
  domain::RunId m_run;
  bool m_resumed = false;
  domain::DeviceInfo m_device;
  wire::TaskReady m_task;
  std::vector<domain::Baseline> m_baselines;
  domain::Speedup m_eagerSpeedup;  // of eager against the run's fastest baseline
  std::string m_baselineMode;
  std::string m_torchVersion;
  stats::Roofline m_roof;

  std::unique_ptr<process::CompilerCheck> m_compilerCheck;
  std::unique_ptr<TaskPreparation> m_preparation;
  std::unique_ptr<process::TargetChoice> m_targetChoice;
  std::unique_ptr<BaselineStage> m_baselineStage;
  std::unique_ptr<synth::Synthesizer> m_synthesizer;
  std::unique_ptr<search::Searcher> m_searcher;
  std::unique_ptr<trust::Rig> m_rig;
  std::vector<std::unique_ptr<Lane>> m_lanes;
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::unique_ptr<ProposerPool> m_proposerPool;
  SearcherProposer* m_search = nullptr;  // the pool's
  std::unique_ptr<CandidatePipeline> m_pipeline;
  std::unique_ptr<trust::SanitizerPass> m_sanitizing;
  std::unique_ptr<FinishingPass> m_finishing;
  std::unique_ptr<EliteProfiles> m_profiles;

  LaneBoard m_laneBoard{m_parts.now};
  ProposerBoard m_proposers;
  double m_sampledAt = 0.0;
  SearchClock m_clock;
  QTimer m_ticker{this};  // a child, so that it moves with us to another thread
  AfterHalt m_afterHalt = AfterHalt::Nothing;
  bool m_archiveDirty = false;
  bool m_concluding = false;
  bool m_finishedEmitted = false;
  bool m_compilersGone = true;
  int m_ticks = 0;
  std::int64_t m_evaluationsAtStart = 0;
  double m_elapsedAtStart = 0.0;
  std::string m_stage;
  int m_selfTestStep = 0;
  int m_selfTestSteps = 0;
  services::RunOutcome m_outcome;
};

// The most that one evaluation may take on a task whose eager run takes so long; `leastSeconds` is the least it may.
[[nodiscard]] double evaluationLimit(double leastSeconds, double eagerMedianNs);

// The specification as stored with the run.
[[nodiscard]] std::string optionsJson(const services::RunSpec& spec);

}  // namespace swage::run
