// SPDX-License-Identifier: Apache-2.0
// A task of whose results a device can keep no more than digests: what they are enough for, and what they are not.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/verify/task_inputs.h"
#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/small_device.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::int64_t kElements = std::int64_t{1} << 18;

// relu, but for what their names say.
constexpr const char* kLargeKernels = R"(
#include <cmath>
KERNEL(right) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(oneWrong) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); y[n - 3] += 0.01f; }
KERNEL(oneLeftOut) { for (std::int64_t i = 0; i < n; ++i) if (i != n / 2) y[i] = relu(x[i]); }
KERNEL(allInexact) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]) * 1.000003f; }
KERNEL(clamping) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > 1000 ? 1000 : relu(x[i]); }
KERNEL(slightlyInexact) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]) * (i % 2 == 0 ? 1.00000006f : 1.0f); }
extern "C" void neverNan(void** a) {
  bool* y = *static_cast<bool**>(a[1]);
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(a[2]); ++i) y[i] = false;
}
extern "C" void onceNan(void** a) {
  neverNan(a);
  (*static_cast<bool**>(a[1]))[7] = true;
}
)";

class LargeTask : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
    s_kernels = testing::compileSharedObject(std::string(testing::kKernelMacro) + kLargeKernels);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static wire::LoadTask loading(domain::Task task) {
    wire::LoadTask request;
    request.task = std::move(task);
    request.baseSeed = 1000;
    request.timeEager = false;
    request.adversarial = true;
    request.heldBackSeeds = 3;
    return request;
  }
  static wire::LoadTask relu() { return loading(testing::pointwiseTask({512, 512}, "aten.relu.default")); }
  static wire::LoadTask isNan() {
    domain::Task task = testing::pointwiseTask({512, 512}, "aten.isnan.default");
    task.graph.values[1].dtype = domain::ScalarType::Bool;
    return loading(std::move(task));
  }
  // Timed: what is only verified is compared in full on its first check.
  static wire::Evaluate timed(const wire::LoadTask& task, const std::string& entry) {
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(task.task, entry);
    request.binary = s_kernels;
    request.timingBudgetSeconds = 0.02;
    request.limitSeconds = 600.0;  // on a machine that is busy
    request.heldBack = true;
    return request;
  }

  static std::vector<domain::Evaluation> evaluate(const wire::LoadTask& task,
                                                  const std::vector<wire::Evaluate>& requests) {
    testing::SmallDevice device(*s_device, testing::bytesToKeep(0, task));
    const auto session = TaskSession::load(task, device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    std::vector<domain::Evaluation> found;
    for (const wire::Evaluate& request : requests) {
      found.push_back(session ? (*session)->evaluate(request, [](std::string_view) {}).evaluation
                              : domain::Evaluation());
    }
    return found;
  }
  static domain::Correct correctOf(const domain::Evaluation& evaluation) {
    const auto* correct = domain::asCorrect(evaluation);
    EXPECT_NE(correct, nullptr) << domain::summary(evaluation);
    return correct != nullptr ? *correct : domain::Correct();
  }
  static domain::Evaluation evaluateOne(const wire::LoadTask& task, const std::string& entry) {
    return evaluate(task, {timed(task, entry)}).front();
  }
  static int checksOf(const domain::Correct& correct) {
    int checks = 0;
    for (const domain::InputErrors& errors : correct.byInputs) {
      checks += errors.checks;
    }
    return checks;
  }

  static std::unique_ptr<device::Device> s_device;
  static std::string s_kernels;
};
std::unique_ptr<device::Device> LargeTask::s_device;
std::string LargeTask::s_kernels;

TEST_F(LargeTask, ARightKernelPassesEveryCheck) {
  const domain::Correct correct = correctOf(evaluateOne(relu(), "right"));
  EXPECT_EQ(checksOf(correct), 5 + 13 + 3) << "seeds, hard inputs, held-back seeds";
  EXPECT_EQ(correct.errors.at(0).relativeL2, 0.0);
  EXPECT_TRUE(correct.bitwiseRepeatable);
}

TEST_F(LargeTask, SaysHowLargeTheErrorIs) {
  const domain::Correct correct = correctOf(evaluateOne(relu(), "slightlyInexact"));
  EXPECT_NEAR(correct.errors.at(0).relativeL2, 8.4e-8, 1e-8) << "one place in every other element";
  EXPECT_GT(correct.errors.at(0).maxAbsolute, 0.0);
}

TEST_F(LargeTask, FindsOneWrongElementAndSaysWhich) {
  const domain::Wrong wrong = testing::wrongOf(evaluateOne(relu(), "oneWrong"));
  EXPECT_EQ(wrong.element, kElements - 3);
  EXPECT_NEAR(wrong.actual - wrong.expected, 0.01, 1e-5);
  EXPECT_THAT(wrong.detail, HasSubstr("check 1 of 5"));
  EXPECT_EQ(testing::wrongOf(evaluateOne(relu(), "oneLeftOut")).rule, "unwritten");
}

TEST_F(LargeTask, FindsAnErrorThatAllElementsShare) {
  const domain::Wrong wrong = testing::wrongOf(evaluateOne(relu(), "allInexact"));
  EXPECT_EQ(wrong.rule, "error");
  EXPECT_THAT(wrong.detail, HasSubstr("relative L2 error 2.9"));
}

TEST_F(LargeTask, FindsWhatIsWrongOnHardInputsOnly) {
  EXPECT_THAT(testing::wrongOf(evaluateOne(relu(), "clamping")).detail,
              AnyOf(HasSubstr("large inputs"), HasSubstr("uneven"), HasSubstr("scaled rows"), HasSubstr("infinities")));
}

TEST_F(LargeTask, FindsOneWrongBoolean) {
  EXPECT_EQ(correctOf(evaluateOne(isNan(), "neverNan")).errors.size(), 1U);
  EXPECT_EQ(testing::wrongOf(evaluateOne(isNan(), "onceNan")).element, 7);
}

TEST_F(LargeTask, AContenderWhoseTimeIsOverIsCheckedOnLess) {
  wire::Evaluate brief = timed(relu(), "right");
  brief.checkSeconds = 1e-9;
  wire::Evaluate late = timed(relu(), "clamping");
  late.checkSeconds = 1e-9;
  const std::vector<domain::Evaluation> found =
      evaluate(relu(), {brief, late, timed(relu(), "clamping"), timed(relu(), "right")});
  EXPECT_EQ(checksOf(correctOf(found[0])), 1);
  EXPECT_EQ(checksOf(correctOf(found[1])), 1) << "and is found out when it is measured again";
  EXPECT_THAT(testing::wrongOf(found[2]).detail,
              AnyOf(HasSubstr("large inputs"), HasSubstr("uneven"), HasSubstr("scaled rows"), HasSubstr("infinities")));
  EXPECT_EQ(checksOf(correctOf(found[3])), 5 + 13 + 3);
}

}  // namespace
}  // namespace swage::verify
