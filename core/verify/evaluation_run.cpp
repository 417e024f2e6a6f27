// SPDX-License-Identifier: Apache-2.0
#include "core/verify/evaluation_run.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/scope_exit.h"
#include "core/measure/paired.h"
#include "core/stats/agreement.h"
#include "core/verify/plan_fit.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using device::DeviceFailure;
using device::DeviceStatus;

// How many timed outputs there are to one that is judged, where they cannot be told by their bits.
constexpr unsigned kOneOfKept = 4;
constexpr unsigned kOneOfOthers = 32;

std::int64_t totalOf(const at::Tensor& sums) {
  const auto* first = sums.const_data_ptr<std::int64_t>();
  return std::accumulate(first, first + sums.numel(), std::int64_t{0}, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
}

}  // namespace

EvaluationRun::EvaluationRun(SessionState& state, const wire::Evaluate& request, const StageObserver& onStage,
                             const AwaitedProbe& isAwaited)
    : m_state(state),
      m_request(request),
      m_onStage(onStage),
      m_isAwaited(isAwaited),
      m_start(std::chrono::steady_clock::now()),
      m_verdict(state.reference, state.nearness),
      m_checkedSums(state.checks.size()) {}

wire::Evaluated EvaluationRun::run() {
  wire::Evaluated result;
  result.request = m_request.request;
  m_onStage("verify");
  Outcome outcome = prepare();
  m_watch.mark("load");
  if (!outcome) {
    outcome = verify();
  }
  if (!outcome && !m_request.verifyOnly) {
    m_onStage("time");
    const double start = elapsedSeconds();
    outcome = measure();
    result.timingSeconds = elapsedSeconds() - start;
  }
  if (!outcome && !m_correct.timing.screenedOut && !isFarBehind()) {
    m_onStage("verify");
    outcome = verifyContender();
  }
  result.verifySeconds = elapsedSeconds() - result.timingSeconds;
  log::info("evaluation {}: {}", m_request.request, m_watch.text());
  m_correct.errors = m_verdict.errors();
  m_correct.accuracy = m_verdict.accuracy();
  m_correct.byInputs = m_verdict.byInputs();
  result.evaluation = outcome ? std::move(*outcome) : domain::Evaluation(std::move(m_correct));
  result.workerExits = m_poisoned;
  return result;
}

EvaluationRun::Outcome EvaluationRun::prepare() {
  const domain::LaunchPlan& plan = m_request.plan;
  for (const WorkingInputs& set : m_state.working) {
    set.repairRedZones();
  }
  if (std::string defect = domain::findDefect(plan); !defect.empty()) {
    return domain::Rejected{"plan", std::move(defect)};
  }
  if (std::string misfit = findMisfit(plan, m_state.reference.graph()); !misfit.empty()) {
    return domain::Rejected{"plan", std::move(misfit)};
  }
  if (plan.hasKernels()) {
    auto module = m_state.device.loadModule(m_request.binary);
    if (!module) {
      return failed({"loading the binary", std::move(module).error()});
    }
    m_module = std::move(*module);
  }
  auto program = PlanProgram::bind(plan, m_state.device, m_module.get(), m_state.operators, m_state.where);
  if (!program) {
    return std::move(program).error();
  }
  m_program.emplace(std::move(*program));
  return std::nullopt;
}

