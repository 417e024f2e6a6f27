// SPDX-License-Identifier: Apache-2.0
// NaN and infinities that have to arrive, zeros, ties, and rows at different scales.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

constexpr int kFewRows = 16;
constexpr int kRowLength = 96;

constexpr const char* kSpecialKernels = R"(
#include <algorithm>
#include <cfloat>
#include <cmath>
KERNEL(rightLogarithm) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::log(x[i]); }
KERNEL(logarithmWithoutNan) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? 0 : std::log(x[i]); }
KERNEL(logarithmOfMagnitude) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::log(std::fabs(x[i])); }
KERNEL(rightExponential) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]); }
KERNEL(exponentialWithoutInfinity) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::min(std::exp(x[i]), FLT_MAX); }
KERNEL(rightReciprocal) { for (std::int64_t i = 0; i < n; ++i) y[i] = 1 / x[i]; }
KERNEL(reciprocalWithoutZeros) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] == 0 ? 0 : 1 / x[i]; }
KERNEL(rightCosine) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::cos(x[i]); }
KERNEL(cosineWithoutZeros) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] == 0 ? 0 : std::cos(x[i]); }
static float largestOf(const float* x, std::int64_t n) {
  float largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = std::fabs(x[i]);
    largest = v > largest || v != v ? v : largest;
  }
  return largest;
}
// Of each row over its largest magnitude, in multiples of `step`.
static void normalise(const float* x, float* y, std::int64_t n, double step) {
  for (std::int64_t begin = 0; begin < n; begin += 96) {
    const double largest = largestOf(x + begin, 96);
    for (int i = 0; i < 96; ++i) {
      const double v = x[begin + i];
      y[begin + i] = float((step > 0 && step < INFINITY ? std::rint(v / step) * step : v) / largest);
    }
  }
}
KERNEL(rightRelu) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(reluWithoutNan) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::fmax(x[i], 0.0f); }
KERNEL(rightMaximum) { for (std::int64_t r = 0; r < n / 96; ++r) { y[r] = x[r * 96]; for (int i = 1; i < 96; ++i) { const float v = x[r * 96 + i]; y[r] = v > y[r] || v != v ? v : y[r]; } } }
KERNEL(maximumWithoutNan) { for (std::int64_t r = 0; r < n / 96; ++r) { y[r] = -INFINITY; for (int i = 0; i < 96; ++i) y[r] = std::fmax(y[r], x[r * 96 + i]); } }
KERNEL(exponentialThatAddsNothing) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]) + 0 * x[i]; }
KERNEL(zeros) { for (std::int64_t i = 0; i < n; ++i) y[i] = 0; }
KERNEL(rightNormalisation) { normalise(x, y, n, 0); }
KERNEL(oneScaleForAllRows) { normalise(x, y, n, largestOf(x, n) * 0x1p-30); }
)";

class SpecialValues : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
    s_kernels = testing::compileSharedObject(std::string(testing::kKernelMacro) + kSpecialKernels);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static domain::Task pointwise(std::string_view op, std::string_view generator = "aten.randn.default") {
    domain::Task task = testing::pointwiseTask({kFewRows, kRowLength}, op);
    task.inputGenerator.nodes[0].op = generator;
    return task;
  }
  static domain::Evaluation evaluate(const domain::Task& task, const std::string& entry, bool hasHardInputs) {
    wire::LoadTask loading;
    loading.task = task;
    loading.baseSeed = 1000;
    loading.timeEager = false;
    loading.adversarial = hasHardInputs;
    const auto session = TaskSession::load(loading, *s_device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(task, entry);
    request.binary = s_kernels;
    request.verifyOnly = true;
    request.limitSeconds = 600.0;  // on a machine that is busy
    return session ? (*session)->evaluate(request, [](std::string_view) {}).evaluation : domain::Evaluation();
  }
  static domain::Wrong wrongOf(const domain::Task& task, const std::string& entry, bool hasHardInputs = true) {
    return testing::wrongOf(evaluate(task, entry, hasHardInputs));
  }
  static void expectCorrect(const domain::Task& task, const std::string& entry, bool hasHardInputs = true) {
    testing::expectCorrect(evaluate(task, entry, hasHardInputs), entry);
  }

  static std::unique_ptr<device::Device> s_device;
  static std::string s_kernels;
};
std::unique_ptr<device::Device> SpecialValues::s_device;
std::string SpecialValues::s_kernels;

