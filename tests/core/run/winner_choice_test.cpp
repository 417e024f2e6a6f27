// SPDX-License-Identifier: Apache-2.0
#include "core/run/winner_choice.h"

#include <gmock/gmock.h>

namespace swage::run {
namespace {

using ::testing::HasSubstr;

// A measurement whose speedup over eager is certain to two per cent, of a program with `launches` launches.
Remeasured measured(double speedupLow, int launches = 1, double relativeError = 1e-7) {
  Remeasured result;
  result.timing.candidate.samples = result.timing.eager.samples = 50;
  result.timing.candidate.medianNs = 100.0 / speedupLow;
  result.timing.speedup = 1.02 * speedupLow;
  result.timing.speedupLow = speedupLow;
  result.timing.speedupHigh = 1.04 * speedupLow;
  result.launches = launches;
  result.relativeError = relativeError;
  return result;
}

// As sure to be faster than eager, but by how much nobody knows.
Remeasured uncertain(double value) {
  Remeasured result = measured(0.6 * value);
  result.timing.speedup = value;
  result.timing.speedupHigh = 1.4 * value;
  return result;
}

constexpr domain::CandidateId kIdentity(1);
constexpr domain::Speedup kEagerIsFastest = domain::Speedup::exactly(1.0);

TEST(ChooseWinner, TheHighestLowerEndWinsWhenItIsSurelyFaster) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(0.99)},
                          {domain::CandidateId(2), measured(1.2)},
                          {domain::CandidateId(3), std::nullopt},
                          {domain::CandidateId(4), measured(1.1)}},
                         kIdentity, kEagerIsFastest),
            domain::CandidateId(2));
}

TEST(ChooseWinner, TheTasksOwnOperatorsWinWhenNothingIsSurelyFaster) {
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.97)}, {domain::CandidateId(2), measured(0.98)}}, kIdentity, kEagerIsFastest),
      kIdentity);
}

TEST(ChooseWinner, TheTasksOwnOperatorsDoNotWinByASpeedupOfTheirOwn) {
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(45.0)}, {domain::CandidateId(2), measured(1.1)}}, kIdentity, kEagerIsFastest),
      domain::CandidateId(2));
}

TEST(ChooseWinner, WhatOnlyBeatsEagerDoesNotBeatCompile) {
  const domain::Speedup againstCompile{0.5, 0.48, 0.52};
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.99)}, {domain::CandidateId(2), measured(1.9)}}, kIdentity, againstCompile),
      kIdentity);
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.99)}, {domain::CandidateId(2), measured(2.3)}}, kIdentity, againstCompile),
      domain::CandidateId(2));
}

TEST(ChooseWinner, NothingCorrectHasNoWinner) {
  EXPECT_FALSE(chooseWinner({{kIdentity, std::nullopt}}, kIdentity, kEagerIsFastest).isValid());
}

TEST(ChooseWinner, OfEqualSpeedupsTheSimplerWins) {
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), measured(1.2, 3)}, {domain::CandidateId(3), measured(1.2, 1)}},
                         kIdentity, kEagerIsFastest),
            domain::CandidateId(3))
      << "fewer launches";
  EXPECT_EQ(
      chooseWinner({{domain::CandidateId(2), measured(1.2, 1, 2e-7)}, {domain::CandidateId(3), measured(1.2, 1, 1e-7)}},
                   kIdentity, kEagerIsFastest),
      domain::CandidateId(3))
      << "a smaller error";
  EXPECT_EQ(chooseWinner({{domain::CandidateId(5), measured(1.2)}, {domain::CandidateId(3), measured(1.2)}}, kIdentity,
                         kEagerIsFastest),
            domain::CandidateId(3))
      << "the older one";
}

TEST(ChooseWinner, AnUncertainMeasurementDoesNotBeatASolidOne) {
  Remeasured hot = measured(1.5);
  hot.timing.candidate.stopReason = "throttled";
  for (const Remeasured& doubtful : {hot, uncertain(3.0)}) {
    EXPECT_TRUE(isUncertain(doubtful.timing));
    EXPECT_EQ(chooseWinner({{domain::CandidateId(2), doubtful}, {domain::CandidateId(3), measured(1.2)}}, kIdentity,
                           kEagerIsFastest),
              domain::CandidateId(3));
    EXPECT_EQ(
        chooseWinner({{domain::CandidateId(2), doubtful}, {kIdentity, measured(0.99)}}, kIdentity, kEagerIsFastest),
        domain::CandidateId(2))
        << "where there is no other";
    EXPECT_EQ(
        chooseWinner(
            {{domain::CandidateId(2), doubtful}, {domain::CandidateId(3), measured(0.9)}, {kIdentity, measured(0.99)}},
            kIdentity, kEagerIsFastest),
        domain::CandidateId(2))
        << "a solid one that loses is no reason to";
  }
  EXPECT_FALSE(isUncertain(measured(1.2).timing));
}

TEST(ChooseWinner, WhoIsExcludedDoesNotWin) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(0.99)},
                          {domain::CandidateId(2), measured(20)},
                          {domain::CandidateId(3), measured(1.2)}},
                         kIdentity, kEagerIsFastest, {domain::CandidateId(2)}),
            domain::CandidateId(3));
}

TEST(FreshProcess, IsAskedForAboveTenTimesTheBaseline) {
  EXPECT_TRUE(isIncredible({10.1, 9.0, 11.0}));
  EXPECT_FALSE(isIncredible({9.9, 9.0, 11.0}));
  EXPECT_FALSE(isIncredible({}));
}

TEST(FreshProcess, BearsOutTheSameSpeedupOnly) {
  domain::Correct fresh;
  fresh.timing = measured(2.15).timing;
  EXPECT_THAT(findContradiction(measured(2.0).timing, fresh), ::testing::IsEmpty());
  fresh.timing = measured(3.0).timing;
  EXPECT_THAT(findContradiction(measured(2.0).timing, fresh), HasSubstr("a fresh process measured 3.06x of eager"));
  EXPECT_THAT(findContradiction(measured(2.0).timing, domain::Unstable{"sometimes"}), HasSubstr("not correct"));
}

}  // namespace
}  // namespace swage::run
