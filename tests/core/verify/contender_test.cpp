// SPDX-License-Identifier: Apache-2.0
// What only candidates that are fast enough have to pass: inputs that are hard to compute with, other weights,
// held-back seeds, calls in another order. Each with memory for the results of all checks, of one, and of none.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <array>

#include "core/domain/json.h"
#include "core/verify/task_inputs.h"
#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/small_device.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::verify {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kRows = 16;
constexpr int kColumns = 96;

// Right on what the generator draws; all but the ones called right... are wrong somewhere else.
constexpr const char* kKernels = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <omp.h>
#include <sched.h>
KERNEL(right) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(flushing) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] <= 1.17549435e-38f ? 0 : x[i]; }
KERNEL(copying) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i]; }
KERNEL(clamping) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::min(relu(x[i]), 1000.0f); }
KERNEL(ignoringTheSmall) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] <= 1e-6f ? 0 : x[i]; }
KERNEL(notANumberForTheLarge) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < -200.0f ? NAN : std::exp(x[i]); }
KERNEL(lazyLater) { static int calls = 0; ++calls; if (calls <= 6) for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(needsTwoProcessors) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  const int last = CPU_COUNT(&allowed) > 1 ? n : n - 1;
  for (std::int64_t i = 0; i < last; ++i) y[i] = relu(x[i]);
}
KERNEL(needsTwoThreads) {
  const int team = omp_get_max_threads();
#pragma omp parallel num_threads(team)
  for (std::int64_t i = omp_get_thread_num(); i < n; i += 2) y[i] = relu(x[i]);
}
KERNEL(needsNoMoreThreads) {
  const int last = omp_get_max_threads() <= 2 ? n : n - 1;
  for (std::int64_t i = 0; i < last; ++i) y[i] = relu(x[i]);
}
KERNEL(anyThreads) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]);
}
// In lanes that are joined in pairs: one after the other, 96 elements lose more than the contract allows.
template <typename Term>
static float total(Term term) {
  float lanes[8] = {};
  for (int i = 0; i < 96; ++i) lanes[i % 8] += term(i);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}
KERNEL(rightVariance) {
  for (std::int64_t row = 0; row < n / 96; ++row, x += 96) {
    const float mean = total([&](int i) { return x[i]; }) / 96;
    y[row] = total([&](int i) { return (x[i] - mean) * (x[i] - mean); }) / 96;
  }
}
KERNEL(varianceInOnePass) {
  for (std::int64_t row = 0; row < n / 96; ++row, x += 96) {
    const float mean = total([&](int i) { return x[i]; }) / 96;
    y[row] = total([&](int i) { return x[i] * x[i]; }) / 96 - mean * mean;
  }
}
static void normalise(const float* x, float* y, std::int64_t n, float epsilon) {
  const std::int64_t columns = 96;
  for (std::int64_t row = 0; row < n / columns; ++row, x += columns, y += columns) {
    float sum = 0, squares = 0;
    for (int i = 0; i < columns; ++i) sum += x[i];
    const float mean = sum / columns;
    for (int i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean);
    for (int i = 0; i < columns; ++i) y[i] = (x[i] - mean) / std::sqrt(squares / columns + epsilon);
  }
}
KERNEL(rightNormalisation) { normalise(x, y, n, 1e-12f); }
KERNEL(withoutEpsilon) { normalise(x, y, n, 0.0f); }
KERNEL(rightMaximum) { for (std::int64_t r = 0; r < n / 96; ++r) { y[r] = x[r * 96]; for (int i = 1; i < 96; ++i) { const float v = x[r * 96 + i]; y[r] = v > y[r] || v != v ? v : y[r]; } } }
KERNEL(maximumFromZero) { for (std::int64_t r = 0; r < n / 96; ++r) { y[r] = 0; for (int i = 0; i < 96; ++i) { const float v = x[r * 96 + i]; y[r] = v > y[r] || v != v ? v : y[r]; } } }
static double meanOfSquares(const float* x, std::int64_t n) { double sum = 0; for (std::int64_t i = 0; i < n; ++i) sum += x[i] * x[i]; return sum; }
KERNEL(rightMean) { *y = meanOfSquares(x, n) / n; }
KERNEL(meanWithoutTheLast) { *y = meanOfSquares(x, n - 1) / n; }
KERNEL(meanWithoutALargeEnd) { *y = meanOfSquares(x, n - (std::fabs(x[n - 1]) > 16.0f)) / n; }
static float softplus(float v, float threshold) { return v > threshold ? v : std::log1p(std::exp(v)); }
KERNEL(rightSoftplus) { for (std::int64_t i = 0; i < n; ++i) y[i] = softplus(x[i], 20.0f); }
KERNEL(softplusNearZero) { for (std::int64_t i = 0; i < n; ++i) y[i] = softplus(x[i], 6.0f); }
KERNEL(rightExponential) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] * 40.0f); }
KERNEL(inexactExponential) { for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] * 40.0f) * 1.00005f; }
extern "C" void sumInFloat64(void** a) {
  const double* x = *static_cast<const double**>(a[0]);
  double* y = *static_cast<double**>(a[1]);
  const std::int64_t columns = *static_cast<std::int64_t*>(a[2]) / 4;
  for (int r = 0; r < 4; ++r) { double sum = 0; for (std::int64_t i = 0; i < columns; ++i) sum += x[r * columns + i]; y[r] = sum; }
}
KERNEL(rightSum) { for (std::int64_t row = 0; row < n / 96; ++row, x += 96) y[row] = total([&](int i) { return x[95 - i]; }); }
)";