EvaluationRun::Outcome EvaluationRun::measure() {
  m_state.warmStreams();
  m_watch.mark("warm streams");
  const ScopeExit released([this] { m_captured.reset(); });
  if (Outcome outcome = m_request.plan.isCaptured ? captureCalls() : std::nullopt) {
    return outcome;
  }
  measure::PairOptions options;
  options.timing.budgetSeconds = m_request.timingBudgetSeconds;
  options.timing.minSamples = m_request.minSamples;
  options.timing.maxSamples = m_request.maxSamples;
  options.timing.clock = m_state.device.clock();
  if (m_state.where.is_cuda()) {
    options.timing.isAwaited = m_isAwaited;  // a CPU has compilers to run meanwhile
  }
  options.timing.conditions = [this] { return m_state.device.conditions(); };
  if (m_state.device.canTrace()) {
    options.trace = [this] { return traceCandidate(); };
  }
  if (m_request.timeLaunches && m_state.device.emptyLaunch() != nullptr) {
    options.launches = [this] { return timeLaunches(); };
  }
  options.screeningNs = m_request.screeningNs;
  options.contenderNs = m_request.contenderNs;
  options.knownEager = m_state.ready.eager;
  options.seed = m_request.request;
  const auto timed =
      measure::timePair([this] { return timeCandidate(); }, [this] { return m_state.timeEager(m_last.set); }, options);
  m_watch.mark("timing");
  const DeviceStatus unchecked = timed ? checkLastOutput() : DeviceStatus(timed.error());
  if (m_differedOn) {
    return guarded("time", [this]() -> Outcome {
      return explain(*m_differedOn, m_checkedSums[*m_differedOn],
                     domain::Unstable{"a timed call gave another result than the checked call on the same inputs"});
    });
  }
  if (m_wrongWhenTimed) {
    return std::move(m_wrongWhenTimed);
  }
  if (unchecked) {
    return failed({"timing", *unchecked});
  }
  if (Outcome changed = guarded("time", [this] { return judgeWorkingSets(); })) {
    return changed;
  }
  if (const auto disagreement = stats::findDisagreement(timed->candidate)) {
    return domain::Cheating{.rule = "timing disagrees", .detail = *disagreement};
  }
  m_correct.timing = *timed;
  if (hasDearChecks() && isSurelyNoElite(*timed)) {
    m_correct.timing.screenedOut = true;
  }
  Outcome outcome = m_correct.timing.screenedOut ? std::nullopt : guarded("time", [this] {
    return verifyTimedOutput(m_last, isFarBehind() ? Compared::ByWhatIsLeft : Compared::InFull);
  });
  m_watch.mark("timed output");
  m_last = TimedOutput();  // the calls that follow must not find their own results
  m_earlier.clear();
  return outcome;
}

EvaluationRun::Outcome EvaluationRun::captureCalls() {
  auto captured =
      CapturedPlan::capture({*m_program, m_state.reference.graph(), m_state.device, m_state.where, m_state.working});
  m_watch.mark("capture");
  if (captured) {
    m_captured = std::move(*captured);
    return std::nullopt;
  }
  if (captured.error().failure.poisoned) {
    return failed(captured.error());
  }
  log::info("the steps of the plan are launched one by one: {}", asDeviceFailure(captured.error()).detail);
  return std::nullopt;
}

bool EvaluationRun::isFarBehind() const {
  return m_request.contenderNs > 0.0 && !m_request.verifyOnly &&
         m_correct.timing.candidate.medianNs > m_request.contenderNs;
}

bool EvaluationRun::hasDearChecks() const {
  return m_state.isLarge() || m_state.kept.size() < m_state.taskChecks();
}

// Both were timed in turns with eager.
bool EvaluationRun::isSurelyNoElite(const domain::PairedTiming& timing) const {
  const double eagerNs = m_state.ready.eager.medianNs;
  return m_request.screeningNs > 0.0 && eagerNs > 0.0 && timing.speedupHigh < eagerNs / m_request.screeningNs;
}

// Working sets take turns, and outputs are freed when their set's turn comes again, so that no call sees the addresses
// of the calls before.
DeviceStatus EvaluationRun::prepareCall() {
  const std::size_t sets = m_state.working.size();
  DeviceStatus failed;
  const auto thrown = attempt([&] {
    beginSum(m_last);
    m_earlier.push_front(std::exchange(m_last, TimedOutput()));
    m_earlier.resize(std::min(m_earlier.size(), sets - 1));
    m_last.set = m_timedCalls++ % sets;
    failed = poisonFreeMemory();
    failed = !failed && m_captured ? m_captured->poison(m_last.set) : failed;
    m_state.device.scrub();
  });
  return thrown ? DeviceStatus(asDeviceFailure(*thrown)) : failed;
}

