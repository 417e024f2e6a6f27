// SPDX-License-Identifier: Apache-2.0
// The part of EvaluationRun that every candidate has to pass before it is timed, and what is asked about memory around
// its buffers.
#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/verify/evaluation_run.h"
#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

// A check that takes longer keeps a GPU busy by itself, and a candidate that is slow should be found out of time
// between two checks.
constexpr double kBriefSeconds = 0.02;
// Of the device's memory, for the outputs and scratch of checks that are under way together.
constexpr std::int64_t kMemoryShare = 64;

domain::Wrong broken(std::string rule, std::string detail) {
  domain::Wrong wrong;
  wrong.rule = std::move(rule);
  wrong.detail = std::move(detail);
  return wrong;
}

std::vector<at::Tensor> redZonesOf(std::span<const Guarded> buffers) {
  std::vector<at::Tensor> zones;
  for (const Guarded& buffer : buffers) {
    const auto& both = buffer.redZones();
    zones.insert(zones.end(), both.begin(), both.end());
  }
  return zones;
}

}  // namespace

Answers::Range EvaluationRun::askRedZones(const PlanProgram::GuardedRun& run, const WorkingInputs& set,
                                          Answers& answers) {
  std::vector<at::Tensor> zones = redZonesOf(run.buffers);
  const std::vector<at::Tensor> ofInputs = redZonesOf(set.buffers());
  zones.insert(zones.end(), ofInputs.begin(), ofInputs.end());
  return answers.add(zones);
}

// Who writes there may have hit more than the zones: later candidates must not be judged by broken data.
EvaluationRun::Outcome EvaluationRun::judgeRedZones(std::string_view zones, std::string_view when) {
  if (areIntact(zones)) {
    return std::nullopt;
  }
  m_poisoned = !m_state.isIntact();
  return broken("red zone", fmt::format("a kernel wrote outside its buffers{}", when));
}

// Of all working sets; inputs that are not kept would have to be drawn again, and the last call's are looked at anyway.
EvaluationRun::Outcome EvaluationRun::judgeWorkingSets() {
  Answers answers;
  std::vector<at::Tensor> zones;
  std::vector<Answers::Range> modified;
  for (const WorkingInputs& set : m_state.working) {
    const std::vector<at::Tensor> ofSet = redZonesOf(set.buffers());
    zones.insert(zones.end(), ofSet.begin(), ofSet.end());
    if (set.check() < m_state.kept.size()) {
      modified.push_back(answers.add(differing(set.tensors(), m_state.kept[set.check()])));
    }
  }
  const Answers::Range allZones = answers.add(zones);
  answers.fetch();
  if (Outcome outside = judgeRedZones(answers.bytesOf(allZones), " in a timed call")) {
    return outside;
  }
  for (const Answers::Range& ofSet : modified) {
    if (const int input = answers.firstSetOf(ofSet); input >= 0) {
      return changedInput(input);
    }
  }
  return std::nullopt;
}

domain::Evaluation EvaluationRun::changedInput(int input) {
  return domain::Unstable{fmt::format("input {} was changed in the timed calls, not in the checked ones", input)};
}

// The first check by itself: most wrong candidates end there.
EvaluationRun::Outcome EvaluationRun::verify() {
  const std::size_t checks = checksBeforeTiming();
  double firstSeconds = 0.0;
  for (std::size_t next = 0; next < checks;) {
    if (isOutOfTime()) {
      return domain::TimedOut{"verify", m_request.limitSeconds};
    }
    const double start = elapsedSeconds();
    const std::size_t count = next == 0 ? 1 : std::min(checksAtOnce(next, firstSeconds), checks - next);
    if (Outcome outcome = guarded("verify", [&] { return verifyChecks(next, count); })) {
      return outcome;
    }
    firstSeconds = next == 0 ? elapsedSeconds() - start : firstSeconds;
    next += count;
    m_taskChecksDone = next;
  }
  return std::nullopt;
}

// Every working set needs inputs whose result has been checked: what timed calls leave is compared with it.
std::size_t EvaluationRun::checksBeforeTiming() const {
  const std::size_t cheap = m_state.isLarge() ? 0 : m_state.kept.size();
  return std::min(m_state.admittedTaskChecks(), std::max(cheap, m_state.working.size()));
}