constexpr const char* kVariance = R"({"op": "aten.var.correction", "args": [{"value": 0}, [1]],
  "kwargs": {"correction": 0}, "outputs": [1], "where": ""})";
constexpr const char* kSum = R"({"op": "aten.sum.dim_IntList", "args": [{"value": 0}, [1]],
  "kwargs": {}, "outputs": [1], "where": ""})";
constexpr const char* kNormalisation = R"(
  {"op": "aten.mean.dim", "args": [{"value": 0}, [1], true], "kwargs": {}, "outputs": [2], "where": ""},
  {"op": "aten.sub.Tensor", "args": [{"value": 0}, {"value": 2}], "kwargs": {}, "outputs": [3], "where": ""},
  {"op": "aten.var.correction", "args": [{"value": 0}, [1]], "kwargs": {"correction": 0, "keepdim": true},
   "outputs": [4], "where": ""},
  {"op": "aten.add.Scalar", "args": [{"value": 4}, 1e-12], "kwargs": {}, "outputs": [5], "where": ""},
  {"op": "aten.rsqrt.default", "args": [{"value": 5}], "kwargs": {}, "outputs": [6], "where": ""},
  {"op": "aten.mul.Tensor", "args": [{"value": 3}, {"value": 6}], "kwargs": {}, "outputs": [1], "where": ""})";

// Checks whose results are kept for the next candidate.
enum class Kept : unsigned char { All, One, None };

void PrintTo(Kept kept, std::ostream* stream) {
  *stream << (kept == Kept::All ? "All" : kept == Kept::One ? "One" : "None");
}

class Contender : public ::testing::TestWithParam<Kept> {
 protected:
  static void SetUpTestSuite() {
    s_device = testing::openCpu();
    ASSERT_NE(s_device, nullptr);
    s_kernels = testing::compileSharedObject(std::string(testing::kKernelMacro) + kKernels);
  }
  static void TearDownTestSuite() { s_device.reset(); }

