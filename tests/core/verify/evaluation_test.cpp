// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/relu_kernels.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

class Evaluation : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
    s_kernels = testing::compileSharedObject(std::string(testing::kKernelMacro) + testing::kReluKernels);
    s_task = testing::pointwiseTask({13, 101}, "aten.relu.default");
    s_session = load(s_task);
    ASSERT_NE(s_session, nullptr);
  }
  static void TearDownTestSuite() {
    s_session.reset();
    s_device.reset();
  }

  static std::unique_ptr<TaskSession> load(const domain::Task& task) {
    auto session = TaskSession::load(testing::briefLoad(task), *s_device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    return session ? std::move(*session) : nullptr;
  }
  static domain::Evaluation evaluate(const domain::LaunchPlan& plan, double screeningNs = 0.0) {
    wire::Evaluate evaluate;
    evaluate.request = 7;
    evaluate.plan = plan;
    evaluate.binary = s_kernels;
    evaluate.screeningNs = screeningNs;
    evaluate.timingBudgetSeconds = 0.05;
    const wire::Evaluated result = s_session->evaluate(evaluate, [](std::string_view) {});
    EXPECT_EQ(result.request, 7U);
    EXPECT_FALSE(result.workerExits);
    return result.evaluation;
  }
  static domain::Evaluation evaluateKernel(const std::string& entry) {
    return evaluate(testing::oneKernelPlan(s_task, entry));
  }
  // For kernels that count their calls: enough timed ones, however slow the machine is.
  static domain::Evaluation evaluateWithManySamples(const std::string& entry) {
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(s_task, entry);
    request.binary = s_kernels;
    request.timingBudgetSeconds = 10.0;
    request.minSamples = request.maxSamples = 200;
    return s_session->evaluate(request, [](std::string_view) {}).evaluation;
  }
  static domain::Wrong wrongOf(const std::string& entry) {
    const domain::Evaluation evaluation = evaluateKernel(entry);
    const auto* wrong = std::get_if<domain::Wrong>(&evaluation);
    EXPECT_NE(wrong, nullptr) << domain::summary(evaluation);
    return wrong != nullptr ? *wrong : domain::Wrong();
  }

  static std::unique_ptr<device::Device> s_device;
  static std::string s_kernels;
  static domain::Task s_task;
  static std::unique_ptr<TaskSession> s_session;
};
std::unique_ptr<device::Device> Evaluation::s_device;
std::string Evaluation::s_kernels;
domain::Task Evaluation::s_task;
std::unique_ptr<TaskSession> Evaluation::s_session;

TEST_F(Evaluation, OfARightKernelIsCorrectAndTimed) {
  const domain::Evaluation evaluation = evaluateKernel("right");
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  ASSERT_EQ(correct->errors.size(), 1U);
  EXPECT_EQ(correct->errors[0].relativeL2, 0.0);
  EXPECT_EQ(correct->accuracy, domain::AccuracyClass::Fp32);
  EXPECT_TRUE(correct->bitwiseRepeatable);
  EXPECT_GE(correct->timing.candidate.samples, 3);
  EXPECT_GE(correct->timing.eager.samples, 3);
  EXPECT_GT(correct->timing.candidate.medianNs, 0.0);
  EXPECT_GT(correct->timing.speedup, 0.0);
}

TEST_F(Evaluation, OfThePlanOfAtenCallsIsCorrect) {
  const domain::Evaluation evaluation = evaluate(testing::atenPlan(s_task));
  EXPECT_NE(domain::asCorrect(evaluation), nullptr) << domain::summary(evaluation);
}

TEST_F(Evaluation, FindsOutputsThatNobodyWrote) {
  EXPECT_EQ(wrongOf("nothing").rule, "unwritten");
  const domain::Wrong half = wrongOf("half");
  EXPECT_EQ(half.rule, "unwritten");
  EXPECT_EQ(half.element, 13 * 101 / 2);
  ASSERT_EQ(half.first.size(), domain::kMostWrongElements);
  EXPECT_EQ(half.first[0].element, 13 * 101 / 2);
  EXPECT_EQ(half.first[7].element, 13 * 101 / 2 + 7);
}

