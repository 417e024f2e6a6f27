// SPDX-License-Identifier: Apache-2.0
#include "core/verify/evaluation_run.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/measure/paired.h"
#include "core/stats/agreement.h"
#include "core/verify/plan_fit.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using device::DeviceFailure;
using device::DeviceStatus;

domain::Wrong broken(std::string rule, std::string detail) {
  domain::Wrong wrong;
  wrong.rule = std::move(rule);
  wrong.detail = std::move(detail);
  return wrong;
}

// Whether the results of two runs are at least of one kind: for candidates whose last bits differ from run to run.
bool sameBits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!flatBits(a[i]).equal(flatBits(b[i]))) {
      return false;
    }
  }
  return true;
}

at::Tensor beginReadingRedZones(const PlanProgram::GuardedRun& run, const WorkingInputs& set) {
  std::vector<at::Tensor> zones;
  for (const std::vector<Guarded>* buffers : {&run.buffers, &set.buffers()}) {
    std::transform(buffers->begin(), buffers->end(), std::back_inserter(zones),
                   [](const Guarded& buffer) { return buffer.redZones(); });
  }
  return zones.empty() ? at::empty({0}, at::kByte) : onItsWayToHost(at::cat(zones));
}

}  // namespace

EvaluationRun::EvaluationRun(SessionState& state, const wire::Evaluate& request, const StageObserver& onStage)
    : m_state(state),
      m_request(request),
      m_onStage(onStage),
      m_start(std::chrono::steady_clock::now()),
      m_verdict(state.reference),
      m_checkedSums(state.checks.size()) {}

