// SPDX-License-Identifier: Apache-2.0
// The part of EvaluationRun that only contenders get to, and the question whether a candidate keeps something.
#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/verify/evaluation_run.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

constexpr std::size_t kCallsAgain = 3;
// Of the module that differed and of fresh ones. Chance that shows in one call of six here and in none of six there is
// rare; should it happen, the candidate is turned down for the wrong reason, and still rightly.
constexpr int kTrials = 6;

}  // namespace

EvaluationRun::Outcome EvaluationRun::verifyContender() {
  m_contenderSince = elapsedSeconds();
  if (Outcome outcome = verifyPutOff()) {
    return outcome;
  }
  m_watch.mark("put off");
  for (std::size_t check = m_state.taskChecks(); !isCheckedEnough(); ++check) {
    const auto more = isAdmitted(check);
    if (!more) {
      return more.error();
    }
    if (!*more) {
      break;
    }
  }
  m_watch.mark("admitting");
  std::vector<std::size_t> order;
  for (std::size_t check = m_taskChecksDone; check < m_state.checks.size(); ++check) {
    const InputClass inputs = m_state.checks[check].inputs;
    if (isHard(inputs) || (inputs == InputClass::HeldBack && m_request.heldBack)) {
      order.push_back(check);
    }
  }
  for (std::size_t check = 0; check < std::min(kCallsAgain, m_taskChecksDone); ++check) {
    order.push_back(check);
  }
  // The same order for every candidate of the task: an evaluation can be repeated.
  std::shuffle(order.begin(), order.end(), std::mt19937_64(m_state.baseSeed));
  for (const std::size_t check : order) {
    if (isOutOfTime()) {
      return domain::TimedOut{"verify", m_request.limitSeconds};
    }
    const bool isSeen = m_state.checks[check].inputs == InputClass::Task;
    if (!isSeen && isCheckedEnough()) {
      continue;
    }
    if (Outcome outcome = guarded("verify", [&] { return isSeen ? callAgain(check) : verifyChecks(check, 1); })) {
      return outcome;
    }
  }
  m_watch.mark("contender");
  Outcome last = guarded("verify", [this] { return callConfined(m_taskChecksDone - 1); });
  m_watch.mark("confined");
  if (!last) {
    last = guarded("verify", [this] { return callWithOtherThreads(m_taskChecksDone - 1); });
    m_watch.mark("threads");
  }
  return last;
}

EvaluationRun::Outcome EvaluationRun::verifyPutOff() {
  for (std::size_t check = m_taskChecksDone; check < m_state.taskChecks() && !isCheckedEnough(); ++check) {
    if (isOutOfTime()) {
      return domain::TimedOut{"verify", m_request.limitSeconds};
    }
    const auto isThere = isAdmitted(check);
    if (!isThere) {
      return isThere.error();
    }
    if (!*isThere) {
      break;
    }
    if (Outcome outcome = guarded("verify", [&] { return verifyChecks(check, 1); })) {
      return outcome;
    }
    m_taskChecksDone = check + 1;
  }
  return std::nullopt;
}

bool EvaluationRun::isCheckedEnough() const {
  return m_request.checkSeconds > 0.0 && elapsedSeconds() - m_contenderSince > m_request.checkSeconds;
}

// The candidate's calls are over, so no answer lies open while it runs. What PyTorch cannot do now is no fault of the
// candidate, nor that it takes long: half of the time is left to the candidate itself.
tl::expected<bool, domain::Evaluation> EvaluationRun::isAdmitted(std::size_t check) {
  bool isMore = true;
  while (isMore && check >= m_state.checks.size() && elapsedSeconds() < m_request.limitSeconds / 2) {
    const auto failed = attempt([&] { isMore = m_state.admitNext(); });
    if (failed && failed->poisoned) {
      return tl::make_unexpected(this->failed({"reference", asDeviceFailure(*failed)}));
    }
    if (failed) {
      log::info("a check is left out: {}", failed->message);
    }
  }
  m_checkedSums.resize(m_state.checks.size());
  return check < m_state.checks.size();
}

tl::expected<std::int64_t, domain::Evaluation> EvaluationRun::sumInside(const PlanProgram::GuardedRun& run,
                                                                        const WorkingInputs& set,
                                                                        std::string_view when) {
  Answers answers;
  const Answers::Range sums = answers.add(bitSums(run.outputs));
  const Answers::Range zones = askRedZones(run, set, answers);
  answers.fetch();
  if (Outcome outside = judgeRedZones(answers.bytesOf(zones), when)) {
    return tl::make_unexpected(std::move(*outside));
  }
  return answers.totalOf(sums);
}

EvaluationRun::Outcome EvaluationRun::callAgain(std::size_t check) {
  if (!m_correct.bitwiseRepeatable) {
    return std::nullopt;
  }
  const std::vector<at::Tensor> pristine = m_state.pristine(check);
  const WorkingInputs& set = m_state.fillWorking(check, pristine);
  const auto result = m_program->runGuarded(set.tensors(), kPoison);
  if (!result) {
    return failed(result.error());
  }
  const auto sum = sumInside(*result, set, " when it was called again");
  if (!sum) {
    return sum.error();
  }
  if (*sum == m_checkedSums[check]) {
    return std::nullopt;
  }
  // The first two runs may have agreed by chance where the order of additions is left open.
  if (!judgeAgain(result->outputs, check, kPoison)) {
    m_correct.bitwiseRepeatable = false;
    return std::nullopt;
  }
  return explain(check, m_checkedSums[check],
                 domain::Unstable{"a call after others gave another result than the first one on the same inputs"});
}