TEST_F(Evaluation, FindsWritesOutsideTheBuffers) {
  EXPECT_EQ(wrongOf("tooFar").rule, "red zone");
  EXPECT_EQ(wrongOf("tooEarly").rule, "red zone");
  EXPECT_EQ(wrongOf("beforeInput").rule, "red zone");
}

TEST_F(Evaluation, FindsWritesBesideAnInputInATimedCall) {
  EXPECT_THAT(domain::summary(evaluateWithManySamples("beforeInputWhenTimed")),
              HasSubstr("in a timed call (red zone)"));
}

// Of which the last is right, so that only those between can tell.
TEST_F(Evaluation, JudgesTimedOutputsOfWhatIsNotRepeatable) {
  const domain::Evaluation evaluation = evaluateWithManySamples("jittersAndSkips");
  const auto* unstable = std::get_if<domain::Unstable>(&evaluation);
  ASSERT_NE(unstable, nullptr) << domain::summary(evaluation);
  EXPECT_THAT(unstable->detail, HasSubstr("wrong in a timed one"));
}

TEST_F(Evaluation, FindsInputsThatWereChanged) {
  EXPECT_EQ(wrongOf("inPlace").rule, "input modified");
}

TEST_F(Evaluation, FindsNanWhereThereShouldBeNone) {
  const domain::Wrong wrong = wrongOf("notANumber");
  EXPECT_EQ(wrong.rule, "nan");
  EXPECT_EQ(wrong.element, 17);
  ASSERT_EQ(wrong.first.size(), 1U);
  EXPECT_EQ(wrong.first[0].place, (std::vector<std::int64_t>{0, 17}));
  EXPECT_TRUE(std::isnan(wrong.first[0].actual));
}

TEST_F(Evaluation, NamesTheWorstElement) {
  const domain::Wrong wrong = wrongOf("oneWrong");
  EXPECT_EQ(wrong.rule, "error");
  EXPECT_EQ(wrong.element, 42);
  EXPECT_EQ(wrong.actual, 1000.0);
  EXPECT_LT(wrong.expected, 10.0);
  ASSERT_EQ(wrong.first.size(), 1U) << "all others are right";
  EXPECT_EQ(wrong.first[0].element, 42);
  EXPECT_EQ(wrong.first[0].actual, 1000.0);
  EXPECT_EQ(wrong.first[0].expected, wrong.expected);
}

TEST_F(Evaluation, FindsAnErrorInTheVeryLastElement) {
  const domain::Wrong wrong = wrongOf("wrongTail");
  EXPECT_EQ(wrong.rule, "error");
  EXPECT_EQ(wrong.element, 13 * 101 - 1);
  ASSERT_EQ(wrong.first.size(), 1U);
  EXPECT_EQ(wrong.first[0].place, (std::vector<std::int64_t>{12, 100}));
}

TEST_F(Evaluation, FindsErrorsThatKernelBenchWouldPass) {
  const domain::Wrong wrong = wrongOf("offByLittle");
  EXPECT_EQ(wrong.rule, "error");
  EXPECT_FALSE(wrong.first.empty()) << "though none by itself may be too far off";
}

TEST_F(Evaluation, RefusesASilentPrecisionDowngrade) {
  EXPECT_EQ(wrongOf("asBf16").rule, "error");
}