DeviceStatus EvaluationRun::call() {
  auto outputs = m_captured ? m_captured->run(m_last.set) : m_program->run(m_state.working[m_last.set].tensors());
  if (!outputs) {
    return asDeviceFailure(outputs.error());
  }
  m_last.outputs = WipedTensors(std::move(*outputs));
  return std::nullopt;
}

device::DeviceResult<device::CallTime> EvaluationRun::timeCandidate() {
  auto time = m_state.streams.time(
      m_timedCalls, m_state.working.size(), [this] { return prepareCall(); }, [this] { return call(); });
  if (DeviceStatus wrong = time ? checkTimedOutputs() : std::nullopt) {
    return tl::make_unexpected(std::move(*wrong));
  }
  return time;
}

device::DeviceResult<device::CallTime> EvaluationRun::timeLaunches() {
  return m_state.streams.time(m_timedLaunches++, 1, {}, [launch = m_state.device.emptyLaunch()] {
    DeviceStatus failed;
    for (int launched = 0; launched < measure::kLaunchesAtOnce && !failed; ++launched) {
      failed = (*launch)();
    }
    return failed;
  });
}

device::DeviceResult<double> EvaluationRun::traceCandidate() {
  if (DeviceStatus failed = prepareCall()) {
    return tl::make_unexpected(std::move(*failed));
  }
  auto busyNs = m_state.device.traceCold([this] { return call(); });
  if (busyNs && m_last.outputs.empty()) {  // not run: the outputs of a timed call are what is verified in the end
    const auto time = timeCandidate();
    return time ? busyNs : tl::make_unexpected(time.error());
  }
  if (DeviceStatus wrong = busyNs ? checkTimedOutputs() : std::nullopt) {
    return tl::make_unexpected(std::move(*wrong));
  }
  return busyNs;
}

DeviceStatus EvaluationRun::poisonFreeMemory() const {
  std::vector<at::Tensor> held;
  for (const domain::ValueId buffer : m_program->ownBuffers()) {
    const domain::TensorType& type = m_request.plan.buffers[static_cast<std::size_t>(buffer.value())];
    const std::int64_t bytes = extentBytes(type);
    held.push_back(emptyTensor(domain::contiguousTensor(domain::ScalarType::UInt8, {bytes}), m_state.where));
    if (auto failed = m_state.device.fill(held.back().data_ptr(), kPoison, static_cast<std::size_t>(bytes))) {
      return failed;
    }
  }
  return std::nullopt;
}

// Called when the device has just been waited for.
DeviceStatus EvaluationRun::checkTimedOutputs() {
  if (!m_correct.bitwiseRepeatable) {
    return judgeSomeTimedOutput();
  }
  if (DeviceStatus wrong = m_earlier.empty() ? std::nullopt : checkSum(m_earlier.front())) {
    return wrong;
  }
  // With one working set, the outputs of the call before are not kept.
  return m_state.working.size() > 1 ? std::nullopt : checkLastOutput();
}

// Where no two results have the same bits only the reference can tell, which takes longer than the call.
DeviceStatus EvaluationRun::judgeSomeTimedOutput() {
  const bool isKept = m_state.working[m_last.set].check() < m_state.kept.size();
  if (m_last.outputs.empty() || std::random_device()() % (isKept ? kOneOfKept : kOneOfOthers) != 0) {
    return std::nullopt;
  }
  m_wrongWhenTimed = guarded("time", [this] { return verifyTimedOutput(m_last, Compared::ByWhatIsLeft); });
  return m_wrongWhenTimed ? DeviceStatus(DeviceFailure{"a wrong result"}) : std::nullopt;
}

