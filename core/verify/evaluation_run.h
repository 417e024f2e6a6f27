// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/device.h"
#include "core/verify/captured_plan.h"
#include "core/verify/plan_program.h"
#include "core/verify/session_state.h"
#include "core/verify/stage_watch.h"
#include "core/verify/task_session.h"
#include "core/verify/tensors.h"
#include "core/verify/verdict.h"
#include "core/verify/wiped.h"
#include "core/wire/messages.h"

namespace swage::verify {

// One evaluation, in the order of checks.h: load, verify on the task's own seeds, time, verify what the timing left
// behind, then what only contenders have to pass. Used once.
class EvaluationRun {
 public:
  EvaluationRun(SessionState& state, const wire::Evaluate& request, const StageObserver& onStage,
                const AwaitedProbe& isAwaited);

  [[nodiscard]] wire::Evaluated run();
  // The candidate ended because the device had no memory for it at that moment.
  [[nodiscard]] bool ranOutOfMemory() const { return m_outOfMemory; }

 private:
  // No value: go on to the next step.
  using Outcome = std::optional<domain::Evaluation>;

  [[nodiscard]] Outcome prepare();

  // evaluation_checks.cpp
  [[nodiscard]] Outcome verify();
  // Of the task's own seeds.
  [[nodiscard]] std::size_t checksBeforeTiming() const;
  // How many checks, `next` and those after it, the device is given before it is waited for.
  [[nodiscard]] std::size_t checksAtOnce(std::size_t next, double firstSeconds) const;
  [[nodiscard]] Outcome verifyChecks(std::size_t first, std::size_t count);
  // A check that the device was given and that nobody has waited for.
  struct BegunCheck {
    std::size_t check = 0;
    PlanProgram::GuardedRun run;
    Verdict::BegunDigests digests;  // where it is judged by them
    // Where not, or where they were not enough.
    std::optional<Reference::Expected> expected;
    Verdict::Begun judgement;
    Answers::Range redZones;
    Answers::Range modified;  // inputs
    Answers::Range sums;      // of the outputs' bits
  };
  [[nodiscard]] tl::expected<BegunCheck, StepFailure> begin(std::size_t check, Answers& answers);
  // Of a run and of what it read.
  [[nodiscard]] static Answers::Range askRedZones(const PlanProgram::GuardedRun& run, const WorkingInputs& set,
                                                  Answers& answers);
  [[nodiscard]] Outcome judgeRedZones(std::string_view zones, std::string_view when);
  [[nodiscard]] Outcome judgeWorkingSets();  // after a timing
  [[nodiscard]] static domain::Evaluation changedInput(int input);
  // When the answers are there.
  [[nodiscard]] Outcome conclude(BegunCheck& begun, const Answers& answers);
  [[nodiscard]] std::optional<domain::Wrong> judge(BegunCheck& begun, const Answers& answers);
  // Of results of a check that ended before: by what is kept of what was expected, where that is enough.
  [[nodiscard]] std::optional<domain::Wrong> judgeAgain(std::span<const at::Tensor> outputs, std::size_t check,
                                                        std::uint8_t poison);
  // What is left of the results of a check, where a look at it may do. Null: it is to be compared in full.
  [[nodiscard]] const Reference::Digests* digestsFor(std::size_t check) const;
  // On the inputs of the first check, which its working set still holds.
  [[nodiscard]] Outcome repeat(BegunCheck& first);
  // In the buffers of the first run, as it left them but for a few words: what believes them gives another result.
  // Does not wait.
  [[nodiscard]] tl::expected<std::vector<at::Tensor>, StepFailure> beginOnLeftovers(BegunCheck& first);
  [[nodiscard]] Outcome judgeRepetitions(std::span<const at::Tensor> second, std::span<const at::Tensor> onLeftovers,
                                         bool keptItsSum, std::size_t check);
  [[nodiscard]] bool isOutOfTime() const;
  [[nodiscard]] std::string describe(std::size_t check) const;

