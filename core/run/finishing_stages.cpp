// SPDX-License-Identifier: Apache-2.0
#include "core/run/finishing_stages.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/run/winner_choice.h"
#include "core/trust/verification.h"

namespace swage::run {

using services::Notice;

namespace {

// What wins has been checked on every class of inputs, however short the search was: that takes a task of several GB so
// long.
constexpr double kLeastCheckSeconds = 15.0;

// Of a run whose search has a time limit: what comes after a short search must not take longer than the search did.
double shareOf(double searchSeconds, double share, double least, double most) {
  return searchSeconds > 0.0 ? std::clamp(share * searchSeconds, least, most) : most;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

}  // namespace

void SanitizerStage::start() {
  Q_EMIT doing("checking the elites with compute-sanitizer");
  const process::Programs& programs = m_context.parts.programs;
  if (programs.sanitizer.empty()) {
    notice(Notice::Severity::Info, "compute-sanitizer is not installed: the best kernels are not sanitised",
           "install NVIDIA's CUDA toolkit, or put compute-sanitizer on the PATH");
  }
  const double budget = m_context.spec.timeBudgetSeconds;
  trust::SanitizerPass::Options options;
  options.check.sanitizer = programs.sanitizer;
  options.check.replay = programs.replay;
  options.check.ordinal = m_context.device.ordinal;
  options.atOnce = m_context.parts.sanitizersAtOnce();
  options.budgetSeconds = budget > 0.0 ? shareOf(budget, 0.3, 4.0, 120.0) : 60.0;
  m_pass = std::make_unique<trust::SanitizerPass>(*m_context.record, *m_context.searcher, m_rigs.first().worker(),
                                                  std::move(options));
  connect(m_pass.get(), &trust::SanitizerPass::rejected, this, [this](const store::CandidateRecord& candidate) {
    m_context.lostElites = true;
    Q_EMIT evaluated(candidate);
  });
  connect(m_pass.get(), &trust::SanitizerPass::finished, this, &SanitizerStage::finished);
  m_pass->start();
}

Stage::Stop SanitizerStage::stop() {
  m_pass->cancel();
  return Stop::Interrupts;
}

void SanitizerStage::cancel() {
  if (m_pass) {
    m_pass->cancel();
  }
}

void MeasureStage::start() {
  Q_EMIT doing("measuring the best again");
  m_pass = std::make_unique<FinishingPass>(*m_context.record, m_rigs.first().worker(), m_context.searcher->archive(),
                                           options());
  connect(m_pass.get(), &FinishingPass::remeasured, this, &MeasureStage::evaluated);
  connect(m_pass.get(), &FinishingPass::doubted, this, [this](domain::CandidateId candidate, const auto& why) {
    notice(Notice::Severity::Warning,
           fmt::format("candidate {} looks more than {:.0f} times as fast as the baseline, but does not win: {}",
                       candidate.value(), kIncredibleSpeedup, why));
  });
  connect(m_pass.get(), &FinishingPass::finished, this, &MeasureStage::handleWinner);
  m_pass->start();
}

FinishingPass::Options MeasureStage::options() const {
  const double budget = m_context.spec.timeBudgetSeconds;
  FinishingPass::Options options;
  options.run = m_context.run;
  options.identity = m_context.identity;
  options.timingBudgetSeconds = shareOf(budget, 1.0 / 40.0, 0.3, 1.5);
  options.checkSeconds = shareOf(budget, 0.6, kLeastCheckSeconds, 60.0);
  options.budgetSeconds = shareOf(budget, 0.4, 3.0, 120.0);
  options.now = m_context.parts.now;
  options.limitSeconds = evaluationLimit(m_context.parts.minLimitSeconds, m_context.task.eager.medianNs) +
                         options.timingBudgetSeconds + options.checkSeconds;
  options.elapsedSeconds = [this] { return m_context.clock.elapsedSeconds(); };
  options.eagerSpeedup = m_context.eagerSpeedup;
  options.lostElites = m_context.lostElites;
  options.freshProcess = [this](domain::CandidateId candidate) {
    process::Programs programs = m_context.parts.programs;
    programs.deviceIsLeased = true;
    return std::make_unique<trust::Verification>(programs, m_context.spec.project, candidate);
  };
  return options;
}

void MeasureStage::handleWinner(const Result<domain::CandidateId>& winner) {
  if (!winner) {
    finish(winner.error());
    return;
  }
  // As recorded: the winner, or our best where PyTorch's own way wins.
  const Result<store::RunRow> row = m_context.record->run(m_context.run);
  if (!row) {
    finish(row.error());
    return;
  }
  m_context.outcome.best = row->best;
  m_context.outcome.bestSpeedup = row->bestSpeedup;
  m_context.outcome.winner = *winner;
  m_context.measured = m_pass->measured();
  noticeUncertainty();
  finish();
}

void MeasureStage::noticeUncertainty() {
  const domain::Speedup& speedup = m_context.outcome.bestSpeedup;
  if (speedup.isUncertain()) {
    notice(
        Notice::Severity::Warning,
        fmt::format("the result is uncertain: candidate {} is {:.2f} to {:.2f} times as fast as the fastest baseline",
                    m_context.outcome.best.value(), speedup.low, speedup.high),
        "the measurements vary too much, as on a busy machine; `swage resume` when it is quiet measures again");
  }
}

Stage::Stop MeasureStage::stop() {
  m_pass->cancel();
  return Stop::Interrupts;
}

void MeasureStage::cancel() {
  if (m_pass) {
    m_pass->abandon();
  }
}

bool ProfileStage::isNeeded() const {
  const std::vector<domain::DeviceKind>& targets = m_context.parts.profiledTargets;
  return m_context.outcome.best.isValid() &&
         std::find(targets.begin(), targets.end(), m_context.device.kind) != targets.end();
}

void ProfileStage::start() {
  Q_EMIT doing("profiling the best");
  EliteProfiles::Options options;
  options.worker = m_context.parts.programs.workerCommand(m_context.device.kind);
  options.stopGrace = m_context.parts.programs.stopGrace;
  options.startWithin = milliseconds(shareOf(m_context.spec.timeBudgetSeconds, 0.2, 2.0, 10.0));
  options.endWithin = milliseconds(shareOf(m_context.spec.timeBudgetSeconds, 0.5, 6.0, 30.0));
  m_profiles = std::make_unique<EliteProfiles>(*m_context.record, m_context.measured, std::move(options));
  connect(m_profiles.get(), &EliteProfiles::finished, this, &ProfileStage::handleProfiles);
  trust::Rig& rig = m_rigs.first();
  connect(&rig, &trust::Rig::stopped, this, [this] {
    if (!m_cancelled) {
      m_profiles->start(m_context.outcome.best);
    }
  });
  rig.stop();
}

Stage::Stop ProfileStage::stop() {
  m_profiles->cancel();
  return Stop::Completes;
}

void ProfileStage::cancel() {
  m_cancelled = true;
  if (!isGone()) {
    m_profiles->cancel();
  }
}

void ProfileStage::handleProfiles(const std::string& missing) {
  if (!missing.empty()) {
    notice(Notice::Severity::Info, missing, "`swage profile CANDIDATE` profiles one");
  }
  finish();
  Q_EMIT gone();
}

}  // namespace swage::run
