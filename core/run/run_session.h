// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/run/activity_feed.h"
#include "core/run/run_context.h"
#include "core/run/run_rigs.h"
#include "core/run/search_stage.h"
#include "core/run/stage.h"
#include "core/services/activity.h"
#include "core/services/types.h"

namespace swage::run {

// One run from the file to the best candidate, as a list of stages: compilers, task, target, rig, baselines, search,
// sanitizer, measuring the best, profiles. Walks the list, and ends it in good order. Owns the record and every process
// while it runs. Ends with exactly one finished(), when every process it started is gone and the record is closed.
// Lives on the thread on which it is started; nothing here waits. Start it once.
class RunSession : public QObject {
  Q_OBJECT

 public:
  explicit RunSession(SessionParts parts, QObject* parent = nullptr);
  ~RunSession() override;

  void start(const services::RunSpec& spec);
  void pause();
  void resume();
  void stop();
  void kill();
  // As SearchStage has them; errors where no search is running.
  [[nodiscard]] Result<> follow(const services::PairOrder& order);
  [[nodiscard]] Result<services::ReplyCheck> checkReply(const std::string& text) const;

 Q_SIGNALS:
  void stateChanged(swage::services::RunState state);
  void runCreated(swage::domain::RunId run);
  void progressed(const swage::services::Progress& progress);
  void candidateEvaluated(const swage::services::CandidateRow& row);
  void archiveChanged(const std::vector<swage::services::CellSummary>& cells);
  void lanesChanged(const std::vector<swage::services::LaneStatus>& lanes);
  void proposersChanged(const swage::services::ProposerReport& report);
  void pairsChanged(const swage::services::SwarmSnapshot& report);
  void baselineMeasured(const swage::domain::Baseline& baseline);
  void noticed(const swage::services::Notice& notice);
  void finished(const swage::services::RunOutcome& outcome);

 private:
  enum class Interrupted : std::uint8_t { No, Yes };
  enum class End : std::uint8_t { Stop, Kill };

  void makeStages();
  void add(std::unique_ptr<Stage> stage);
  void advance();
  void handleFinished(const Stage& stage, const Result<>& done);
  void tick();
  void setState(services::RunState state);
  [[nodiscard]] bool isActive() const;
  void fail(const Error& error);
  void conclude(std::optional<Error> error, Interrupted interrupted, End how = End::Stop);
  void settleOutcome(std::optional<Error> error, Interrupted interrupted);
  void end(End how);
  void finishWhenQuiet();

  RunContext m_context;
  std::unique_ptr<RunRigs> m_rigs;
  std::vector<std::unique_ptr<Stage>> m_stages;  // a later one may use what an earlier one owns
  SearchStage* m_search = nullptr;               // one of them
  std::size_t m_next = 0;                        // behind the one whose turn it is
  std::unique_ptr<ActivityFeed> m_feed;
  QTimer m_ticker{this};  // a child, so that it moves with us to another thread
  int m_ticks = 0;
  bool m_concluding = false;
  bool m_finishedEmitted = false;
};

}  // namespace swage::run