DeviceStatus EvaluationRun::checkLastOutput() {
  if (const auto thrown = attempt([this] { beginSum(m_last); })) {
    return asDeviceFailure(*thrown);
  }
  DeviceStatus failed = m_state.device.synchronize();
  return failed ? failed : checkSum(m_last);
}

// Once of every output.
void EvaluationRun::beginSum(TimedOutput& timed) const {
  if (m_correct.bitwiseRepeatable && !timed.outputs.empty() && !timed.isSummed) {
    const std::vector<at::Tensor> sums = bitSums(timed.outputs.all());
    timed.sums = m_state.sumsOnHost[timed.set];
    timed.sums.copy_(sums.size() == 1 ? sums.front().view(-1) : at::stack(sums), /*non_blocking=*/true);
    timed.isSummed = true;
  }
}

DeviceStatus EvaluationRun::checkSum(TimedOutput& timed) {
  const at::Tensor sums = std::exchange(timed.sums, {});
  const std::size_t check = m_state.working[timed.set].check();
  if (!sums.defined() || !m_correct.bitwiseRepeatable || totalOf(sums) == m_checkedSums[check]) {
    return std::nullopt;
  }
  // Two runs may agree by chance where the order of additions is left open. Another result is no harm if it is right.
  if (!guarded("time", [&] { return verifyTimedOutput(timed, Compared::ByWhatIsLeft); })) {
    m_correct.bitwiseRepeatable = false;
    return std::nullopt;
  }
  m_differedOn = check;
  return DeviceFailure{"another result than in the checked call"};
}

EvaluationRun::Outcome EvaluationRun::verifyTimedOutput(const TimedOutput& timed, Compared how) {
  const WorkingInputs& set = m_state.working[timed.set];
  const std::vector<at::Tensor> pristine = m_state.pristine(set.check());
  Answers answers;
  const Answers::Range modified = answers.add(differing(set.tensors(), pristine));
  answers.fetch();
  if (const int input = answers.firstSetOf(modified); input >= 0) {
    return changedInput(input);
  }
  const auto compare = [&] {
    const auto expected = m_state.reference.expected(set.check(), pristine, Reference::Masking::IfKept);
    return m_verdict.judge(timed.outputs.all(), expected, InputClass::Task, kPoison);
  };
  const auto wrong = how == Compared::InFull ? compare() : judgeAgain(timed.outputs.all(), set.check(), kPoison);
  if (wrong && how == Compared::InFull && digestsFor(set.check()) != nullptr) {
    return *wrong;  // the checked calls were not looked at so closely
  }
  if (wrong) {
    return domain::Unstable{fmt::format("right in the checked calls, wrong in a timed one: {}", wrong->detail)};
  }
  return std::nullopt;
}

domain::Evaluation EvaluationRun::failed(const StepFailure& failure) {
  m_outOfMemory = failure.failure.outOfMemory;
  if (failure.failure.poisoned) {
    m_poisoned = true;
    return domain::Crashed{0, fmt::format("{}: {}", failure.step, failure.failure.detail)};
  }
  return domain::LaunchFailed{failure.step, failure.failure.detail};
}

EvaluationRun::Outcome EvaluationRun::guarded(std::string_view stage, const std::function<Outcome()>& step) {
  Outcome outcome;
  const auto thrown = attempt([&] { outcome = step(); });
  // libtorch may only be the first to hear of a kernel that failed, and has less to say about it.
  if (DeviceStatus lost = thrown ? m_state.device.synchronize() : std::nullopt) {
    return failed({std::string(kWaiting), std::move(*lost)});
  }
  if (thrown) {
    return failed({std::string(stage), asDeviceFailure(*thrown)});
  }
  return outcome;
}

double EvaluationRun::elapsedSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
}

}  // namespace swage::verify
