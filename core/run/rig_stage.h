// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "core/run/run_rigs.h"
#include "core/run/stage.h"

namespace swage::run {

// A worker whose word counts: it takes its device, the device passes its self-test, the task is loaded. Then the run is
// in the record.
class RigStage final : public Stage {
  Q_OBJECT

 public:
  // `rigs` outlives this.
  RigStage(RunContext& context, RunRigs& rigs) : Stage(context), m_rigs(rigs) {}

  void start() override;

 Q_SIGNALS:
  void runCreated(swage::domain::RunId run);

 private:
  void handleDevice(const wire::WorkerReady& ready);
  void handleSelfTest(int done, int total);
  void handleLoading();
  void handleReady(const wire::TaskReady& task);
  void addReadySeconds();
  [[nodiscard]] Result<> keepRun();
  [[nodiscard]] Result<> createRun();

  RunRigs& m_rigs;
  std::chrono::steady_clock::time_point m_since;  // the worker does what it does now
};

}  // namespace swage::run