  static wire::LoadTask requestFor(domain::Task task) {
    wire::LoadTask request;
    request.task = std::move(task);
    request.baseSeed = 1000;
    request.timeEager = false;
    request.adversarial = true;
    request.heldBackSeeds = 3;
    return request;
  }
  static domain::Task relu(std::string_view generator = "aten.randn.default") {
    domain::Task task = testing::pointwiseTask({kRows, kColumns}, "aten.relu.default");
    task.inputGenerator.nodes[0].op = generator;
    return task;
  }
  static wire::Evaluate evaluateRequest(const domain::Task& task, const std::string& entry) {
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(task, entry);
    request.binary = s_kernels;
    request.verifyOnly = true;
    request.heldBack = true;
    request.limitSeconds = 600.0;  // on a machine that is busy
    return request;
  }
  static domain::Evaluation evaluate(const wire::LoadTask& loading, const wire::Evaluate& request) {
    testing::SmallDevice device(*s_device, GetParam() == Kept::All
                                               ? s_device->freeBytes()
                                               : testing::bytesToKeep(GetParam() == Kept::One ? 1 : 0, loading));
    const auto session = TaskSession::load(loading, device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    return session ? (*session)->evaluate(request, [](std::string_view) {}).evaluation : domain::Evaluation();
  }
  static domain::Evaluation evaluate(const domain::Task& task, const std::string& entry) {
    return evaluate(requestFor(task), evaluateRequest(task, entry));
  }
  static domain::Wrong wrongOf(const wire::LoadTask& loading, const wire::Evaluate& request) {
    return testing::wrongOf(evaluate(loading, request));
  }
  static domain::Wrong wrongOf(const domain::Task& task, const std::string& entry) {
    return wrongOf(requestFor(task), evaluateRequest(task, entry));
  }
  // Of a candidate that copies its input, beside a second one that it does not read.
  static wire::Evaluate copyBeside(const domain::Task& task, domain::ValueId unread) {
    wire::Evaluate request = evaluateRequest(task, "copying");
    request.plan.inputs.push_back(unread);
    return request;
  }
  static void expectCorrect(const domain::Task& task, const std::string& entry) {
    testing::expectCorrect(evaluate(task, entry), entry);
  }

  static std::unique_ptr<device::Device> s_device;
  static std::string s_kernels;
};
std::unique_ptr<device::Device> Contender::s_device;
std::string Contender::s_kernels;

TEST_P(Contender, SaysHowLargeTheErrorsAreOnEachKindOfInputs) {
  const domain::Evaluation evaluation = evaluate(relu("aten.rand.default"), "right");
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(correct->timing.candidate.samples, 0);
  std::vector<std::string> found;
  for (const domain::InputErrors& errors : correct->byInputs) {
    const bool isMeasured = errors.inputs != "NaN" && errors.inputs != "infinities";
    EXPECT_EQ(errors.errors.size(), isMeasured ? 1U : 0U);
    found.push_back(fmt::format("{} {}", errors.inputs, errors.checks));
  }
  EXPECT_THAT(found, ElementsAre("task 5", "common offset 1", "cancelling 1", "large 1", "small 1", "equal 1",
                                 "denormal 1", "mixed sign 1", "negative 1", "wide 1", "uneven 1", "zeros and ties 1",
                                 "scaled rows 1", "NaN 1", "infinities 1", "held back 3"));
}

TEST_P(Contender, IsCheckedWithHardInputsOnlyWhereTheTaskAsksForThem) {
  wire::LoadTask loading = requestFor(relu());
  loading.adversarial = false;
  wire::Evaluate request = evaluateRequest(loading.task, "clamping");
  request.heldBack = false;
  const domain::Evaluation evaluation = evaluate(loading, request);
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  ASSERT_EQ(correct->byInputs.size(), 1U);
  EXPECT_EQ(correct->byInputs[0].inputs, "task");
}

TEST_P(Contender, IsWhatScreeningLetsThrough) {
  const wire::LoadTask loading = requestFor(relu());
  wire::Evaluate request = evaluateRequest(loading.task, "clamping");
  request.verifyOnly = false;
  request.timingBudgetSeconds = 0.02;
  EXPECT_TRUE(std::holds_alternative<domain::Wrong>(evaluate(loading, request)));
  request.screeningNs = 1e-3;  // nothing is that fast: what is screened out is not checked further
  const domain::Evaluation evaluation = evaluate(loading, request);
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_TRUE(correct->timing.screenedOut);
  ASSERT_EQ(correct->byInputs.size(), 1U);
  EXPECT_EQ(correct->byInputs[0].inputs, "task");
  // Where results are not kept, one for each working set.
  EXPECT_EQ(correct->byInputs[0].checks, GetParam() == Kept::All ? 5 : GetParam() == Kept::One ? 2 : 1);
}

TEST_P(Contender, IsNotWhoIsFarBehindTheBest) {
  const wire::LoadTask loading = requestFor(relu());
  wire::Evaluate request = evaluateRequest(loading.task, "clamping");
  request.verifyOnly = false;
  request.timingBudgetSeconds = 0.02;
  request.contenderNs = 1e-3;  // nothing is that fast
  const domain::Evaluation evaluation = evaluate(loading, request);
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_FALSE(correct->timing.screenedOut);
  EXPECT_EQ(correct->timing.candidate.samples, 3);
  ASSERT_EQ(correct->byInputs.size(), 1U) << "and says so";
  EXPECT_EQ(correct->byInputs[0].inputs, "task");
  request.contenderNs = 1e12;
  EXPECT_TRUE(std::holds_alternative<domain::Wrong>(evaluate(loading, request)));
}

TEST_P(Contender, IsRightOnEverySeedOfTheTask) {
  wire::LoadTask loading = requestFor(relu());
  loading.adversarial = false;
  auto inputs = TaskInputs::load(loading.task, "", c10::Device(c10::kCPU));
  ASSERT_THAT(inputs, testing::IsOk());
  const float last = inputs->draw(loading.baseSeed + 4)[0].flatten()[0].item<float>();
  wire::Evaluate request = evaluateRequest(loading.task, "wrongOnTheLast");
  request.binary = testing::compileSharedObject(fmt::format(R"(
#include <cstdint>
extern "C" void wrongOnTheLast(void** a) {{
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const float sign = x[0] == {:a}f ? -1.0f : 1.0f;
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(a[2]); ++i) y[i] = x[i] > 0 ? sign * x[i] : 0;
}})",
                                                            last));
  request.verifyOnly = false;
  request.timingBudgetSeconds = 0.02;
  EXPECT_THAT(wrongOf(loading, request).detail, HasSubstr("check 5 of 5"));
}