TEST_F(Evaluation, CallsAnswersOfTheFirstInputsStateful) {
  const domain::Evaluation evaluation = evaluateKernel("constantOfFirstInputs");
  const auto* cheating = std::get_if<domain::Cheating>(&evaluation);
  ASSERT_NE(cheating, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(cheating->rule, "stateful");
}

TEST_F(Evaluation, CallsWhatIsRightOnlyOnceUnstable) {
  const domain::Evaluation evaluation = evaluateKernel("flaky");
  EXPECT_TRUE(std::holds_alternative<domain::Unstable>(evaluation)) << domain::summary(evaluation);
}

TEST_F(Evaluation, AllowsAndNotesRoundingThatDiffersFromCallToCall) {
  const domain::Evaluation evaluation = evaluateKernel("jitters");
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_FALSE(correct->bitwiseRepeatable);
}

// The address space of this process, and no more than `spare` bytes beyond it until the end of the scope.
class ScarceMemory {
 public:
  explicit ScarceMemory(rlim_t spare) {
    ::getrlimit(RLIMIT_AS, &m_before);
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit scarce{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + spare, m_before.rlim_max};
    ::setrlimit(RLIMIT_AS, &scarce);
  }
  ~ScarceMemory() { end(); }
  void end() const { ::setrlimit(RLIMIT_AS, &m_before); }

 private:
  rlimit m_before{};
};

// The right kernel beside 64 MB of scratch.
wire::Evaluate scratchRequest(domain::LaunchPlan plan, const std::string& binary) {
  wire::Evaluate evaluate;
  evaluate.plan = std::move(plan);
  evaluate.plan.buffers.push_back(domain::contiguousTensor(domain::ScalarType::Float32, {1 << 24}));
  evaluate.plan.steps.emplace_back(
      domain::ZeroStep{domain::ValueId(static_cast<int>(evaluate.plan.buffers.size()) - 1)});
  evaluate.binary = binary;
  return evaluate;
}

TEST_F(Evaluation, TriesOnceMoreWhenMemoryIsShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator does not return when memory is short";
#endif
  wire::Evaluate evaluate = scratchRequest(testing::oneKernelPlan(s_task, "right"), s_kernels);
  evaluate.timingBudgetSeconds = 0.05;
  int tries = 0;
  const ScarceMemory scarce(rlim_t{30} << 20);
  const auto onStage = [&](std::string_view stage) {
    tries += stage == "verify" ? 1 : 0;
    if (tries == 2) {
      scarce.end();  // as when another program has given it back
    }
  };
  const wire::Evaluated result = s_session->evaluate(evaluate, onStage);
  EXPECT_GE(tries, 2);  // contenders are verified in two parts
  EXPECT_NE(domain::asCorrect(result.evaluation), nullptr) << domain::summary(result.evaluation);
  EXPECT_FALSE(result.workerExits);
}

TEST_F(Evaluation, TriesOnlyOnceMoreWhenMemoryStaysShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator does not return when memory is short";
#endif
  wire::Evaluate evaluate = scratchRequest(testing::oneKernelPlan(s_task, "right"), s_kernels);
  int tries = 0;
  const ScarceMemory scarce(rlim_t{30} << 20);
  const wire::Evaluated result =
      s_session->evaluate(evaluate, [&](std::string_view stage) { tries += stage == "verify" ? 1 : 0; });
  EXPECT_EQ(tries, 2);
  EXPECT_TRUE(std::holds_alternative<domain::LaunchFailed>(result.evaluation)) << domain::summary(result.evaluation);
  EXPECT_FALSE(result.workerExits) << "the device is as good as before";
}

TEST_F(Evaluation, ChecksWhatEveryTimedCallLeavesBehind) {
  for (const char* entry : {"lazyLater", "skipsSome"}) {
    const domain::Evaluation evaluation = evaluateKernel(entry);
    const auto* cheating = std::get_if<domain::Cheating>(&evaluation);
    ASSERT_NE(cheating, nullptr) << entry << ": " << domain::summary(evaluation);
    EXPECT_EQ(cheating->rule, "stateful");
  }
}

TEST_F(Evaluation, FindsResultsThatDependOnWhatTheBufferHeldBefore) {
  const domain::Evaluation evaluation = evaluateKernel("reliesOnPoison");
  EXPECT_TRUE(std::holds_alternative<domain::Unstable>(evaluation)) << domain::summary(evaluation);
}

TEST_F(Evaluation, FindsResultsThatDependOnWhatTheStackHeldBefore) {
  const domain::Evaluation evaluation = evaluateKernel("believesItsStack");
  EXPECT_TRUE(std::holds_alternative<domain::Wrong>(evaluation)) << domain::summary(evaluation);
}

TEST_F(Evaluation, AcceptsOtherLastBitsInATimedCallWhenTheyAreRight) {
  const domain::Evaluation evaluation = evaluateKernel("lastBitsDiffer");
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_FALSE(correct->bitwiseRepeatable);
}

TEST_F(Evaluation, FindsResultsThatAreTakenFromWhatAnEarlierCallLeft) {
  const domain::Evaluation evaluation = evaluateKernel("believesItsOutput");
  const auto* unstable = std::get_if<domain::Unstable>(&evaluation);
  ASSERT_NE(unstable, nullptr) << domain::summary(evaluation);
  EXPECT_THAT(unstable->detail, HasSubstr("what an earlier call left"));
}

TEST_F(Evaluation, FindsAnswersThatAreKeptInScratch) {
  domain::LaunchPlan plan = testing::oneKernelPlan(s_task, "keepsInScratch");
  plan.buffers.push_back(domain::contiguousTensor(domain::ScalarType::Float32, {13 * 101 + 2}));
  std::get<domain::KernelStep>(plan.steps[0]).arguments.emplace_back(domain::ValueId(2));
  const domain::Evaluation evaluation = evaluate(plan);
  EXPECT_TRUE(std::holds_alternative<domain::Unstable>(evaluation)) << domain::summary(evaluation);
}

TEST_F(Evaluation, ScreensOutWhatIsMuchSlowerThanTheElite) {
  const domain::Evaluation evaluation = evaluate(testing::oneKernelPlan(s_task, "slow"), 1.0);
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_TRUE(correct->timing.screenedOut);
  EXPECT_EQ(correct->timing.candidate.samples, 2);
}

TEST_F(Evaluation, ReportsAMissingEntry) {
  const domain::Evaluation evaluation = evaluateKernel("absent");
  const auto* failed = std::get_if<domain::LaunchFailed>(&evaluation);
  ASSERT_NE(failed, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(failed->step, "step 0: absent");
}

TEST_F(Evaluation, ReportsABinaryThatIsNone) {
  wire::Evaluate request;
  request.plan = testing::oneKernelPlan(s_task, "right");
  request.binary = "no shared object";
  const auto result = s_session->evaluate(request, [](std::string_view) {});
  EXPECT_TRUE(std::holds_alternative<domain::LaunchFailed>(result.evaluation)) << domain::summary(result.evaluation);
}

TEST_F(Evaluation, RejectsPlansThatAreBroken) {
  domain::LaunchPlan plan = testing::oneKernelPlan(s_task, "right");
  plan.outputs = {domain::ValueId(5)};
  EXPECT_TRUE(std::holds_alternative<domain::Rejected>(evaluate(plan)));
  plan = testing::oneKernelPlan(s_task, "right");
  plan.inputs.clear();
  EXPECT_TRUE(std::holds_alternative<domain::Rejected>(evaluate(plan)));
  plan = testing::oneKernelPlan(s_task, "right");
  plan.buffers[1].shape = {101, 13};
  EXPECT_TRUE(std::holds_alternative<domain::Rejected>(evaluate(plan)));
  plan = testing::oneKernelPlan(s_task, "right");
  plan.steps.clear();
  EXPECT_TRUE(std::holds_alternative<domain::Rejected>(evaluate(plan)));
}

TEST_F(Evaluation, RejectsOperatorsThatAreNotAllowed) {
  domain::LaunchPlan plan = testing::atenPlan(s_task);
  std::get<domain::AtenStep>(plan.steps[0]).node.op = "aten.rand_like.default";
  const domain::Evaluation evaluation = evaluate(plan);
  const auto* rejected = std::get_if<domain::Rejected>(&evaluation);
  ASSERT_NE(rejected, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(rejected->rule, "operator");
}

TEST_F(Evaluation, GivesKernelsTheLayoutThatThePlanDeclares) {
  // relu(x) by an ATen step on a transposed view, then the kernel: it must see row-major data.
  domain::LaunchPlan plan = testing::oneKernelPlan(s_task, "right");
  const auto addBuffer = [&](domain::Shape shape) {
    plan.buffers.push_back(domain::contiguousTensor(domain::ScalarType::Float32, std::move(shape)));
    return domain::ValueId(static_cast<std::int32_t>(plan.buffers.size() - 1));
  };
  const domain::ValueId transposed = addBuffer({101, 13});
  const domain::ValueId copied = addBuffer({101, 13});
  const domain::ValueId back = addBuffer({13, 101});
  const auto transpose = [](domain::ValueId from, domain::ValueId to) {
    return domain::AtenStep{{"aten.transpose.int", {{from}, {std::int64_t{0}}, {std::int64_t{1}}}, {}, {to}, ""}};
  };
  auto kernel = std::get<domain::KernelStep>(plan.steps[0]);
  kernel.arguments[0] = back;
  plan.steps = {transpose(domain::ValueId(0), transposed),
                domain::AtenStep{{"aten.clone.default",
                                  {{transposed}},
                                  {{"memory_format", {domain::MemoryFormatArgument{"contiguous_format"}}}},
                                  {copied},
                                  ""}},
                transpose(copied, back), kernel};
  const domain::Evaluation evaluation = evaluate(plan);
  EXPECT_NE(domain::asCorrect(evaluation), nullptr) << domain::summary(evaluation);
}

TEST_F(Evaluation, UsesScratchBuffersAndZeroSteps) {
  domain::LaunchPlan plan = testing::oneKernelPlan(s_task, "right");
  plan.buffers.push_back(plan.buffers[0]);
  const domain::ValueId scratch(2);
  auto second = std::get<domain::KernelStep>(plan.steps[0]);
  std::get<domain::KernelStep>(plan.steps[0]).arguments[1] = scratch;
  second.arguments[0] = scratch;
  plan.steps.insert(plan.steps.begin(), domain::ZeroStep{scratch});
  plan.steps.emplace_back(second);
  const domain::Evaluation evaluation = evaluate(plan);
  EXPECT_NE(domain::asCorrect(evaluation), nullptr) << domain::summary(evaluation);
}

TEST_F(Evaluation, OfARightKernelAfterWrongOnesIsStillCorrect) {
  (void)evaluateKernel("inPlace");
  (void)evaluateKernel("tooFar");
  const domain::Evaluation evaluation = evaluateKernel("right");
  EXPECT_NE(domain::asCorrect(evaluation), nullptr) << domain::summary(evaluation);
}

TEST_F(Evaluation, TimesOutWhenTheLimitIsOver) {
  wire::Evaluate request;
  request.plan = testing::oneKernelPlan(s_task, "right");
  request.binary = s_kernels;
  request.limitSeconds = 0.0;
  const auto result = s_session->evaluate(request, [](std::string_view) {});
  EXPECT_TRUE(std::holds_alternative<domain::TimedOut>(result.evaluation)) << domain::summary(result.evaluation);
}

TEST_F(Evaluation, ComparesIntegerOutputsExactly) {
  const domain::Task task = [] {
    domain::Task made = testing::pointwiseTask({8, 32}, "aten.argmax.default");
    made.graph.nodes[0].args.push_back({std::int64_t{1}});
    made.graph.values[1] = domain::contiguousTensor(domain::ScalarType::Int64, {8});
    return made;
  }();
  const auto session = load(task);
  ASSERT_NE(session, nullptr);
  wire::Evaluate request;
  request.plan = testing::atenPlan(task);
  request.timingBudgetSeconds = 0.02;
  EXPECT_NE(domain::asCorrect(session->evaluate(request, [](std::string_view) {}).evaluation), nullptr);
  std::get<domain::AtenStep>(request.plan.steps[0]).node.op = "aten.argmin.default";
  const auto result = session->evaluate(request, [](std::string_view) {});
  const auto* wrong = std::get_if<domain::Wrong>(&result.evaluation);
  ASSERT_NE(wrong, nullptr) << domain::summary(result.evaluation);
  EXPECT_EQ(wrong->rule, "error");
}

}  // namespace
}  // namespace swage::verify