wire::Evaluated EvaluationRun::run() {
  wire::Evaluated result;
  result.request = m_request.request;
  m_onStage("verify");
  Outcome outcome = prepare();
  if (!outcome) {
    outcome = verify();
  }
  if (!outcome && !m_request.verifyOnly) {
    m_onStage("time");
    const double start = elapsedSeconds();
    outcome = measure();
    result.timingSeconds = elapsedSeconds() - start;
  }
  if (!outcome && !m_correct.timing.screenedOut) {
    m_onStage("verify");
    outcome = verifyContender();
  }
  result.verifySeconds = elapsedSeconds() - result.timingSeconds;
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

EvaluationRun::Outcome EvaluationRun::verify() {
  for (std::size_t check = 0; check < m_state.taskChecks(); ++check) {
    if (isOutOfTime()) {
      return domain::TimedOut{"verify", m_request.limitSeconds};
    }
    if (Outcome outcome = guarded("verify", [&] { return verifyCheck(check); })) {
      return outcome;
    }
  }
  return std::nullopt;
}

// The candidate runs before the expected results exist in readable form. Everything that is asked about its run is
// worked out by the device in one go, and waited for once: a GPU that is asked one thing at a time is mostly idle.
EvaluationRun::Outcome EvaluationRun::verifyCheck(std::size_t check) {
  const std::vector<at::Tensor> pristine = m_state.pristine(check);
  const WorkingInputs& set = m_state.fillWorking(check, pristine);
  auto result = m_program->runGuarded(set.tensors(), kPoison);
  if (!result) {
    return failed(result.error());
  }
  const at::Tensor redZones = beginReadingRedZones(*result, set);
  const at::Tensor modified = set.beginComparing(pristine);
  const at::Tensor sum = beginBitSum(result->outputs);
  const InputClass inputs = m_state.checks[check].inputs;
  const Reference::Expected expected = m_state.reference.expected(check, pristine);
  auto wrong = m_verdict.judge(result->outputs, expected, inputs, kPoison);
  if (DeviceStatus lost = m_state.device.synchronize()) {
    return failed({"waiting for the device", std::move(*lost)});
  }
  if (!areIntact(redZones)) {
    // Who writes there may have hit more than the zones: later candidates must not be judged by broken data.
    m_poisoned = !m_state.isIntact();
    return broken("red zone", "a kernel wrote outside its buffers");
  }
  if (const int input = WorkingInputs::firstModified(modified); input >= 0) {
    return broken("input modified", fmt::format("a kernel changed input {}", input));
  }
  m_verdict.count(inputs);
  if (wrong) {
    wrong->detail += fmt::format(" ({})", describe(check));
    return check == 0 ? domain::Evaluation(std::move(*wrong)) : explainWrong(std::move(*wrong), check, expected);
  }
  m_checkedSums[check] = wordOf(sum);
  return check == 0 ? repeat(set, *result, expected) : std::nullopt;
}

std::string EvaluationRun::describe(std::size_t check) const {
  const InputClass inputs = m_state.checks[check].inputs;
  if (inputs == InputClass::Task) {
    return fmt::format("check {} of {}", check + 1, m_state.taskChecks());
  }
  return inputs == InputClass::Weights ? "with other weights" : fmt::format("{} inputs", name(inputs));
}

bool EvaluationRun::isOutOfTime() const {
  return elapsedSeconds() > m_request.limitSeconds;
}

// With other bytes in the buffers beforehand: what depends on them is read before it is written.
EvaluationRun::Outcome EvaluationRun::repeat(const WorkingInputs& set, PlanProgram::GuardedRun& first,
                                             const Reference::Expected& expected) {
  auto second = m_program->runGuarded(set.tensors(), kOtherPoison);
  if (!second) {
    return failed(second.error());
  }
  m_correct.bitwiseRepeatable = sameBits(first.outputs, second->outputs);
  if (Outcome outcome = runOnLeftovers(set, first, expected)) {
    return outcome;
  }
  if (m_correct.bitwiseRepeatable) {
    return std::nullopt;
  }
  if (const auto wrong = m_verdict.judge(second->outputs, expected, InputClass::Task, kOtherPoison)) {
    return domain::Unstable{fmt::format("right at first, then wrong on the same inputs: {}", wrong->detail)};
  }
  return std::nullopt;
}

EvaluationRun::Outcome EvaluationRun::runOnLeftovers(const WorkingInputs& set, PlanProgram::GuardedRun& first,
                                                     const Reference::Expected& expected) {
  constexpr std::int64_t kFirstWords = 16;  // a mark would stand there
  constexpr std::int64_t kOffsets = 40;
  for (Guarded& buffer : first.buffers) {
    buffer.disturb(kFirstWords + std::random_device()() % kOffsets);
  }
  const auto outputs = m_program->runOnLeftovers(set.tensors(), first);
  if (!outputs) {
    return failed(outputs.error());
  }
  if (m_correct.bitwiseRepeatable && bitSum(*outputs) == m_checkedSums[0]) {
    return std::nullopt;
  }
  // Other bits alone are no fault: the first two runs may agree by chance where the order of additions is left open.
  // What the disturbance leaves behind is far from right.
  if (const auto wrong = m_verdict.judge(*outputs, expected, InputClass::Task, kPoison)) {
    return domain::Unstable{"the result depends on what an earlier call left in the buffers: " + wrong->detail};
  }
  m_correct.bitwiseRepeatable = false;
  return std::nullopt;
}

EvaluationRun::Outcome EvaluationRun::measure() {
  measure::PairOptions options;
  options.timing.budgetSeconds = m_request.timingBudgetSeconds;
  options.timing.minSamples = m_request.minSamples;
  options.timing.maxSamples = m_request.maxSamples;
  options.timing.clock = m_state.device.clock();
  options.timing.conditions = [this] { return m_state.device.conditions(); };
  if (m_state.device.canTrace()) {
    options.trace = [this] { return traceCandidate(); };
  }
  options.screeningNs = m_request.screeningNs;
  options.knownEager = m_state.ready.eager;
  options.seed = m_request.request;
  const auto timed =
      measure::timePair([this] { return timeCandidate(); }, [this] { return m_state.timeEager(m_last.set); }, options);
  const DeviceStatus unchecked = timed ? checkLastOutput() : DeviceStatus(timed.error());
  if (m_differedOn) {
    return guarded("time", [this]() -> Outcome {
      return explain(*m_differedOn, m_checkedSums[*m_differedOn],
                     domain::Unstable{"a timed call gave another result than the checked call on the same inputs"});
    });
  }
  if (unchecked) {
    return failed({"timing", *unchecked});
  }
  if (const auto disagreement = stats::findDisagreement(timed->candidate)) {
    return domain::Cheating{.rule = "timing disagrees", .detail = *disagreement};
  }
  m_correct.timing = *timed;
  return timed->screenedOut ? std::nullopt : guarded("time", [this] { return verifyTimedOutput(m_last); });
}

// Working sets take turns, and the outputs before last are freed only now, so that no call sees the addresses of the
// call before.
DeviceStatus EvaluationRun::prepareCall() {
  const std::size_t sets = m_state.working.size();
  m_before = sets > 1 ? std::move(m_last) : TimedOutput();
  m_last = TimedOutput();
  m_last.set = m_timedCalls++ % sets;
  const auto thrown = attempt([this] { poisonFreeMemory(); });
  return thrown ? DeviceStatus(DeviceFailure{thrown->message, thrown->poisoned, thrown->outOfMemory}) : std::nullopt;
}

DeviceStatus EvaluationRun::call() {
  auto outputs = m_program->run(m_state.working[m_last.set].tensors());
  if (!outputs) {
    return DeviceFailure{fmt::format("{}: {}", outputs.error().step, outputs.error().failure.detail),
                         outputs.error().failure.poisoned, outputs.error().failure.outOfMemory};
  }
  m_last.outputs = std::move(*outputs);
  return std::nullopt;
}

device::DeviceResult<device::CallTime> EvaluationRun::timeCandidate() {
  if (DeviceStatus failed = prepareCall()) {
    return tl::make_unexpected(std::move(*failed));
  }
  auto time = m_state.device.timeCold([this] { return call(); });
  if (DeviceStatus wrong = time ? checkTimedOutputs() : std::nullopt) {
    return tl::make_unexpected(std::move(*wrong));
  }
  return time;
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

void EvaluationRun::poisonFreeMemory() const {
  std::vector<at::Tensor> held;
  for (const domain::ValueId buffer : m_program->ownBuffers()) {
    const domain::TensorType& type = m_request.plan.buffers[static_cast<std::size_t>(buffer.value())];
    const domain::TensorType bytes = domain::contiguousTensor(domain::ScalarType::UInt8, {extentBytes(type)});
    held.push_back(emptyTensor(bytes, m_state.where).fill_(kPoison));
  }
}

// Called when the device has just been waited for.
DeviceStatus EvaluationRun::checkTimedOutputs() {
  if (DeviceStatus wrong = checkSum(m_before)) {
    return wrong;
  }
  if (!m_correct.bitwiseRepeatable) {
    return std::nullopt;
  }
  const auto thrown = attempt([&] { m_last.bitSum = beginBitSum(m_last.outputs); });
  if (thrown) {
    return DeviceFailure{thrown->message, thrown->poisoned, thrown->outOfMemory};
  }
  // With one working set, the outputs of the call before are not kept.
  return m_state.working.size() > 1 ? std::nullopt : checkLastOutput();
}

DeviceStatus EvaluationRun::checkLastOutput() {
  DeviceStatus failed = m_state.device.synchronize();
  return failed ? failed : checkSum(m_last);
}

DeviceStatus EvaluationRun::checkSum(TimedOutput& timed) {
  const at::Tensor sum = std::exchange(timed.bitSum, {});
  const std::size_t check = m_state.working[timed.set].check();
  if (!sum.defined() || !m_correct.bitwiseRepeatable || wordOf(sum) == m_checkedSums[check]) {
    return std::nullopt;
  }
  // Two runs may agree by chance where the order of additions is left open. Another result is no harm if it is right.
  if (!guarded("time", [&] { return verifyTimedOutput(timed); })) {
    m_correct.bitwiseRepeatable = false;
    return std::nullopt;
  }
  m_differedOn = check;
  return DeviceFailure{"another result than in the checked call"};
}

EvaluationRun::Outcome EvaluationRun::verifyTimedOutput(const TimedOutput& timed) {
  const WorkingInputs& set = m_state.working[timed.set];
  const std::vector<at::Tensor> pristine = m_state.pristine(set.check());
  const at::Tensor modified = set.beginComparing(pristine);
  const auto expected = m_state.reference.expected(set.check(), pristine);
  const auto wrong = m_verdict.judge(timed.outputs, expected, InputClass::Task, kPoison);
  if (DeviceStatus lost = m_state.device.synchronize()) {
    return failed({"waiting for the device", std::move(*lost)});
  }
  if (const int input = WorkingInputs::firstModified(modified); input >= 0) {
    return domain::Unstable{fmt::format("input {} was changed in the timed calls, not in the checked ones", input)};
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
  if (thrown) {
    return failed({std::string(stage), DeviceFailure{thrown->message, thrown->poisoned, thrown->outOfMemory}});
  }
  return outcome;
}

double EvaluationRun::elapsedSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
}

}  // namespace swage::verify
