// SPDX-License-Identifier: Apache-2.0
#include "core/measure/paired.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace swage::measure {
namespace {

// Calls that take a known time on a clock that only they move.
class FakeBench {
 public:
  [[nodiscard]] TimedCall call(char name, double nanoseconds) {
    return [this, name, nanoseconds]() -> device::DeviceResult<double> {
      m_order += name;
      m_seconds += nanoseconds * 1e-9;
      return nanoseconds;
    };
  }
  [[nodiscard]] Clock clock() {
    return [this] { return m_seconds; };
  }
  [[nodiscard]] const std::string& order() const { return m_order; }
  [[nodiscard]] long count(char name) const { return std::count(m_order.begin(), m_order.end(), name); }

 private:
  double m_seconds = 0.0;
  std::string m_order;
};

TEST(TimePair, GivesTheRatioOfTheMedians) {
  FakeBench bench;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->speedup, 3.0);
  EXPECT_DOUBLE_EQ(timing->speedupLow, 3.0);
  EXPECT_DOUBLE_EQ(timing->speedupHigh, 3.0);
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.discarded, 2);
}

TEST(TimePair, RunsEagerInFiveRoundsAtLeast) {
  FakeBench bench;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 1e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_GE(timing->eager.samples, 5);
  EXPECT_GE(timing->candidate.samples, timing->eager.samples);
}

TEST(TimePair, AlternatesInAnOrderThatDependsOnTheSeed) {
  FakeBench first;
  FakeBench second;
  PairOptions options;
  options.seed = 1;
  ASSERT_TRUE(timePair(first.call('c', 1e6), first.call('e', 1e6), options, first.clock()).has_value());
  options.seed = 2;
  ASSERT_TRUE(timePair(second.call('c', 1e6), second.call('e', 1e6), options, second.clock()).has_value());
  EXPECT_NE(first.order(), second.order());
  EXPECT_NE(first.order().find("ec"), std::string::npos);
  EXPECT_NE(first.order().find("ce"), std::string::npos);
}

TEST(TimePair, DropsACandidateThatTwoProbesFindTooSlow) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  options.knownEager.medianNs = 2e6;
  const auto timing = timePair(bench.call('c', 1.06e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_TRUE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.samples, 2);
  EXPECT_EQ(bench.count('e'), 0);
  EXPECT_NEAR(timing->speedup, 2e6 / 1.06e6, 1e-9);
}

TEST(TimePair, MeasuresACandidateInFullThatIsOnlyALittleSlower) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  const auto timing = timePair(bench.call('c', 1.04e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_GE(timing->candidate.samples, 7);
}

TEST(TimePair, EndsWhenTheBudgetIsSpentEvenIfEagerIsSlow) {
  FakeBench bench;
  PairOptions options;
  options.timing.budgetSeconds = 1.0;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 2e9), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_GE(timing->eager.samples, 3);
  EXPECT_LE(bench.clock()(), 12.0);
}

TEST(TimePair, EndsWithTheFirstFailure) {
  FakeBench bench;
  const TimedCall broken = []() -> device::DeviceResult<double> {
    return tl::make_unexpected(device::DeviceFailure{"illegal address", true});
  };
  const auto timing = timePair(bench.call('c', 1e6), broken, {}, bench.clock());
  ASSERT_FALSE(timing.has_value());
  EXPECT_EQ(timing.error().detail, "illegal address");
  EXPECT_TRUE(timing.error().poisoned);
}

TEST(TimeAlone, StopsAtTheSampleLimit) {
  double ns = 1e6;
  const TimedCall noisy = [&ns]() -> device::DeviceResult<double> { return ns *= 1.1; };
  const auto timing = timeAlone(noisy, {.budgetSeconds = 10.0, .maxSamples = 20});
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->samples, 20);
  EXPECT_EQ(timing->stopReason, "sample limit");
}

}  // namespace
}  // namespace swage::measure