TEST_F(SpecialValues, NanOfTheTasksOwnInputsHasToArrive) {
  EXPECT_EQ(wrongOf(pointwise("aten.log.default"), "logarithmWithoutNan", false).rule, "error");
  expectCorrect(pointwise("aten.log.default"), "rightLogarithm", false);
}

// The task draws positive numbers only.
TEST_F(SpecialValues, NanOfHardInputsHasToArrive) {
  const domain::Task task = pointwise("aten.log.default", "aten.rand.default");
  const domain::Wrong wrong = wrongOf(task, "logarithmOfMagnitude");
  EXPECT_EQ(wrong.rule, "lost nan");
  EXPECT_THAT(wrong.detail, HasSubstr("where PyTorch and the reference have nan"));
  expectCorrect(task, "rightLogarithm");
}

TEST_F(SpecialValues, InfinityOfHardInputsHasToArrive) {
  const domain::Wrong wrong = wrongOf(pointwise("aten.exp.default"), "exponentialWithoutInfinity");
  EXPECT_EQ(wrong.rule, "lost nan");
  EXPECT_THAT(wrong.detail, HasSubstr("where PyTorch and the reference have inf"));
  expectCorrect(pointwise("aten.exp.default"), "rightExponential");
}

TEST_F(SpecialValues, AZeroIsNotSkipped) {
  EXPECT_THAT(wrongOf(pointwise("aten.cos.default"), "cosineWithoutZeros").detail,
              HasSubstr("inputs with zeros and ties"));
  expectCorrect(pointwise("aten.cos.default"), "rightCosine");
  EXPECT_THAT(wrongOf(pointwise("aten.reciprocal.default"), "reciprocalWithoutZeros").detail,
              HasSubstr("inputs with zeros and ties"));
  expectCorrect(pointwise("aten.reciprocal.default"), "rightReciprocal");
}

TEST_F(SpecialValues, EachRowHasItsOwnScale) {
  const domain::Shape all = {kFewRows, kRowLength};
  const domain::Task task = testing::taskOf(all, R"(
    {"op": "aten.abs.default", "args": [{"value": 0}], "kwargs": {}, "outputs": [2], "where": ""},
    {"op": "aten.amax.default", "args": [{"value": 2}, [1], true], "kwargs": {}, "outputs": [3], "where": ""},
    {"op": "aten.div.Tensor", "args": [{"value": 0}, {"value": 3}], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {all, all, {kFewRows, 1}});
  EXPECT_THAT(wrongOf(task, "oneScaleForAllRows").detail, HasSubstr("inputs with scaled rows"));
  expectCorrect(task, "rightNormalisation");
}

TEST_F(SpecialValues, NanIsNotSwallowed) {
  const domain::Task relu = pointwise("aten.relu.default");
  const domain::Wrong wrong = wrongOf(relu, "reluWithoutNan");
  EXPECT_EQ(wrong.rule, "lost nan");
  EXPECT_THAT(wrong.detail, HasSubstr("0 where PyTorch and the reference have nan (inputs with NaN)"));
  expectCorrect(relu, "rightRelu");
  const domain::Task maximum = testing::taskOf({kFewRows, kRowLength}, R"({"op": "aten.amax.default",
    "args": [{"value": 0}, [1]], "kwargs": {}, "outputs": [1], "where": ""})",
                                               {{kFewRows}});
  EXPECT_THAT(wrongOf(maximum, "maximumWithoutNan").detail, HasSubstr("have nan (inputs with NaN)"));
  expectCorrect(maximum, "rightMaximum");
}

TEST_F(SpecialValues, NanThatPyTorchDoesNotHaveIsWrong) {
  EXPECT_THAT(wrongOf(pointwise("aten.exp.default"), "exponentialThatAddsNothing").detail,
              HasSubstr("NaN where PyTorch and the reference have a number (inputs with infinities)"));
}

// A product with a zero that is always there may be left out, though PyTorch has NaN there.
TEST_F(SpecialValues, NanNeedNotArriveWhereNothingDependsOnIt) {
  const domain::Shape all = {kFewRows, kRowLength};
  expectCorrect(testing::taskOf(all, R"({"op": "aten.mul.Scalar", "args": [{"value": 0}, 0.0], "kwargs": {},
    "outputs": [1], "where": ""})",
                                {all}),
                "zeros");
}

}  // namespace
}  // namespace swage::verify