// Results that are not kept are computed anew for every check, and need the memory.
std::size_t EvaluationRun::checksAtOnce(std::size_t next, double firstSeconds) const {
  const std::size_t kept = std::min(m_state.kept.size(), m_state.admittedTaskChecks());
  if (!m_state.where.is_cuda() || firstSeconds > kBriefSeconds || next >= kept) {
    return 1;
  }
  const auto& buffers = m_request.plan.buffers;
  std::int64_t bytes = 1;
  for (const domain::ValueId buffer : m_program->ownBuffers()) {
    bytes += extentBytes(buffers[static_cast<std::size_t>(buffer.value())]);
  }
  const std::int64_t room = m_state.device.info().memoryBytes / kMemoryShare / bytes;
  return std::clamp<std::size_t>(static_cast<std::size_t>(room), 1, kept - next);
}

EvaluationRun::Outcome EvaluationRun::verifyChecks(std::size_t first, std::size_t count) {
  Answers answers;
  std::vector<BegunCheck> begun;
  for (std::size_t check = first; check < first + count; ++check) {
    auto one = begin(check, answers);
    if (!one) {
      return failed(one.error());
    }
    begun.push_back(std::move(*one));
  }
  answers.fetch();
  m_watch.mark("calls");
  for (BegunCheck& one : begun) {
    if (Outcome outcome = conclude(one, answers)) {
      return outcome;
    }
  }
  return std::nullopt;
}

// The candidate runs before the expected results exist in readable form.
tl::expected<EvaluationRun::BegunCheck, StepFailure> EvaluationRun::begin(std::size_t check, Answers& answers) {
  const std::vector<at::Tensor> pristine = m_state.pristine(check);
  const WorkingInputs& set = m_state.fillWorking(check, pristine);
  m_watch.mark("inputs");
  auto run = m_program->beginGuarded(set.tensors(), kPoison);
  if (!run) {
    return tl::make_unexpected(std::move(run).error());
  }
  BegunCheck begun;
  begun.check = check;
  begun.run = std::move(*run);
  begun.redZones = askRedZones(begun.run, set, answers);
  begun.modified = answers.add(differing(set.tensors(), pristine));
  begun.sums = answers.add(bitSums(begun.run.outputs));
  const InputClass inputs = m_state.checks[check].inputs;
  if (const Reference::Digests* digests = digestsFor(check)) {
    begun.digests = m_verdict.begin(begun.run.outputs, *digests, inputs, kPoison, answers);
    return begun;
  }
  // repeat() runs the candidate beside the results of the first check. Where one runs beside those of others, it has
  // been found wrong already.
  begun.expected =
      m_state.reference.expected(check, pristine, check == 0 ? Reference::Masking::Always : Reference::Masking::IfKept);
  begun.judgement = m_verdict.begin(begun.run.outputs, *begun.expected, inputs, kPoison, answers);
  return begun;
}

EvaluationRun::Outcome EvaluationRun::conclude(BegunCheck& begun, const Answers& answers) {
  if (Outcome outside = judgeRedZones(answers.bytesOf(begun.redZones), "")) {
    return outside;
  }
  if (const int input = answers.firstSetOf(begun.modified); input >= 0) {
    return broken("input modified", fmt::format("a kernel changed input {}", input));
  }
  auto wrong = judge(begun, answers);
  m_watch.mark("judging");
  m_verdict.count(m_state.checks[begun.check].inputs);
  if (wrong) {
    wrong->detail += fmt::format(" ({})", describe(begun.check));
    return begun.check == 0 ? domain::Evaluation(std::move(*wrong))
                            : explainWrong(std::move(*wrong), begun.check, *begun.expected);
  }
  m_checkedSums[begun.check] = answers.totalOf(begun.sums);
  return begun.check == 0 ? repeat(begun) : std::nullopt;
}

std::optional<domain::Wrong> EvaluationRun::judge(BegunCheck& begun, const Answers& answers) {
  if (begun.expected) {
    return m_verdict.conclude(begun.judgement, answers);
  }
  if (m_verdict.passes(begun.digests, answers)) {
    return std::nullopt;
  }
  begun.expected =
      m_state.reference.expected(begun.check, m_state.pristine(begun.check),
                                 begun.check == 0 ? Reference::Masking::Always : Reference::Masking::IfKept);
  return m_verdict.judge(begun.run.outputs, *begun.expected, m_state.checks[begun.check].inputs, kPoison);
}