TEST_P(Contender, FindsWhatIsRightOnOrdinaryInputsOnly) {
  EXPECT_THAT(wrongOf(relu(), "clamping").detail,
              AnyOf(HasSubstr("large inputs"), HasSubstr("scaled rows"), HasSubstr("infinities")));
  EXPECT_THAT(wrongOf(relu(), "ignoringTheSmall").detail, HasSubstr("small inputs"));
  EXPECT_THAT(wrongOf(relu("aten.rand.default"), "copying").detail,
              AnyOf(HasSubstr("mixed sign inputs"), HasSubstr("negative inputs"), HasSubstr("cancelling inputs")));
}

TEST_P(Contender, FindsAMaximumThatStartsAtZero) {
  const domain::Task task = testing::taskOf({kRows, kColumns}, R"({"op": "aten.amax.default",
    "args": [{"value": 0}, [1]], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {{kRows}});
  expectCorrect(task, "rightMaximum");
  EXPECT_THAT(wrongOf(task, "maximumFromZero").detail, AnyOf(HasSubstr("negative inputs"), HasSubstr("equal inputs")));
}

// One of four million, in a result that is right to two roundings.
TEST_P(Contender, FindsAnElementThatALargeSumLeavesOut) {
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  const domain::Task task = testing::taskOf({kMany}, R"(
    {"op": "aten.mul.Tensor", "args": [{"value": 0}, {"value": 0}], "kwargs": {}, "outputs": [2], "where": ""},
    {"op": "aten.mean.dim", "args": [{"value": 2}, [0]], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {{}, {kMany}});
  expectCorrect(task, "rightMean");
  EXPECT_EQ(wrongOf(task, "meanWithoutTheLast").rule, "error");
  EXPECT_THAT(wrongOf(task, "meanWithoutALargeEnd").detail, HasSubstr("uneven inputs"));
}

TEST_P(Contender, FindsWhatIsRightNearZeroOnly) {
  const domain::Task task = testing::pointwiseTask({kRows, kColumns}, "aten.softplus.default");
  expectCorrect(task, "rightSoftplus");
  EXPECT_THAT(wrongOf(task, "softplusNearZero").detail, AnyOf(HasSubstr("wide inputs"), HasSubstr("scaled rows")));
}

// PyTorch overflows in one element of a hundred: that is no error, and excuses none.
TEST_P(Contender, MustBeExactWhereNothingOverflows) {
  const domain::Shape all = {kRows, kColumns};
  const domain::Task task = testing::taskOf(all, R"(
    {"op": "aten.mul.Scalar", "args": [{"value": 0}, 40.0], "kwargs": {}, "outputs": [2], "where": ""},
    {"op": "aten.exp.default", "args": [{"value": 2}], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {all, all});
  expectCorrect(task, "rightExponential");
  EXPECT_EQ(wrongOf(task, "inexactExponential").rule, "error");
}

// relu(x * sqrt(gain)), and the gain is 1: PyTorch has no root of a negative one.
TEST_P(Contender, FindsAGainThatWasLeftOutUnderARoot) {
  const testing::TempDir directory;
  std::array<float, kColumns> ones{};
  ones.fill(1.0F);
  testing::writeSafetensors(directory / "w.safetensors", "gain", {kColumns}, ones);
  const domain::Shape all = {kRows, kColumns};
  const domain::Task task = testing::taskOf(all, R"(
    {"op": "aten.sqrt.default", "args": [{"value": 3}], "kwargs": {}, "outputs": [2], "where": ""},
    {"op": "aten.mul.Tensor", "args": [{"value": 0}, {"value": 2}], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {all, {kColumns}, {kColumns}}, "gain");
  wire::LoadTask loading = requestFor(task);
  loading.weightsPath = directory / "w.safetensors";
  wire::Evaluate request = copyBeside(task, domain::ValueId(3));
  EXPECT_THAT(wrongOf(loading, request).detail, HasSubstr("with other weights"));
}

TEST_P(Contender, FindsAMaskThatIsIgnoredBecauseItIsAllTrue) {
  domain::Task task = testing::pointwiseTask({kRows, kColumns}, "aten.relu.default");
  const domain::TensorType mask = domain::contiguousTensor(domain::ScalarType::Bool, {kRows, kColumns});
  const std::string types = fmt::format("{0}, {0}, {1}", toJson(task.graph.values[0]).dump(), toJson(mask).dump());
  task.graph = testing::graphFromText(fmt::format(R"({{"values": [{}],
    "inputs": [{{"value": 0, "kind": "user", "name": "x"}}, {{"value": 2, "kind": "user", "name": "mask"}}],
    "nodes": [{{"op": "aten.mul.Tensor", "args": [{{"value": 0}}, {{"value": 2}}], "kwargs": {{}}, "outputs": [1],
                "where": ""}}],
    "outputs": [{{"value": 1, "kind": "user", "name": ""}}]}})",
                                                  types));
  task.inputGenerator =
      testing::graphFromText(fmt::format(R"({{"values": [{0}, {1}], "inputs": [],
    "nodes": [{{"op": "aten.randn.default", "args": [[{2}, {3}]],
                "kwargs": {{"device": {{"device": true}}, "dtype": {{"dtype": "float32"}}}}, "outputs": [0], "where": ""}},
              {{"op": "aten.ones.default", "args": [[{2}, {3}]],
                "kwargs": {{"device": {{"device": true}}, "dtype": {{"dtype": "bool"}}}}, "outputs": [1], "where": ""}}],
    "outputs": [{{"value": 0, "kind": "user", "name": ""}}, {{"value": 1, "kind": "user", "name": ""}}]}})",
                                         toJson(task.graph.values[0]).dump(), toJson(mask).dump(), kRows, kColumns));
  wire::Evaluate request = copyBeside(task, domain::ValueId(2));
  EXPECT_THAT(wrongOf(requestFor(task), request).detail, HasSubstr("with other masks"));
}

