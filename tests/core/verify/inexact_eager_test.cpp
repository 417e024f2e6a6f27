// SPDX-License-Identifier: Apache-2.0
// Candidates of tasks in which eager itself is far from the exact result.
#include <gmock/gmock.h>

#include <cmath>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/relu_kernels.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

// (x + 10000) - 10000, in which eager loses all but three places behind the point, as it does by TF32 elsewhere.
class InexactEager : public ::testing::Test {
 protected:
  static std::unique_ptr<TaskSession> load(const domain::Task& task, device::Device& device,
                                           const std::string& weights) {
    wire::LoadTask request = testing::briefLoad(task);
    request.weightsPath = weights;
    auto session = TaskSession::load(request, device, [](std::string_view) {});
    EXPECT_THAT(session, testing::IsOk());
    return session ? std::move(*session) : nullptr;
  }
  static domain::Evaluation judge(const domain::TaskSource& source, const std::string& kernel,
                                  domain::OutputKind kind = domain::OutputKind::User) {
    domain::Task task = testing::taskOf(
        {13, 101},
        R"({"op": "aten.add.Scalar", "args": [{"value": 0}, 10000.0], "kwargs": {}, "outputs": [2], "where": ""},
           {"op": "aten.sub.Scalar", "args": [{"value": 2}, 10000.0], "kwargs": {}, "outputs": [1], "where": ""})",
        {{13, 101}, {13, 101}});
    task.source = source;
    wire::Evaluate request;
    request.plan = testing::oneKernelPlan(task, kernel);
    const testing::TempDir directory;
    const std::string weights = directory / "w.safetensors";
    if (kind == domain::OutputKind::BufferMutation) {
      testing::addParameter(task, "kept", {13, 101});
      task.graph.inputs.back().kind = domain::InputKind::Buffer;
      task.graph.outputs.front() = {domain::ValueId(1), kind, "kept"};
      request.plan.buffers = task.graph.values;
      request.plan.inputs.push_back(task.graph.inputs.back().value);
      testing::writeSafetensors(weights, "kept", {13, 101}, std::vector<float>(13 * 101, 1.0F));
    }
    const auto device = testing::openCpu();
    const auto session = load(task, *device, kind == domain::OutputKind::BufferMutation ? weights : "");
    request.binary = testing::compileSharedObject(std::string(testing::kKernelMacro) + R"(
      KERNEL(exact) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i]; }
      KERNEL(asEager) { for (std::int64_t i = 0; i < n; ++i) { volatile float t = x[i] + 10000.0f; y[i] = t - 10000.0f; } }
      KERNEL(biased) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + 0.00035f; }
      KERNEL(lost) { for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + 0.0015f; }
    )");
    request.verifyOnly = true;
    return session->evaluate(request, [](std::string_view) {}).evaluation;
  }
  static domain::TaskSource sourceOf(domain::TaskKind kind, bool hasChecker = true) {
    domain::TaskSource source;
    source.kind = kind;
    source.hasChecker = hasChecker;
    return source;
  }
  static std::string whyWrong(const domain::TaskSource& source, const std::string& kernel) {
    const domain::Evaluation evaluation = judge(source, kernel);
    const auto* wrong = std::get_if<domain::Wrong>(&evaluation);
    return wrong != nullptr ? wrong->detail : domain::summary(evaluation);
  }
  static bool isCorrect(const domain::TaskSource& source, const std::string& kernel) {
    return domain::asCorrect(judge(source, kernel)) != nullptr;
  }
};

TEST_F(InexactEager, IsWhatKernelBenchMeasuresBy) {
  const domain::TaskSource problem = sourceOf(domain::TaskKind::KernelBench);
  const domain::Evaluation evaluation = judge(problem, "exact");
  const auto* wrong = std::get_if<domain::Wrong>(&evaluation);
  ASSERT_NE(wrong, nullptr) << domain::summary(evaluation);
  EXPECT_EQ(wrong->rule, "error");
  EXPECT_THAT(wrong->detail, HasSubstr("by more than KernelBench's tolerance"));
  // What the reference has is no farther from it than the tolerance: eager's values are shown.
  EXPECT_GT(std::abs(wrong->expected - wrong->actual), 1e-4);
  ASSERT_FALSE(wrong->first.empty());
  EXPECT_GT(std::abs(wrong->first.front().expected - wrong->first.front().actual), 1e-4);
  EXPECT_TRUE(isCorrect(problem, "asEager"));
}

TEST_F(InexactEager, IsNotWhatStateIsMeasuredBy) {
  // KernelBench compares what forward() returns. What the module keeps is held to the reference alone.
  const domain::TaskSource problem = sourceOf(domain::TaskKind::KernelBench);
  for (const char* kernel : {"exact", "asEager", "biased"}) {
    EXPECT_NE(domain::asCorrect(judge(problem, kernel, domain::OutputKind::BufferMutation)), nullptr) << kernel;
  }
  const domain::Evaluation lost = judge(problem, "lost", domain::OutputKind::BufferMutation);
  EXPECT_NE(std::get_if<domain::Wrong>(&lost), nullptr) << domain::summary(lost);
}

TEST_F(InexactEager, FailsNobodyElseWhoIsNoLessExact) {
  for (const auto& source : {sourceOf(domain::TaskKind::Module), sourceOf(domain::TaskKind::KernelBench, false)}) {
    EXPECT_TRUE(isCorrect(source, "exact"));
    EXPECT_TRUE(isCorrect(source, "asEager"));
    // A bias as large as eager's own error is more than that in L2.
    EXPECT_THAT(whyWrong(source, "biased"), HasSubstr("by more than KernelBench's tolerance"));
  }
}

}  // namespace
}  // namespace swage::verify
