// SPDX-License-Identifier: Apache-2.0
#include "core/domain/launch_plan.h"

#include <gmock/gmock.h>

#include <ostream>

#include "tests/core/domain/samples.h"

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LaunchPlan, CountsKernelsAndAtenCallsAsLaunches) {
  LaunchPlan plan = testing::samplePlan();
  EXPECT_EQ(plan.launchCount(), 2);
  EXPECT_TRUE(plan.hasKernels());
  plan.steps.erase(plan.steps.begin() + 1);
  EXPECT_EQ(plan.launchCount(), 1);
  EXPECT_FALSE(plan.hasKernels());
}

TEST(LaunchPlan, KnowsTheBuffersThatItsKernelsUse) {
  LaunchPlan plan;
  plan.buffers.assign(6, contiguousTensor(ScalarType::Float32, {1}));
  KernelStep step;
  step.arguments = {ValueId(5), Int32{3}, ValueId(1), tensorMapOf(ValueId(4), plan.buffers[4], {4})};
  plan.steps = {ZeroStep{ValueId(2)}, step, step, AtenStep{}};
  EXPECT_THAT(buffersOfKernels(plan), ElementsAre(ValueId(1), ValueId(2), ValueId(4), ValueId(5)));
}

struct BrokenPlan {
  const char* expected;
  void (*damage)(LaunchPlan&, KernelStep&);
  friend void PrintTo(const BrokenPlan& self, std::ostream* out) { *out << self.expected; }
};

class PlanDefects : public ::testing::TestWithParam<BrokenPlan> {};

TEST_P(PlanDefects, AreNamed) {
  LaunchPlan plan = testing::samplePlan();
  ASSERT_EQ(findDefect(plan), "");
  GetParam().damage(plan, std::get<KernelStep>(plan.steps[1]));
  EXPECT_THAT(findDefect(plan), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlanDefects,
    ::testing::Values(
        BrokenPlan{"buffer 0 has", [](LaunchPlan& plan, KernelStep&) { plan.buffers[0].shape[0] = -1; }},
        BrokenPlan{"input 0 names buffer 6", [](LaunchPlan& plan, KernelStep&) { plan.inputs[0] = ValueId(6); }},
        BrokenPlan{"output 1 names buffer -1", [](LaunchPlan& plan, KernelStep&) { plan.outputs[1] = ValueId(); }},
        BrokenPlan{"step 0 names buffer 6",
                   [](LaunchPlan& plan, KernelStep&) { plan.steps[0] = ZeroStep{ValueId(6)}; }},
        BrokenPlan{"not a C identifier", [](LaunchPlan&, KernelStep& step) { step.entry = ""; }},
        BrokenPlan{"not a C identifier", [](LaunchPlan&, KernelStep& step) { step.entry = "a;b"; }},
        BrokenPlan{"not a C identifier", [](LaunchPlan&, KernelStep& step) { step.entry = "1a"; }},
        BrokenPlan{"zero extent", [](LaunchPlan&, KernelStep& step) { step.grid.y = 0; }},
        BrokenPlan{"zero extent", [](LaunchPlan&, KernelStep& step) { step.block.z = 0; }},
        BrokenPlan{"grid of", [](LaunchPlan&, KernelStep& step) { step.grid.y = 65536; }},
        BrokenPlan{"grid of", [](LaunchPlan&, KernelStep& step) { step.grid.x = 0x80000000U; }},
        BrokenPlan{"block of",
                   [](LaunchPlan&, KernelStep& step) {
                     step.block = {1025, 1, 1};
                   }},
        BrokenPlan{"block of",
                   [](LaunchPlan&, KernelStep& step) {
                     step.block = {64, 8, 4};
                   }},
        BrokenPlan{"cluster of", [](LaunchPlan&, KernelStep& step) { step.cluster = {8, 4, 1}; }},
        BrokenPlan{"does not divide", [](LaunchPlan&, KernelStep& step) { step.cluster = {3, 1, 1}; }},
        BrokenPlan{"shared memory", [](LaunchPlan&, KernelStep& step) { step.dynamicSharedBytes = 1U << 30U; }},
        BrokenPlan{"names buffer 7", [](LaunchPlan&, KernelStep& step) { step.arguments[0] = ValueId(7); }},
        BrokenPlan{"names buffer -1", [](LaunchPlan&, KernelStep& step) { step.arguments[0] = ValueId(); }},
        BrokenPlan{"names buffer 6",
                   [](LaunchPlan&, KernelStep& step) { std::get<TensorMap>(step.arguments[6]).buffer = ValueId(6); }},
        BrokenPlan{"step 1 has a tensor map of buffer 0 that has a box size of 0",
                   [](LaunchPlan&, KernelStep& step) { std::get<TensorMap>(step.arguments[6]).box[0] = 0; }},
        BrokenPlan{
            "not an ATen operator",
            [](LaunchPlan& plan, KernelStep&) { std::get<AtenStep>(plan.steps[2]).node.op = "prims.x.default"; }},
        BrokenPlan{"names buffer 9", [](LaunchPlan& plan, KernelStep&) {
                     std::get<AtenStep>(plan.steps[2]).node.outputs[0] = ValueId(9);
                   }}));

TEST(LaunchPlan, AllowsTheLargestGeometry) {
  LaunchPlan plan = testing::samplePlan();
  auto& step = std::get<KernelStep>(plan.steps[1]);
  step.grid = {0x7FFFFFFFU, 65535, 65535};
  step.cluster = {1, 1, 1};
  step.block = {1024, 1, 1};
  EXPECT_EQ(findDefect(plan), "");
}

}  // namespace
}  // namespace swage::domain