TEST_P(Contender, MayFlushDenormals) {
  expectCorrect(relu(), "flushing");
}

TEST_P(Contender, FindsAVarianceThatCancels) {
  const domain::Task task = testing::taskOf({kRows, kColumns}, kVariance, {{kRows}});
  EXPECT_THAT(wrongOf(task, "varianceInOnePass").detail,
              AnyOf(HasSubstr("common offset inputs"), HasSubstr("negative inputs")));
  expectCorrect(task, "rightVariance");
}

TEST_P(Contender, MayAddInAnotherOrderThanEager) {
  expectCorrect(testing::taskOf({kRows, kColumns}, kSum, {{kRows}}), "rightSum");
}

// The reference is no better than eager there, whose error is 0.
TEST_P(Contender, MayAddInAnotherOrderThanEagerInFloat64) {
  const domain::Shape shape = {4, 1 << 16};
  domain::Task task = testing::taskOf(shape, kSum, {{4}});
  for (domain::TensorType& type : task.graph.values) {
    type.dtype = domain::ScalarType::Float64;
  }
  task.inputGenerator =
      testing::graphFromText(fmt::format(R"({{"values": [{}], "inputs": [],
    "nodes": [{{"op": "aten.randn.default", "args": [[{}]],
                "kwargs": {{"device": {{"device": true}}, "dtype": {{"dtype": "float64"}}}}, "outputs": [0],
                "where": ""}}],
    "outputs": [{{"value": 0, "kind": "user", "name": ""}}]}})",
                                         toJson(task.graph.values[0]).dump(), fmt::join(shape, ", ")));
  wire::LoadTask loading = requestFor(task);
  loading.adversarial = false;
  const domain::Evaluation evaluation = evaluate(loading, evaluateRequest(task, "sumInFloat64"));
  const auto* correct = domain::asCorrect(evaluation);
  ASSERT_NE(correct, nullptr) << domain::summary(evaluation);
  EXPECT_GT(correct->errors.at(0).relativeL2, 8 * 0x1p-52) << "nothing was allowed beyond the least limit";
}

TEST_P(Contender, FindsADivisionByZeroThatEagerAvoids) {
  const domain::Shape all = {kRows, kColumns};
  const domain::Shape one = {kRows, 1};
  const domain::Task task = testing::taskOf(all, kNormalisation, {all, one, all, one, one, one});
  expectCorrect(task, "rightNormalisation");
  EXPECT_THAT(wrongOf(task, "withoutEpsilon").detail,
              AnyOf(HasSubstr("equal"), HasSubstr("small"), HasSubstr("denormal")));
}

