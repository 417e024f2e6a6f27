// SPDX-License-Identifier: Apache-2.0
#include "core/domain/baseline.h"

#include <gtest/gtest.h>

#include "core/domain/graph.h"

namespace swage::domain {
namespace {

Baseline baseline(const std::string& mode, double ns) {
  Baseline result;
  result.mode = mode;
  result.timing.medianNs = ns;
  result.timing.lowNs = 0.9 * ns;
  result.timing.highNs = 1.1 * ns;
  return result;
}

Graph graphOf(const std::string& op, ScalarType type = ScalarType::Float32) {
  Graph graph;
  graph.values = {contiguousTensor(type, {4, 4}), contiguousTensor(type, {4, 4})};
  Node node;
  node.op = op;
  node.outputs = {ValueId(1)};
  graph.nodes = {node};
  return graph;
}

TEST(EagerAgainst, IsOneOfEagerItself) {
  const std::vector<Baseline> all = {baseline("eager", 100.0), baseline("compile", 50.0)};
  EXPECT_EQ(eagerAgainst(all[0], all), Speedup::exactly(1.0));
}

TEST(EagerAgainst, IsWhatWasMeasuredInTurns) {
  std::vector<Baseline> all = {baseline("eager", 100.0), baseline("compile", 50.0)};
  all[1].eagerSpeedup = {0.8, 0.7, 0.9};
  EXPECT_EQ(eagerAgainst(all[1], all), all[1].eagerSpeedup);
}

TEST(EagerAgainst, ComesFromTheTimesInARecordOfAnEarlierVersion) {
  const std::vector<Baseline> all = {baseline("eager", 100.0), baseline("compile", 50.0)};
  const Speedup found = eagerAgainst(all[1], all);
  EXPECT_DOUBLE_EQ(found.value, 0.5);
  EXPECT_DOUBLE_EQ(found.low, 45.0 / 110.0);
  EXPECT_DOUBLE_EQ(found.high, 55.0 / 90.0);
  EXPECT_FALSE(eagerAgainst(all[1], {all[1]}).isKnown());
}

TEST(PermittedAccuracy, LetsOnlyConvolutionsUseTf32) {
  using enum AccuracyClass;
  EXPECT_EQ(permittedAccuracy(graphOf("aten.conv2d.default"), Fp32), Tf32);
  EXPECT_EQ(permittedAccuracy(graphOf("aten.convolution.default"), Fp32), Tf32);
  EXPECT_EQ(permittedAccuracy(graphOf("aten.mm.default"), Fp32), Fp32);
  EXPECT_EQ(permittedAccuracy(graphOf("aten.linear.default"), Fp32), Fp32);
  EXPECT_EQ(permittedAccuracy(graphOf("aten.mm.default"), Tf32), Tf32) << "what eager does is permitted";
  EXPECT_EQ(permittedAccuracy(graphOf("aten.conv2d.default"), Half), Half);
  EXPECT_EQ(permittedAccuracy(graphOf("aten.conv2d.default", ScalarType::Float64), Fp32), Fp32);
}

TEST(AgainstEager, IsOnlyKnownWhereBothWereMeasuredInTurns) {
  PairedTiming timing;
  timing.speedup = 2.0;
  timing.speedupLow = 1.9;
  timing.speedupHigh = 2.1;
  EXPECT_FALSE(againstEager(timing).isKnown()) << "not timed";
  timing.candidate.samples = timing.eager.samples = 9;
  EXPECT_EQ(againstEager(timing), (Speedup{2.0, 1.9, 2.1}));
  timing.screenedOut = true;
  EXPECT_FALSE(againstEager(timing).isKnown());
}

TEST(RejectedBaseline, IsWhatHasATimeAndDoesNotCount) {
  Baseline baseline;
  EXPECT_FALSE(isRejected(baseline));
  baseline.failure = "it does not compile";
  EXPECT_FALSE(isRejected(baseline));
  baseline.timing.medianNs = 1e6;
  EXPECT_TRUE(isRejected(baseline));
  EXPECT_FALSE(hasWorked(baseline));
  baseline.failure.clear();
  EXPECT_FALSE(isRejected(baseline));
}

}  // namespace
}  // namespace swage::domain
