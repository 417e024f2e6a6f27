// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/device.h"
#include "core/verify/plan_program.h"
#include "core/verify/session_state.h"
#include "core/verify/task_session.h"
#include "core/verify/verdict.h"
#include "core/wire/messages.h"

namespace swage::verify {

// One evaluation, in the order of checks.h: load, verify on the task's own seeds, time, verify what the timing left
// behind, then what only contenders have to pass. Used once.
class EvaluationRun {
 public:
  EvaluationRun(SessionState& state, const wire::Evaluate& request, const StageObserver& onStage);

  [[nodiscard]] wire::Evaluated run();
  // The candidate ended because the device had no memory for it at that moment.
  [[nodiscard]] bool ranOutOfMemory() const { return m_outOfMemory; }

 private:
  // No value: go on to the next step.
  using Outcome = std::optional<domain::Evaluation>;

  [[nodiscard]] Outcome prepare();
  [[nodiscard]] Outcome verify();
  [[nodiscard]] Outcome verifyCheck(std::size_t check);
  [[nodiscard]] Outcome checkRun(const PlanProgram::GuardedRun& result, const WorkingInputs& set,
                                 std::span<const at::Tensor> pristine);
  [[nodiscard]] Outcome repeat(const WorkingInputs& set, PlanProgram::GuardedRun& first,
                               const Reference::Expected& expected);
  // In the buffers of the first run, as it left them but for a few words: what believes them gives another result.
  [[nodiscard]] Outcome runOnLeftovers(const WorkingInputs& set, PlanProgram::GuardedRun& first,
                                       const Reference::Expected& expected);
  [[nodiscard]] bool isOutOfTime() const;
  [[nodiscard]] std::string describe(std::size_t check) const;

  // evaluation_contender.cpp
  [[nodiscard]] Outcome verifyContender();
  // The same inputs again, after other ones: the result must be that of the first time.
  [[nodiscard]] Outcome callAgain(std::size_t check);
  // Of a result that differs from `wanted`, what it differs from: Cheating where it depends on the calls before,
  // `otherwise` where it may be chance.
  [[nodiscard]] domain::Evaluation explain(std::size_t check, std::int64_t wanted, domain::Evaluation otherwise);
  // The outputs' sum of a first call on the inputs of a check, by a module that was just loaded.
  struct FirstCall {
    std::int64_t sum = 0;
    bool isRight = false;
  };
  [[nodiscard]] std::optional<FirstCall> callFresh(const WorkingInputs& set, const Reference::Expected* expected);
  // A candidate that fails a later check, but not when that check is its first, kept something.
  [[nodiscard]] domain::Evaluation explainWrong(domain::Wrong found, std::size_t check,
                                                const Reference::Expected& expected);

  [[nodiscard]] Outcome measure();
  [[nodiscard]] Outcome verifyTimedOutput();
  [[nodiscard]] device::DeviceResult<device::CallTime> timeCandidate();
  [[nodiscard]] device::DeviceResult<double> traceCandidate();
  [[nodiscard]] device::DeviceStatus prepareCall();
  [[nodiscard]] device::DeviceStatus call();
  // What a timed call leaves must be what the checked call on the same inputs left, to the bit where the candidate is
  // repeatable. The last timed output is compared with the reference as well.
  [[nodiscard]] device::DeviceStatus checkTimedOutput();
  // Overwrites the memory that the next outputs and scratch will come from: a call that does nothing must not find an
  // old answer.
  void poisonFreeMemory() const;

  [[nodiscard]] domain::Evaluation failed(const StepFailure& failure);
  // Runs a step that may throw, and turns what it throws into an outcome.
  [[nodiscard]] Outcome guarded(std::string_view stage, const std::function<Outcome()>& step);
  [[nodiscard]] double elapsedSeconds() const;

  SessionState& m_state;
  const wire::Evaluate& m_request;
  const StageObserver& m_onStage;
  std::chrono::steady_clock::time_point m_start;
  std::unique_ptr<device::KernelModule> m_module;  // outlives the program
  std::optional<PlanProgram> m_program;
  Verdict m_verdict;
  domain::Correct m_correct;
  bool m_poisoned = false;
  bool m_outOfMemory = false;
  bool m_differed = false;  // a timed output from the checked one

  std::vector<std::int64_t> m_checkedSums;  // of the outputs of each check
  std::vector<at::Tensor> m_lastOutputs;    // of the last timed call
  std::vector<at::Tensor> m_heldOutputs;    // of the one before: their addresses are not free
  std::size_t m_lastSet = 0;
  std::size_t m_timedCalls = 0;
};

}  // namespace swage::verify
