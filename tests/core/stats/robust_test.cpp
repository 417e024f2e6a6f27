// SPDX-License-Identifier: Apache-2.0
#include "core/stats/robust.h"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "core/base/random.h"

namespace swage::stats {
namespace {

std::vector<double> upTo(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);  // n, n-1, … 1: not sorted
  return values;
}

// R: quantile(c(10, 2, 7, 4), c(0, .1, .5, .9, 1)), type 7.
TEST(Quantile, IsTypeSeven) {
  const std::vector<double> samples{10, 2, 7, 4};
  EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 2.0);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.1), 2.6);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 5.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 9.1);
  EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 10.0);
}

TEST(Median, OfOddEvenAndOne) {
  EXPECT_DOUBLE_EQ(median(upTo(5)), 3.0);
  EXPECT_DOUBLE_EQ(median(upTo(6)), 3.5);
  EXPECT_DOUBLE_EQ(median(std::vector{8.0}), 8.0);
}

// Ranks of the standard table for the sign test, 95 %.
TEST(MedianInterval, HasThePublishedRanks) {
  struct Row {
    int n;
    double low;
    double high;
  };
  for (const Row& row : {Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9}, Row{20, 6, 15}, Row{25, 8, 18},
                         Row{50, 18, 33}, Row{100, 40, 61}}) {
    const Interval interval = medianInterval(upTo(row.n));
    EXPECT_EQ(interval.low, row.low) << row.n;
    EXPECT_EQ(interval.high, row.high) << row.n;
  }
}

TEST(MedianInterval, IsTheWholeRangeOfFewSamples) {
  const Interval interval = medianInterval(upTo(5));
  EXPECT_EQ(interval.low, 1.0);
  EXPECT_EQ(interval.high, 5.0);
}

TEST(MedianInterval, DoesNotUnderflowForManySamples) {
  const Interval interval = medianInterval(upTo(10000));
  EXPECT_NEAR(interval.low, 4902, 2);
  EXPECT_NEAR(interval.high, 5099, 2);
}

TEST(RatioInterval, IsTheSameForTheSameSeed) {
  const std::vector<double> a{10, 11, 9, 10, 12, 10, 9};
  const std::vector<double> b{20, 21, 19, 22, 20, 20, 18};
  const Interval first = ratioInterval(a, b, 1);
  const Interval second = ratioInterval(a, b, 1);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_LT(first.low, 2.0);
  EXPECT_GT(first.high, 2.0);
  EXPECT_GT(first.low, 1.6);
  EXPECT_LT(first.high, 2.5);
}

TEST(RatioInterval, OfConstantsIsTheirRatio) {
  const Interval interval = ratioInterval(std::vector{2.0, 2.0, 2.0}, std::vector{3.0, 3.0, 3.0, 3.0}, 5);
  EXPECT_DOUBLE_EQ(interval.low, 1.5);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

TEST(RatioInterval, CoversTheTrueRatioAboutNinetyFiveTimesInAHundred) {
  Random random(11);
  int covered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 25; ++i) {
      a.push_back(100.0 + 10.0 * random.unit());
      b.push_back(150.0 + 15.0 * random.unit());
    }
    const Interval interval = ratioInterval(a, b, static_cast<std::uint64_t>(trial));
    covered += interval.low <= 1.5 && 1.5 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 180);
  EXPECT_LT(covered, 200);
}

// A clock that drifts by half cancels out, because the samples are taken in turn.
TEST(RatioInterval, IgnoresDriftThatBothSidesShare) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 30; ++i) {
    const double drift = 1.0 + 0.5 * i / 30.0;
    a.push_back(100.0 * drift);
    b.push_back(200.0 * drift);
  }
  const Interval interval = ratioInterval(a, b, 1);
  EXPECT_NEAR(interval.low, 2.0, 1e-9);
  EXPECT_NEAR(interval.high, 2.0, 1e-9);
}

TEST(Summarise, GivesEveryNumber) {
  const domain::Timing timing = summarise(upTo(9), 3, "precise");
  EXPECT_EQ(timing.samples, 9);
  EXPECT_EQ(timing.discarded, 3);
  EXPECT_EQ(timing.medianNs, 5.0);
  EXPECT_EQ(timing.lowNs, 2.0);
  EXPECT_EQ(timing.highNs, 8.0);
  EXPECT_EQ(timing.minNs, 1.0);
  EXPECT_EQ(timing.stopReason, "precise");
  EXPECT_EQ(summarise({}, 4, "time budget").samples, 0);
}

}  // namespace
}  // namespace swage::stats
