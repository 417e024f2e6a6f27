// SPDX-License-Identifier: Apache-2.0
#include "core/process/lane_clock.h"

#include <gmock/gmock.h>

#include "tests/support/fake_clock.h"

namespace swage::process {
namespace {

using std::chrono_literals::operator""s;

TEST(LaneClock, CountsOnlyBusyTimeAndStartsAgainWithEveryChange) {
  testing::FakeClock clock;
  LaneClock lane(clock.now());
  lane.note("idle", false);
  clock.advance(2s);
  lane.note("timing", true);
  clock.advance(3s);
  lane.note("timing", true);
  EXPECT_DOUBLE_EQ(lane.sinceSeconds(), 3.0) << "saying it again changes nothing";
  EXPECT_DOUBLE_EQ(lane.busySeconds(), 3.0);
  lane.note("idle", false);
  clock.advance(1s);
  EXPECT_DOUBLE_EQ(lane.busySeconds(), 3.0);
  EXPECT_DOUBLE_EQ(lane.sinceSeconds(), 1.0);
  EXPECT_DOUBLE_EQ(lane.lifeSeconds(), 6.0);
}

}  // namespace
}  // namespace swage::process