tl::expected<EvaluationRun::OtherCall, domain::Evaluation> EvaluationRun::callBy(
    const PlanProgram::LaunchObserver& launcher, std::size_t check, std::string_view when) {
  const std::vector<at::Tensor> pristine = m_state.pristine(check);
  const WorkingInputs& set = m_state.fillWorking(check, pristine);
  const auto result = m_program->runGuarded(set.tensors(), kPoison, launcher);
  if (!result) {
    return tl::make_unexpected(failed(result.error()));
  }
  const auto sum = sumInside(*result, set, when);
  if (!sum) {
    return tl::make_unexpected(sum.error());
  }
  if (m_correct.bitwiseRepeatable && *sum == m_checkedSums[check]) {
    return OtherCall{.isTheSame = true, .wrong = std::nullopt};
  }
  return OtherCall{.isTheSame = false, .wrong = judgeAgain(result->outputs, check, kPoison)};
}

EvaluationRun::Outcome EvaluationRun::callConfined(std::size_t check) {
  const auto confine = [this](std::size_t, const device::Device::Call& launch) {
    return m_state.device.callConfined(launch);
  };
  const auto called = callBy(confine, check, " on a part of the device");
  if (!called) {
    return called.error();
  }
  if (!called->wrong) {
    m_correct.bitwiseRepeatable = m_correct.bitwiseRepeatable && called->isTheSame;
    return std::nullopt;
  }
  return unlessStateful(
      check, {"right when its blocks or threads run side by side, wrong when they have to run one after another: " +
              called->wrong->detail});
}

// Other bits are no fault: sums are split among the threads.
EvaluationRun::Outcome EvaluationRun::callWithOtherThreads(std::size_t check) {
  for (const int threads : m_state.device.otherThreadCounts()) {
    if (isOutOfTime()) {
      return domain::TimedOut{"verify", m_request.limitSeconds};
    }
    const auto launcher = [this, threads](std::size_t, const device::Device::Call& launch) {
      return m_state.device.callWithThreads(threads, launch);
    };
    const auto called = callBy(launcher, check, fmt::format(" with {} threads", threads));
    if (!called) {
      return called.error();
    }
    if (called->wrong) {
      return unlessStateful(check, {fmt::format("right with {} threads, wrong with {}: {}",
                                                m_state.device.info().threads, threads, called->wrong->detail)});
    }
  }
  return std::nullopt;
}

domain::Evaluation EvaluationRun::unlessStateful(std::size_t check, const domain::Unstable& unstable) {
  return m_correct.bitwiseRepeatable ? explain(check, m_checkedSums[check], unstable) : unstable;
}

domain::Evaluation EvaluationRun::explain(std::size_t check, std::int64_t wanted, domain::Evaluation otherwise) {
  const WorkingInputs& set = m_state.fillWorking(check, m_state.pristine(check));
  int differing = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto result = m_program->runGuarded(set.tensors(), kPoison);
    if (!result && result.error().failure.poisoned) {
      return failed(result.error());
    }
    differing += !result || bitSum(result->outputs) != wanted ? 1 : 0;
  }
  if (differing == 0) {
    return otherwise;
  }
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto fresh = callFresh(set, nullptr);
    if (!fresh || fresh->sum != wanted) {
      return otherwise;
    }
  }
  return domain::Cheating{"stateful",
                          "a result depends on the calls before it: the same program, loaded anew, gives "
                          "another one on the same inputs"};
}

domain::Evaluation EvaluationRun::explainWrong(domain::Wrong found, std::size_t check,
                                               const Reference::Expected& expected) {
  const WorkingInputs& set = m_state.fillWorking(check, m_state.pristine(check));
  const auto fresh = callFresh(set, &expected);
  if (!fresh || !fresh->isRight) {
    return found;
  }
  return explain(check, fresh->sum, std::move(found));
}

std::optional<EvaluationRun::FirstCall> EvaluationRun::callFresh(const WorkingInputs& set,
                                                                 const Reference::Expected* expected) {
  if (!m_request.plan.hasKernels()) {
    return std::nullopt;
  }
  const auto module = m_state.device.loadModule(m_request.binary);
  if (!module) {
    return std::nullopt;
  }
  auto program = PlanProgram::bind(m_request.plan, m_state.device, module->get(), m_state.operators, m_state.where);
  if (!program) {
    return std::nullopt;
  }
  const auto result = program->runGuarded(set.tensors(), kPoison);
  if (!result) {
    m_poisoned = m_poisoned || result.error().failure.poisoned;
    return std::nullopt;
  }
  FirstCall call{.sum = bitSum(result->outputs)};
  if (expected != nullptr) {
    Verdict verdict(m_state.reference, m_state.nearness);
    call.isRight = !verdict.judge(result->outputs, *expected, m_state.checks[set.check()].inputs, kPoison);
  }
  return call;
}

}  // namespace swage::verify
