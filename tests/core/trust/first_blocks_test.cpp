// SPDX-License-Identifier: Apache-2.0
#include "core/trust/first_blocks.h"

#include <gmock/gmock.h>

namespace swage::trust {
namespace {

using domain::Dim3;
using domain::KernelStep;
using domain::ValueId;
using domain::ZeroStep;

domain::LaunchPlan planOf(const KernelStep& step) {
  domain::LaunchPlan plan;
  const domain::TensorType tensor = domain::contiguousTensor(domain::ScalarType::Float32, {64});
  plan.buffers = {tensor, tensor, tensor};
  plan.inputs = {ValueId(0)};
  plan.outputs = {ValueId(2)};
  plan.steps = {step};
  return plan;
}

KernelStep stepOf(Dim3 grid, Dim3 cluster = {}) {
  KernelStep step;
  step.entry = "kernel";
  step.grid = grid;
  step.cluster = cluster;
  step.arguments = {ValueId(0), ValueId(1), ValueId(2)};
  return step;
}

Dim3 cutGrid(const KernelStep& step) {
  return std::get<KernelStep>(firstBlocks(planOf(step), 8).steps.back()).grid;
}

TEST(FirstBlocks, AreSoManyOfALargeGrid) {
  EXPECT_EQ(cutGrid(stepOf({132, 1, 1})), (Dim3{8, 1, 1}));
  EXPECT_EQ(cutGrid(stepOf({132, 16, 4})), (Dim3{8, 1, 1}));
}

TEST(FirstBlocks, AreAllOfASmallGrid) {
  EXPECT_EQ(cutGrid(stepOf({2, 2, 2})), (Dim3{2, 2, 2}));
  EXPECT_EQ(cutGrid(stepOf({2, 64, 1})), (Dim3{2, 1, 1})) << "no more than there are along x";
}

TEST(FirstBlocks, AreWholeClusters) {
  EXPECT_EQ(cutGrid(stepOf({120, 4, 1}, {6, 1, 1})), (Dim3{12, 1, 1}));
  EXPECT_EQ(cutGrid(stepOf({120, 4, 1}, {2, 2, 1})), (Dim3{4, 2, 1}));
}

TEST(FirstBlocks, LeaveCooperativeLaunchesWhole) {
  KernelStep step = stepOf({132, 1, 1});
  step.cooperative = true;
  EXPECT_EQ(cutGrid(step), step.grid);
}

TEST(FirstBlocks, ZeroWhatTheOthersWouldHaveWritten) {
  const domain::LaunchPlan cut = firstBlocks(planOf(stepOf({132, 1, 1})), 8);
  ASSERT_EQ(cut.steps.size(), 3U);
  EXPECT_EQ(cut.steps[0], domain::PlanStep(ZeroStep{ValueId(1)}));
  EXPECT_EQ(cut.steps[1], domain::PlanStep(ZeroStep{ValueId(2)}));
  EXPECT_EQ(domain::findDefect(cut), "");
}

TEST(FirstBlocks, MakeNoSenseWhereBlocksWaitForOthersThanThoseOfTheirCluster) {
  domain::KernelFacts facts;
  facts.entry = "kernel";
  EXPECT_TRUE(canBeCut(planOf(stepOf({132, 1, 1})), {facts}));
  facts.interBlock = true;
  EXPECT_FALSE(canBeCut(planOf(stepOf({132, 1, 1})), {facts}));
  EXPECT_TRUE(canBeCut(planOf(stepOf({132, 1, 1}, {2, 1, 1})), {facts}));
}

}  // namespace
}  // namespace swage::trust
