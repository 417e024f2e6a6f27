// SPDX-License-Identifier: Apache-2.0
#include "core/verify/memory_plan.h"

#include <gmock/gmock.h>

#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMegabyte = 1'000'000;

// 10 MB in, 10 MB out.
domain::Graph tenMegabytes() {
  return testing::pointwiseTask({2'500'000}, "aten.relu.default").graph;
}

TEST(PlanMemory, KeepsEverythingWhereThereIsRoom) {
  const auto plan = planMemory(tenMegabytes(), 5, 2000 * kMegabyte);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_TRUE(plan->referenceInFloat64);
  EXPECT_EQ(plan->keptChecks, 5);
  EXPECT_EQ(plan->workingSets, 4);
}

TEST(PlanMemory, TakesMoreThanTwoWorkingSetsOnlyWhereTheyAreLittle) {
  const auto plan = planMemory(tenMegabytes(), 5, 500 * kMegabyte);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->workingSets, 3) << "the two further ones have 40 of the 50 MB that they may have";
  EXPECT_EQ(planMemory(tenMegabytes(), 5, 390 * kMegabyte)->workingSets, 2);
}

TEST(PlanMemory, TakesStreamsForATenthOfTheMemory) {
  EXPECT_EQ(planMemory(tenMegabytes(), 5, 2000 * kMegabyte)->streams, 8) << "10 of 200 MB would fit, 20 MB each";
  EXPECT_EQ(planMemory(tenMegabytes(), 5, 900 * kMegabyte)->streams, 4);
  EXPECT_EQ(planMemory(tenMegabytes(), 5, 200 * kMegabyte)->streams, 1);
}

TEST(PlanMemory, KeepsTheSeedsThatFit) {
  const auto plan = planMemory(tenMegabytes(), 5, 200 * kMegabyte);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->keptChecks, 1);
}

TEST(PlanMemory, GivesUpKeptSeedsFirst) {
  const auto plan = planMemory(tenMegabytes(), 5, 150 * kMegabyte);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->keptChecks, 0);
  EXPECT_TRUE(plan->referenceInFloat64);
}

TEST(PlanMemory, GivesUpFloat64BeforeTheTask) {
  const auto plan = planMemory(tenMegabytes(), 5, 80 * kMegabyte);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_FALSE(plan->referenceInFloat64);
}

TEST(PlanMemory, RefusesWhatDoesNotFitAndSaysHowLargeItIs) {
  EXPECT_THAT(planMemory(tenMegabytes(), 5, 30 * kMegabyte),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("0.06 GB on this device, of which 0.03 GB")));
}

}  // namespace
}  // namespace swage::verify
