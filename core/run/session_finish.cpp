// SPDX-License-Identifier: Apache-2.0
// The part of Session from the end of the search to the winner: sanitised elites, measured again, profiled.
#include <algorithm>

#include <fmt/format.h>

#include "core/run/elite_profiles.h"
#include "core/run/session.h"
#include "core/run/snapshots.h"
#include "core/run/winner_choice.h"
#include "core/trust/verification.h"

namespace swage::run {

void Session::finishSearch() {
  m_clock.hold();
  m_proposerPool->stop();
  if (m_device.kind == domain::DeviceKind::Cuda) {
    sanitise();
  } else {
    measureBest();
  }
}

void Session::sanitise() {
  m_stage = "checking the elites with compute-sanitizer";
  emitProgress();
  if (m_parts.programs.sanitizer.empty()) {
    notice(services::Notice::Severity::Info, "compute-sanitizer is not installed: the best kernels are not sanitised",
           "install NVIDIA's CUDA toolkit, or put compute-sanitizer on the PATH");
  }
  trust::SanitizerPass::Options options;
  options.check.sanitizer = m_parts.programs.sanitizer;
  options.check.replay = m_parts.programs.replay;
  options.check.ordinal = m_device.ordinal;
  options.atOnce = m_parts.sanitizersAtOnce();
  options.budgetSeconds =
      m_spec.timeBudgetSeconds > 0.0 ? std::clamp(m_spec.timeBudgetSeconds / 2.0, 20.0, 120.0) : 60.0;
  m_sanitizing = std::make_unique<trust::SanitizerPass>(*m_record, *m_searcher, m_rig->worker(), std::move(options));
  connect(m_sanitizing.get(), &trust::SanitizerPass::rejected, this, [this](const store::CandidateRecord& candidate) {
    m_archiveDirty = true;
    Q_EMIT candidateEvaluated(rowOf(candidate, m_eagerSpeedup, m_roof.roofNs));
  });
  connect(m_sanitizing.get(), &trust::SanitizerPass::finished, this, &Session::handleSanitised);
  m_sanitizing->start();
}

void Session::handleSanitised(const Result<>& done) {
  if (m_concluding) {
    return;
  }
  if (!done) {
    fail(done.error());
  } else if (m_outcome.interrupted) {
    conclude(std::nullopt, true, &Session::stopProcesses);
  } else {
    measureBest();
  }
}

void Session::measureBest() {
  m_stage = "measuring the best again";
  emitProgress();
  FinishingPass::Options options;
  options.run = m_run;
  options.identity = m_pipeline->identity();
  options.timingBudgetSeconds =
      m_spec.timeBudgetSeconds > 0.0 ? std::clamp(m_spec.timeBudgetSeconds / 40.0, 0.3, 1.5) : 1.5;
  options.limitSeconds = limitSeconds() + options.timingBudgetSeconds;
  options.elapsedSeconds = [this] { return m_clock.elapsedSeconds(); };
  options.eagerSpeedup = m_eagerSpeedup;
  options.freshProcess = [this](domain::CandidateId candidate) {
    process::Programs programs = m_parts.programs;
    programs.deviceIsLeased = true;
    return std::make_unique<trust::Verification>(programs, m_spec.project, candidate);
  };
  m_finishing = std::make_unique<FinishingPass>(*m_record, m_rig->worker(), m_searcher->archive(), std::move(options));
  connect(m_finishing.get(), &FinishingPass::remeasured, this, [this](const store::CandidateRecord& candidate) {
    Q_EMIT candidateEvaluated(rowOf(candidate, m_eagerSpeedup, m_roof.roofNs));
  });
  connect(m_finishing.get(), &FinishingPass::doubted, this, [this](domain::CandidateId candidate, const auto& why) {
    notice(services::Notice::Severity::Warning,
           fmt::format("candidate {} looks more than {:.0f} times as fast as the baseline, but does not win: {}",
                       candidate.value(), kIncredibleSpeedup, why));
  });
  connect(m_finishing.get(), &FinishingPass::finished, this, &Session::handleWinner);
  m_finishing->start();
}

void Session::handleWinner(const Result<domain::CandidateId>& winner) {
  if (m_concluding) {
    return;
  }
  if (!winner) {
    fail(winner.error());
    return;
  }
  // As recorded: the winner, or our best where PyTorch's own way wins.
  const Result<store::RunRow> row = m_record->run(m_run);
  if (!row) {
    fail(row.error());
    return;
  }
  m_outcome.best = row->best;
  m_outcome.bestSpeedup = row->bestSpeedup;
  m_outcome.winner = *winner;
  noticeUncertainty();
  if (wantsProfiles()) {
    profileElites();
  } else {
    conclude(std::nullopt, m_outcome.interrupted, &Session::stopProcesses);
  }
}

void Session::noticeUncertainty() {
  const domain::Speedup& speedup = m_outcome.bestSpeedup;
  if (speedup.isUncertain()) {
    notice(
        services::Notice::Severity::Warning,
        fmt::format("the result is uncertain: candidate {} is {:.2f} to {:.2f} times as fast as the fastest baseline",
                    m_outcome.best.value(), speedup.low, speedup.high),
        "the measurements vary too much, as on a busy machine; `swage resume` when it is quiet measures again");
  }
}

bool Session::wantsProfiles() const {
  const std::vector<domain::DeviceKind>& targets = m_parts.profiledTargets;
  return m_outcome.best.isValid() && !m_outcome.interrupted &&
         std::find(targets.begin(), targets.end(), m_device.kind) != targets.end();
}

// They begin when the worker is gone: a profiler must not share the device with anything, nor the memory.
void Session::profileElites() {
  m_stage = "profiling the best";
  emitProgress();
  EliteProfiles::Options options;
  options.worker = m_parts.programs.workerCommand(m_device.kind);
  options.stopGrace = m_parts.programs.stopGrace;
  m_profiles = std::make_unique<EliteProfiles>(*m_record, m_finishing->measured(), std::move(options));
  connect(m_profiles.get(), &EliteProfiles::finished, this, &Session::handleProfiles);
  m_rig->stop();
}

void Session::handleProfiles(const std::string& missing) {
  if (m_concluding) {
    finishWhenQuiet();
    return;
  }
  if (!missing.empty()) {
    notice(services::Notice::Severity::Info, missing, "`swage profile CANDIDATE` profiles one");
  }
  conclude(std::nullopt, false, &Session::stopProcesses);
}

}  // namespace swage::run