std::optional<domain::Wrong> EvaluationRun::judgeAgain(std::span<const at::Tensor> outputs, std::size_t check,
                                                       std::uint8_t poison) {
  const InputClass inputs = m_state.checks[check].inputs;
  if (const Reference::Digests* digests = m_state.reference.digests(check)) {
    Answers answers;
    const auto begun = m_verdict.begin(outputs, *digests, inputs, poison, answers);
    answers.fetch();
    if (m_verdict.passes(begun, answers)) {
      return std::nullopt;
    }
  }
  const auto expected = m_state.reference.expected(check, m_state.pristine(check), Reference::Masking::IfKept);
  return m_verdict.judge(outputs, expected, inputs, poison);
}

// A timing ends with a comparison in full, and where there is none the first check is one.
const Reference::Digests* EvaluationRun::digestsFor(std::size_t check) const {
  return m_request.verifyOnly && check == 0 ? nullptr : m_state.reference.digests(check);
}

std::string EvaluationRun::describe(std::size_t check) const {
  const InputClass inputs = m_state.checks[check].inputs;
  if (inputs == InputClass::Task) {
    return fmt::format("check {} of {}", check + 1, m_state.taskChecks());
  }
  switch (inputs) {
    case InputClass::Weights:
    case InputClass::Masks: return fmt::format("with {}", name(inputs));
    case InputClass::Ties:
    case InputClass::Rows:
    case InputClass::Nan:
    case InputClass::Infinite: return fmt::format("inputs with {}", name(inputs));
    default: return fmt::format("{} inputs", name(inputs));
  }
}

bool EvaluationRun::isOutOfTime() const {
  return elapsedSeconds() > m_request.limitSeconds;
}

// With other bytes in the buffers beforehand: what depends on them is read before it is written.
EvaluationRun::Outcome EvaluationRun::repeat(BegunCheck& first) {
  const WorkingInputs& set = m_state.workingFor(first.check);
  const auto second = m_program->beginGuarded(set.tensors(), kOtherPoison);
  if (!second) {
    return failed(second.error());
  }
  Answers answers;
  const Answers::Range changed = answers.add(differing(first.run.outputs, second->outputs));
  const auto onLeftovers = beginOnLeftovers(first);
  if (!onLeftovers) {
    return failed(onLeftovers.error());
  }
  const Answers::Range sums = answers.add(bitSums(*onLeftovers));
  const Answers::Range zones = askRedZones(*second, set, answers);
  const Answers::Range firstZones = askRedZones(first.run, set, answers);
  answers.fetch();
  for (const Answers::Range& range : {zones, firstZones}) {
    if (Outcome outside = judgeRedZones(answers.bytesOf(range), " when it was called again")) {
      return outside;
    }
  }
  m_watch.mark("repeating");
  m_correct.bitwiseRepeatable = answers.firstSetOf(changed) < 0;
  const bool keptItsSum = answers.totalOf(sums) == m_checkedSums[first.check];
  return judgeRepetitions(second->outputs, *onLeftovers, keptItsSum, first.check);
}

tl::expected<std::vector<at::Tensor>, StepFailure> EvaluationRun::beginOnLeftovers(BegunCheck& first) {
  constexpr std::int64_t kFirstWords = 16;  // a mark would stand there
  constexpr std::int64_t kOffsets = 40;
  for (Guarded& buffer : first.run.buffers) {
    buffer.disturb(kFirstWords + std::random_device()() % kOffsets);
  }
  return m_program->beginOnLeftovers(m_state.workingFor(first.check).tensors(), first.run);
}

// Other bits alone are no fault: runs may agree by chance where the order of additions is left open. What a disturbance
// leaves behind is far from right.
EvaluationRun::Outcome EvaluationRun::judgeRepetitions(std::span<const at::Tensor> second,
                                                       std::span<const at::Tensor> onLeftovers, bool keptItsSum,
                                                       std::size_t check) {
  if (m_correct.bitwiseRepeatable && keptItsSum) {
    return std::nullopt;
  }
  if (const auto wrong = judgeAgain(onLeftovers, check, kPoison)) {
    return domain::Unstable{"the result depends on what an earlier call left in the buffers: " + wrong->detail};
  }
  const bool isSecondLikeFirst = m_correct.bitwiseRepeatable;
  m_correct.bitwiseRepeatable = false;
  if (isSecondLikeFirst) {
    return std::nullopt;
  }
  if (const auto wrong = judgeAgain(second, check, kOtherPoison)) {
    return domain::Unstable{fmt::format("right at first, then wrong on the same inputs: {}", wrong->detail)};
  }
  return std::nullopt;
}

}  // namespace swage::verify
