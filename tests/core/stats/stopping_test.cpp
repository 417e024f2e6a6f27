// SPDX-License-Identifier: Apache-2.0
#include "core/stats/stopping.h"

#include <vector>

#include <gtest/gtest.h>

namespace swage::stats {
namespace {

using Decision = StoppingRule::Decision;

constexpr StoppingRule kRule{.minSamples = 7, .maxSamples = 10, .relativeWidth = 0.01, .budgetSeconds = 0.5};

std::vector<double> noisy(int n) {
  std::vector<double> samples;
  for (int i = 0; i < n; ++i) {
    samples.push_back(i % 2 == 0 ? 90.0 : 110.0);
  }
  return samples;
}

TEST(StoppingRule, GoesOnUntilItHasItsFewestSamples) {
  EXPECT_EQ(kRule.decide({}, 0.0), Decision::Continue);
  EXPECT_EQ(kRule.decide(std::vector<double>(6, 100.0), 0.1), Decision::Continue);
}

TEST(StoppingRule, StopsWhenTheMedianIsKnown) {
  EXPECT_EQ(kRule.decide(std::vector<double>(7, 100.0), 0.1), Decision::Precise);
  EXPECT_EQ(kRule.decide(noisy(7), 0.1), Decision::Continue);
}

TEST(StoppingRule, StopsAtItsLimits) {
  EXPECT_EQ(kRule.decide(noisy(10), 0.1), Decision::SampleLimit);
  EXPECT_EQ(kRule.decide(noisy(8), 0.5), Decision::Budget);
}

TEST(StoppingRule, TakesThreeSamplesOfASlowKernelWhateverTheBudget) {
  EXPECT_EQ(kRule.decide(noisy(2), 10.0), Decision::Continue);
  EXPECT_EQ(kRule.decide(noisy(3), 10.0), Decision::Budget);
}

TEST(StoppingRule, NamesItsDecisions) {
  EXPECT_EQ(name(Decision::Precise), "precise");
  EXPECT_EQ(name(Decision::SampleLimit), "sample limit");
  EXPECT_EQ(name(Decision::Budget), "time budget");
}

}  // namespace
}  // namespace swage::stats