  // evaluation_contender.cpp
  [[nodiscard]] Outcome verifyContender();
  // The task's own seeds that verify() left out.
  [[nodiscard]] Outcome verifyPutOff();
  // Whether there is such a check: admits what has not been needed before.
  [[nodiscard]] tl::expected<bool, domain::Evaluation> isAdmitted(std::size_t check);
  // What a contender's checks may take has passed.
  [[nodiscard]] bool isCheckedEnough() const;
  // The sum of a run's outputs, or what it is when it wrote outside its buffers.
  [[nodiscard]] tl::expected<std::int64_t, domain::Evaluation> sumInside(const PlanProgram::GuardedRun& run,
                                                                         const WorkingInputs& set,
                                                                         std::string_view when);
  // The same inputs again, after other ones: the result must be that of the first time.
  [[nodiscard]] Outcome callAgain(std::size_t check);
  // A call whose launches are made in another way.
  struct OtherCall {
    bool isTheSame = false;  // to the bit, as the checked call on these inputs
    std::optional<domain::Wrong> wrong;
  };
  [[nodiscard]] tl::expected<OtherCall, domain::Evaluation> callBy(const PlanProgram::LaunchObserver& launcher,
                                                                   std::size_t check, std::string_view when);
  // Once more, its kernels confined to a part of the device: the order of their blocks or threads must not matter.
  [[nodiscard]] Outcome callConfined(std::size_t check);
  // Once more with other numbers of threads than the usual one, on a CPU: an export runs with any.
  [[nodiscard]] Outcome callWithOtherThreads(std::size_t check);
  // Of a result that differs from `wanted`, what it differs from: Cheating where it depends on the calls before,
  // `otherwise` where it may be chance.
  [[nodiscard]] domain::Evaluation explain(std::size_t check, std::int64_t wanted, domain::Evaluation otherwise);
  // `unstable`, but for a candidate that keeps something.
  [[nodiscard]] domain::Evaluation unlessStateful(std::size_t check, const domain::Unstable& unstable);
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
  // For timed calls of a plan that is captured. Where that is not possible its steps are timed, which is how the
  // exported file runs there.
  [[nodiscard]] Outcome captureCalls();
  // Whether what only contenders have to pass takes longer than to time them.
  [[nodiscard]] bool hasDearChecks() const;
  // Too far behind the best for its time, or what only contenders have to pass, to matter.
  [[nodiscard]] bool isFarBehind() const;
  [[nodiscard]] bool isSurelyNoElite(const domain::PairedTiming& timing) const;
  // What a call under the clock left behind.
  struct TimedOutput {
    WipedTensors outputs;
    std::size_t set = 0;  // the working set that it read
    at::Tensor sums;      // of the outputs' bits; on their way to the host until they are looked at
    bool isSummed = false;
  };
  enum class Compared : unsigned char { InFull, ByWhatIsLeft };
  [[nodiscard]] Outcome verifyTimedOutput(const TimedOutput& timed, Compared how);
  [[nodiscard]] device::DeviceResult<device::CallTime> timeCandidate();
  [[nodiscard]] device::DeviceResult<device::CallTime> timeLaunches();
  [[nodiscard]] device::DeviceResult<double> traceCandidate();
  [[nodiscard]] device::DeviceStatus prepareCall();
  [[nodiscard]] device::DeviceStatus call();
  // What a timed call leaves must be what the checked call on the same inputs left, to the bit where the candidate is
  // repeatable. The last timed output is compared with the reference as well. The device sums up an output ahead of the
  // next call, and the sum is looked at after that call: a GPU that waits for the host would be idle for most of a
  // timing.
  [[nodiscard]] device::DeviceStatus checkTimedOutputs();
  void beginSum(TimedOutput& timed) const;
  [[nodiscard]] device::DeviceStatus judgeSomeTimedOutput();
  [[nodiscard]] device::DeviceStatus checkLastOutput();
  [[nodiscard]] device::DeviceStatus checkSum(TimedOutput& timed);
  // Overwrites the memory that the next outputs and scratch will come from: a call that does nothing must not find an
  // old answer.
  [[nodiscard]] device::DeviceStatus poisonFreeMemory() const;

  [[nodiscard]] domain::Evaluation failed(const StepFailure& failure);
  // Runs a step that may throw, and turns what it throws into an outcome.
  [[nodiscard]] Outcome guarded(std::string_view stage, const std::function<Outcome()>& step);
  [[nodiscard]] double elapsedSeconds() const;

  SessionState& m_state;
  const wire::Evaluate& m_request;
  const StageObserver& m_onStage;
  const AwaitedProbe& m_isAwaited;
  std::chrono::steady_clock::time_point m_start;
  std::unique_ptr<device::KernelModule> m_module;  // outlives the program
  std::optional<PlanProgram> m_program;
  std::unique_ptr<CapturedPlan> m_captured;  // while a captured plan is timed
  Verdict m_verdict;
  StageWatch m_watch;
  domain::Correct m_correct;
  bool m_poisoned = false;
  bool m_outOfMemory = false;

  std::vector<std::int64_t> m_checkedSums;  // of the outputs of each check
  std::size_t m_taskChecksDone = 0;
  double m_contenderSince = 0.0;
  TimedOutput m_last;
  std::deque<TimedOutput> m_earlier;        // the latest first; the addresses of their outputs are not free
  std::optional<std::size_t> m_differedOn;  // the check on whose inputs a timed output was another one
  Outcome m_wrongWhenTimed;                 // of a candidate that is not repeatable
  std::size_t m_timedCalls = 0;
  std::size_t m_timedLaunches = 0;
};

}  // namespace swage::verify
