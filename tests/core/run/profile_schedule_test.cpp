// SPDX-License-Identifier: Apache-2.0
#include "core/run/profile_schedule.h"

#include <gtest/gtest.h>

namespace swage::run {
namespace {

TEST(ProfileSchedule, TheFirstComesWhenSomethingFastHasBeenFound) {
  const ProfileSchedule hour({.budgetSeconds = 3600.0, .firstSeconds = 5.0});
  EXPECT_FALSE(hour.isDue(59.0));
  EXPECT_TRUE(hour.isDue(60.0));
  const ProfileSchedule minute({.budgetSeconds = 60.0, .firstSeconds = 5.0});
  EXPECT_FALSE(minute.isDue(5.0));
  EXPECT_TRUE(minute.isDue(6.0));
  EXPECT_DOUBLE_EQ(minute.limitSeconds(6.0), 6.0);
}

TEST(ProfileSchedule, AShortSearchHasNone) {
  const ProfileSchedule schedule({.budgetSeconds = 20.0, .firstSeconds = 5.0});
  for (int halves = 0; halves < 40; ++halves) {
    EXPECT_FALSE(schedule.isDue(halves / 2.0)) << halves;
  }
}

TEST(ProfileSchedule, NothingBeginsWhenTheSearchIsNearlyOver) {
  const ProfileSchedule schedule({.budgetSeconds = 100.0, .firstSeconds = 5.0});
  EXPECT_TRUE(schedule.isDue(75.0));
  EXPECT_FALSE(schedule.isDue(76.0));
}

// The largest share of a search, and the number, with profiles of so many seconds.
struct Spent {
  double share = 0.0;
  int profiles = 0;
};
Spent spentIn(double budgetSeconds, double searchSeconds, double profileSeconds) {
  ProfileSchedule schedule({.budgetSeconds = budgetSeconds, .firstSeconds = profileSeconds});
  Spent spent;
  double elapsed = 0.0;
  while (elapsed < searchSeconds) {
    if (schedule.isDue(elapsed)) {
      EXPECT_GE(schedule.limitSeconds(elapsed), profileSeconds);
      elapsed += profileSeconds;
      schedule.spend(profileSeconds, elapsed);
      ++spent.profiles;
    }
    elapsed += 0.5;
  }
  spent.share = spent.profiles * profileSeconds / searchSeconds;
  return spent;
}

TEST(ProfileSchedule, AFewAreMadeInAShareOfTheSearch) {
  const Spent minutes = spentIn(600.0, 600.0, 6.0);
  EXPECT_EQ(minutes.profiles, 5);
  EXPECT_LE(minutes.share, ProfileSchedule::kShare);
  EXPECT_EQ(spentIn(60.0, 60.0, 6.0).profiles, 1);
  EXPECT_EQ(spentIn(7200.0, 7200.0, 6.0).profiles, ProfileSchedule::kMost);
}

TEST(ProfileSchedule, WithoutALimitTheShareIsOfWhatHasPassed) {
  EXPECT_EQ(spentIn(0.0, 50.0, 6.0).profiles, 0);
  EXPECT_EQ(spentIn(0.0, 100.0, 6.0).profiles, 1);
  EXPECT_EQ(spentIn(0.0, 1000.0, 6.0).profiles, 8);
}

TEST(ProfileSchedule, ALaterOneIsExpectedToTakeAsLongAsTheOneBefore) {
  ProfileSchedule schedule({.budgetSeconds = 600.0, .firstSeconds = 5.0});
  schedule.spend(20.0, 80.0);
  EXPECT_FALSE(schedule.isDue(400.0)) << "10 s are left of 30 s";
}

TEST(ProfileSchedule, TheyAreSpreadOverTheSearch) {
  ProfileSchedule schedule({.budgetSeconds = 3600.0, .firstSeconds = 5.0});
  schedule.spend(6.0, 66.0);
  EXPECT_FALSE(schedule.isDue(125.0));
  EXPECT_TRUE(schedule.isDue(126.0));
}

}  // namespace
}  // namespace swage::run