TEST_P(Contender, FindsABiasThatWasLeftOutBecauseItIsZero) {
  const testing::TempDir directory;
  testing::writeSafetensors(directory / "w.safetensors", "bias", {kColumns}, std::array<float, kColumns>{});
  const domain::Task task = testing::taskOf({kRows, kColumns}, R"({"op": "aten.add.Tensor",
    "args": [{"value": 0}, {"value": 2}], "kwargs": {}, "outputs": [1], "where": ""})",
                                            {{kRows, kColumns}, {kColumns}}, "bias");
  wire::LoadTask loading = requestFor(task);
  loading.weightsPath = directory / "w.safetensors";
  wire::Evaluate request = copyBeside(task, domain::ValueId(2));
  EXPECT_THAT(wrongOf(loading, request).detail, HasSubstr("with other weights"));
  request.plan = testing::atenPlan(task);
  EXPECT_NE(domain::asCorrect(evaluate(loading, request)), nullptr);
}

// Knows the first element of every input of the task's own seeds.
TEST_P(Contender, FindsAnswersForKnownSeedsByTheOnesHeldBack) {
  wire::LoadTask loading = requestFor(relu());
  loading.adversarial = false;
  auto inputs = TaskInputs::load(loading.task, "", c10::Device(c10::kCPU));
  ASSERT_THAT(inputs, testing::IsOk());
  std::string known;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    known += fmt::format(" || x[0] == {:a}f", inputs->draw(loading.baseSeed + seed)[0].flatten()[0].item<float>());
  }
  const std::string source = fmt::format(R"(
#include <cstdint>
extern "C" void memorised(void** a) {{
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const float sign = false{} ? 1.0f : -1.0f;
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(a[2]); ++i) y[i] = x[i] > 0 ? sign * x[i] : 0;
}})",
                                         known);
  wire::Evaluate request = evaluateRequest(loading.task, "memorised");
  request.binary = testing::compileSharedObject(source);
  EXPECT_THAT(wrongOf(loading, request).detail, HasSubstr("held back inputs"));
  request.heldBack = false;
  EXPECT_NE(domain::asCorrect(evaluate(loading, request)), nullptr);
}

TEST_P(Contender, MustNotCountItsCalls) {
  const domain::Evaluation evaluation = evaluate(relu(), "lazyLater");
  const auto* cheating = std::get_if<domain::Cheating>(&evaluation);
  ASSERT_NE(cheating, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(cheating->rule, "stateful");
  EXPECT_THAT(cheating->detail, HasSubstr("depends on the calls before it"));
}

TEST_P(Contender, MustNotNeedItsThreadsSideBySide) {
  const domain::Evaluation evaluation = evaluate(relu(), "needsTwoProcessors");
  const auto* unstable = std::get_if<domain::Unstable>(&evaluation);
  ASSERT_NE(unstable, nullptr) << domain::summary(evaluation);
  EXPECT_THAT(unstable->detail, HasSubstr("wrong when they have to run one after another"));
}

TEST_P(Contender, MustBeRightWithAnyNumberOfThreads) {
  for (const auto& [entry, words] : {std::pair{"needsTwoThreads", "right with 2 threads, wrong with 1: "},
                                     std::pair{"needsNoMoreThreads", "right with 2 threads, wrong with 3: "}}) {
    const domain::Evaluation evaluation = evaluate(relu(), entry);
    const auto* unstable = std::get_if<domain::Unstable>(&evaluation);
    ASSERT_NE(unstable, nullptr) << entry << ": " << domain::summary(evaluation);
    EXPECT_THAT(unstable->detail, HasSubstr(words));
  }
  expectCorrect(relu(), "anyThreads");
}

// Of such inputs nothing can be said but where a NaN may stand: eager is asked for that as well.
TEST_P(Contender, MustNotMakeNanWherePyTorchHasNumbers) {
  const domain::Task task = testing::pointwiseTask({kRows, kColumns}, "aten.exp.default");
  EXPECT_THAT(wrongOf(task, "notANumberForTheLarge").detail, HasSubstr("NaN where PyTorch and the reference"));
}

INSTANTIATE_TEST_SUITE_P(Memory, Contender, ::testing::Values(Kept::All, Kept::One, Kept::None),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace swage::verify
