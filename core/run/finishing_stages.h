// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/run/elite_profiles.h"
#include "core/run/finishing_pass.h"
#include "core/run/run_rigs.h"
#include "core/run/stage.h"
#include "core/trust/sanitizer_pass.h"

// From the end of the search to the winner and its profile.
namespace swage::run {

// The elites under compute-sanitizer.
class SanitizerStage final : public Stage {
  Q_OBJECT

 public:
  // `rigs` outlives this, and so do the ones of the other stages here.
  SanitizerStage(RunContext& context, RunRigs& rigs) : Stage(context), m_rigs(rigs) {}

  [[nodiscard]] bool isNeeded() const override { return m_context.device.kind == domain::DeviceKind::Cuda; }
  void start() override;
  Stop stop() override;
  void cancel() override;

 private:
  RunRigs& m_rigs;
  std::unique_ptr<trust::SanitizerPass> m_pass;
};

// The best are measured again, longer, and the winner is chosen.
class MeasureStage final : public Stage {
  Q_OBJECT

 public:
  MeasureStage(RunContext& context, RunRigs& rigs) : Stage(context), m_rigs(rigs) {}

  void start() override;
  Stop stop() override;
  void cancel() override;

 private:
  [[nodiscard]] FinishingPass::Options options() const;
  void handleWinner(const Result<domain::CandidateId>& winner);
  void noticeUncertainty();

  RunRigs& m_rigs;
  std::unique_ptr<FinishingPass> m_pass;
};

// What was measured again is profiled, when the worker is gone: a profiler must not share the device with anything, nor
// the memory.
class ProfileStage final : public Stage {
  Q_OBJECT

 public:
  ProfileStage(RunContext& context, RunRigs& rigs) : Stage(context), m_rigs(rigs) {}

  [[nodiscard]] bool isNeeded() const override;
  void start() override;
  Stop stop() override;
  void cancel() override;
  [[nodiscard]] bool isGone() const override { return !m_profiles || !m_profiles->isRunning(); }

 private:
  void handleProfiles(const std::string& missing);

  RunRigs& m_rigs;
  std::unique_ptr<EliteProfiles> m_profiles;
  bool m_cancelled = false;
};

}  // namespace swage::run
