// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <vector>

#include "core/services/activity.h"
#include "core/services/types.h"

namespace swage::services {

// Starts and steers one run at a time. Lives on the GUI thread; nothing here blocks.
class RunService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Ends with exactly one finished(), also when it cannot start. Asserts that no run is active.
  virtual void start(const RunSpec& spec) = 0;
  virtual void pause() = 0;  // after the evaluation in progress
  virtual void resume() = 0;
  virtual void stop() = 0;  // after the evaluation in progress; the record stays resumable
  virtual void kill() = 0;  // now: workers are killed, what they were doing is recorded as interrupted

  [[nodiscard]] virtual RunState state() const = 0;
  [[nodiscard]] virtual domain::RunId currentRun() const = 0;

 Q_SIGNALS:
  void stateChanged(swage::services::RunState state);
  void runCreated(swage::domain::RunId run);
  void progressed(const swage::services::Progress& progress);
  void candidateEvaluated(const swage::services::CandidateRow& row);
  // The 36 cells over all islands, coalesced to a few a second.
  void archiveChanged(const std::vector<swage::services::CellSummary>& cells);
  // What every process is doing, and what the proposers have earned; each a few times a second.
  void lanesChanged(const std::vector<swage::services::LaneStatus>& lanes);
  void proposersChanged(const swage::services::ProposerReport& report);
  void baselineMeasured(const swage::domain::Baseline& baseline);
  void noticed(const swage::services::Notice& notice);
  void finished(const swage::services::RunOutcome& outcome);
};

}  // namespace swage::services
