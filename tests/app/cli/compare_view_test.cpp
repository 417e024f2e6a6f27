// SPDX-License-Identifier: Apache-2.0
#include "app/cli/compare_view.h"

#include <gmock/gmock.h>

#include "app/cli/unified_diff.h"

namespace swage::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ComparedSide candidate(std::int64_t id, double speedup, double low, double high) {
  ComparedSide one;
  one.run.id = domain::RunId(1);
  one.run.taskId = "task";
  one.run.device.uuid = "CPU-1";
  one.detail.row.id = domain::CandidateId(id);
  one.detail.row.status = domain::CandidateStatus::Correct;
  one.detail.row.timeNs = 1e6 / speedup;
  one.detail.row.lowNs = 1e6 / high;
  one.detail.row.highNs = 1e6 / low;
  domain::Correct correct;
  correct.timing.eager.samples = 10;
  correct.timing.speedup = speedup;
  correct.timing.speedupLow = low;
  correct.timing.speedupHigh = high;
  one.detail.evaluation = correct;
  one.detail.genome.emplace().regions = {{{0, 1}, "row_block", {{"lanes", 64}}}};
  one.detail.program.plan.steps = {
      domain::KernelStep{.entry = "k", .grid = {64, 1, 1}, .block = {}, .cluster = {}, .arguments = {}}};
  one.detail.program.source = "int a;\nint b;\n";
  one.detail.assembly = "0000000000001120 <k>:\n    1120:\tcall   1050 <expf@plt>\n";
  return one;
}

TEST(CompareSpeed, NobodyWinsWhereTheIntervalsOverlap) {
  const auto speed = compareSpeed(candidate(1, 2.0, 1.8, 2.2), candidate(2, 2.1, 1.9, 2.3));
  EXPECT_FALSE(speed.isSignificant());
  EXPECT_NEAR(speed.ratio.value, 1.05, 1e-9);
  EXPECT_NEAR(speed.ratio.low, 1.9 / 2.2, 1e-9);
  EXPECT_NEAR(speed.ratio.high, 2.3 / 1.8, 1e-9);
  EXPECT_THAT(comparisonText(candidate(1, 2.0, 1.8, 2.2), candidate(2, 2.1, 1.9, 2.3), {}),
              HasSubstr("No significant difference: B is 1.05x (0.86 to 1.28) as fast as A"));
}

TEST(CompareSpeed, TheFasterOneWinsWhereTheyAreApart) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  const auto b = candidate(2, 3.0, 2.9, 3.1);
  EXPECT_THAT(comparisonText(a, b, {}), HasSubstr("B is faster: 1.50x (1.38 to 1.63) as fast as A"));
  EXPECT_THAT(comparisonText(b, a, {}), HasSubstr("B is slower: 0.67x"));
}

TEST(CompareSpeed, SaysWhyThereIsNone) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  auto b = candidate(2, 3.0, 2.9, 3.1);
  b.run.taskId = "other";
  EXPECT_THAT(comparisonText(a, b, {}), HasSubstr("not compared: these are different tasks"));
  b = candidate(2, 3.0, 2.9, 3.1);
  b.run.device.uuid = "CPU-2";
  EXPECT_THAT(comparisonText(a, b, {}), HasSubstr("different devices"));
  b = candidate(2, 3.0, 2.9, 3.1);
  b.detail.row.timeNs = 0.0;
  b.detail.row.status = domain::CandidateStatus::CompileFailed;
  EXPECT_THAT(comparisonText(a, b, {}), HasSubstr("candidate 2 has no time: compile error"));
  EXPECT_EQ(comparisonJson(a, b, {})["ratio"], nullptr);
}

TEST(CompareParameters, AreThoseOfAnEditedSource) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  auto b = candidate(2, 3.0, 2.9, 3.1);
  b.detail.program.source = "namespace region_0 {\nconstexpr int kLanes = 128;\n}  // namespace region_0\n";
  EXPECT_THAT(comparisonText(a, b, {}), HasSubstr("nodes 0 1: lanes"));
  EXPECT_EQ(comparisonJson(a, b, {})["parameters"][0]["b"], "128");
}

TEST(CompareParameters, AreWhatDiffers) {
  auto a = candidate(1, 2.0, 1.9, 2.1);
  auto b = a;
  EXPECT_THAT(compareParameters(*a.detail.genome, *b.detail.genome), IsEmpty());
  b.detail.genome->regions[0].parameters["lanes"] = 128;
  b.detail.genome->regions.push_back({{2}, "elementwise", {}});
  const auto facts = compareParameters(*a.detail.genome, *b.detail.genome);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].name, "nodes 0 1: lanes");
  EXPECT_EQ(facts[0].a + " " + facts[0].b, "64 128");
  EXPECT_EQ(facts[1].name, "nodes 2: pattern");
  EXPECT_EQ(facts[1].a, "-");
}

TEST(ComparePlans, ShowTheStepsThatDiffer) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  auto b = a;
  EXPECT_THAT(comparePlans(a.detail.program.plan, b.detail.program.plan), IsEmpty());
  std::get<domain::KernelStep>(b.detail.program.plan.steps[0]).grid = {128, 1, 1};
  EXPECT_THAT(comparePlans(a.detail.program.plan, b.detail.program.plan),
              ElementsAre("-kernel k grid 64x1x1 block 1x1x1", "+kernel k grid 128x1x1 block 1x1x1"));
}

TEST(DiffsOf, LookAtTheCodeAndNotAtItsAddresses) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  auto b = a;
  b.detail.assembly = "0000000000002240 <k>:\n    2240:\tcall   1060 <expf@plt>\n";
  b.detail.program.source = "int a;\nint c;\n";
  const ComparisonDiffs diffs = diffsOf(a, b, true, true);
  EXPECT_EQ(diffs.assembly, "");
  EXPECT_THAT(*diffs.source, HasSubstr("\n int a;\n-int b;\n+int c;\n"));
  EXPECT_THAT(comparisonText(a, b, diffs), HasSubstr("assembly  equal"));
  EXPECT_EQ(diffsOf(a, b, false, false).source, std::nullopt);
}

TEST(UnifiedDiff, IsWhatDiffUWrites) {
  EXPECT_EQ(unifiedDiff("a\nb\nc\n", "a\nx\nc\n", "one", "two"), "--- one\n+++ two\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  EXPECT_EQ(unifiedDiff("a\n", "a\n", "one", "two"), "");
}

TEST(ComparisonJson, HasBothSidesTheRatioAndTheDiffs) {
  const auto a = candidate(1, 2.0, 1.9, 2.1);
  const auto b = candidate(2, 3.0, 2.9, 3.1);
  const domain::Json json = comparisonJson(a, b, diffsOf(a, b, true, false));
  EXPECT_EQ(json["a"]["candidate"], 1);
  EXPECT_EQ(json["ratio"]["significant"], true);
  EXPECT_EQ(json["source_diff"], "");
  EXPECT_EQ(json["assembly_diff"], nullptr);
}

}  // namespace
}  // namespace swage::cli
