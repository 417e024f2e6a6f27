// SPDX-License-Identifier: Apache-2.0
#include "core/domain/speedup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace swage::domain {
namespace {

TEST(Speedup, MultipliesTheEndsOfItsIntervalToo) {
  const Speedup product = Speedup{2.0, 1.5, 2.5}.times({0.5, 0.4, 0.8});
  EXPECT_DOUBLE_EQ(product.value, 1.0);
  EXPECT_DOUBLE_EQ(product.low, 0.6);
  EXPECT_DOUBLE_EQ(product.high, 2.0);
}

TEST(Speedup, IsNotKnownWhereAFactorIsNot) {
  EXPECT_FALSE((Speedup{2.0, 1.5, 2.5}.times({}).isKnown()));
  EXPECT_FALSE(Speedup().times({2.0, 1.5, 2.5}).isKnown());
  EXPECT_FALSE(Speedup::ofTimes({.medianNs = 0.0}, {.medianNs = 5.0}).isKnown());
}

TEST(Speedup, IsUncertainIfItsIntervalIsWiderThanTwentyPercentToEachSide) {
  EXPECT_FALSE((Speedup{1.0, 0.81, 1.19}.isUncertain()));
  EXPECT_TRUE((Speedup{1.0, 0.79, 1.21}.isUncertain()));
  EXPECT_TRUE((Speedup{1.0, 0.95, 1.40}.isUncertain()));
  EXPECT_FALSE(Speedup().isUncertain());
  EXPECT_FALSE(Speedup::exactly(3.0).isUncertain());
}

TEST(Speedup, OfTwoTimesHasTheWorstOfTheirIntervals) {
  const Speedup speedup = Speedup::ofTimes({200.0, 180.0, 220.0}, {100.0, 90.0, 120.0});
  EXPECT_DOUBLE_EQ(speedup.value, 2.0);
  EXPECT_DOUBLE_EQ(speedup.low, 1.5);
  EXPECT_DOUBLE_EQ(speedup.high, 220.0 / 90.0);
  EXPECT_EQ(Speedup::ofTimes({.medianNs = 200.0}, {.medianNs = 100.0}), Speedup::exactly(2.0));
}

TEST(Speedup, RanksByItsLowerEnd) {
  const Speedup lucky{45.0, 0.4, 90.0};
  const Speedup solid{1.5, 1.45, 1.55};
  std::vector<Speedup> all = {Speedup(), lucky, solid};
  std::sort(all.begin(), all.end(), ranksBefore);
  EXPECT_EQ(all, (std::vector{solid, lucky, Speedup()}));
}

}  // namespace
}  // namespace swage::domain
