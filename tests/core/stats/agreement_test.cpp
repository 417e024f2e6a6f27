// SPDX-License-Identifier: Apache-2.0
#include "core/stats/agreement.h"

#include <gmock/gmock.h>

namespace swage::stats {
namespace {

using ::testing::HasSubstr;

domain::Timing clocks(double eventsNs, double hostNs, double activityNs) {
  domain::Timing timing;
  timing.clock = "device events";
  timing.medianNs = eventsNs;
  timing.hostMedianNs = hostNs;
  timing.activityMedianNs = activityNs;
  return timing;
}

TEST(FindDisagreement, AcceptsClocksThatAgreeWithinFifteenPerCentAndSlack) {
  EXPECT_FALSE(findDisagreement(clocks(1e6, 1.15e6 + 99e3, 1.15e6 + 9e3)));
  EXPECT_FALSE(findDisagreement(clocks(5e3, 80e3, 6e3))) << "a short call: the host's own noise is longer";
  EXPECT_FALSE(findDisagreement(clocks(1e6, 0.0, 0.0))) << "nothing was compared";
}

TEST(FindDisagreement, AcceptsGapsBetweenLaunches) {
  EXPECT_FALSE(findDisagreement(clocks(1e6, 1e6, 0.2e6)));
}

TEST(FindDisagreement, FindsWorkThatOnlyTheHostSees) {
  const auto found = findDisagreement(clocks(100e3, 900e3, 0.0));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, "device events: 100.0 us, host clock: 900.0 us, activity of all streams: not compared");
}

TEST(FindDisagreement, FindsWorkOnOtherStreams) {
  const auto found = findDisagreement(clocks(10e3, 60e3, 50e3));
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, HasSubstr("activity of all streams: 50.0 us"));
}

TEST(IsDoubtful, OfThrottledAndNoisyMeasurementsOnly) {
  domain::Timing timing;
  for (const char* reason : {"precise", "sample limit", "time budget", "screened out", ""}) {
    timing.stopReason = reason;
    EXPECT_FALSE(isDoubtful(timing)) << reason;
  }
  timing.stopReason = kThrottled;
  EXPECT_TRUE(isDoubtful(timing));
  timing.stopReason = kNoisy;
  EXPECT_TRUE(isDoubtful(timing));
}

}  // namespace
}  // namespace swage::stats
