// SPDX-License-Identifier: Apache-2.0
#include "core/domain/record/winner.h"

#include <gtest/gtest.h>

namespace swage::domain {
namespace {

constexpr CandidateId kOwn(1);

Finalist finalist(std::int64_t id, double low) {
  return {.id = CandidateId(id), .speedup = {1.05 * low, low, 1.1 * low}};
}

// A run whose candidate 7 ranks first.
RunSummary runWith(double bestLow) {
  RunSummary run;
  run.baselineMode = "compile";
  run.own = kOwn;
  run.best = CandidateId(7);
  run.bestSpeedup = finalist(7, bestLow).speedup;
  return run;
}

TEST(Winner, HasTheHighestLowerEndAndSurelyBeatsPytorch) {
  EXPECT_EQ(winnerAmong({finalist(2, 1.1), finalist(3, 1.3), finalist(4, 1.2)}, kOwn), CandidateId(3));
  EXPECT_EQ(winnerAmong({finalist(2, 0.99)}, kOwn), kOwn) << "its interval does not lie above 1";
  EXPECT_FALSE(winnerAmong({}, CandidateId()).isValid());
}

TEST(Winner, NeedNotBeatOperatorsThatAreNotCorrect) {
  EXPECT_EQ(winnerAmong({finalist(2, 0.5)}, CandidateId()), CandidateId(2));
}

TEST(Winner, IsUncertainOnlyWhenAllAre) {
  Finalist wide = finalist(2, 1.5);
  wide.isSolid = false;
  EXPECT_EQ(winnerAmong({wide, finalist(3, 1.1)}, kOwn), CandidateId(3));
  EXPECT_EQ(winnerAmong({wide}, kOwn), CandidateId(2));
}

TEST(Winner, OfEqualsIsTheSimplerThenTheMoreExactThenTheOlder) {
  Finalist simple = finalist(5, 1.2);
  Finalist twoLaunches = finalist(2, 1.2);
  twoLaunches.launches = 2;
  EXPECT_EQ(winnerAmong({twoLaunches, simple}, kOwn), CandidateId(5));
  Finalist exact = finalist(6, 1.2);
  simple.relativeError = 1e-6;
  EXPECT_EQ(winnerAmong({simple, exact}, kOwn), CandidateId(6));
  EXPECT_EQ(winnerAmong({finalist(9, 1.2), finalist(8, 1.2)}, kOwn), CandidateId(8));
}

TEST(WinnerOfARun, IsWhomTheLastMeasurementChose) {
  RunSummary run = runWith(1.5);
  run.winner = kOwn;
  EXPECT_EQ(winnerOf(run), kOwn);
}

TEST(WinnerOfARun, WithoutALastMeasurementFollowsTheSameRule) {
  EXPECT_EQ(winnerOf(runWith(1.5)), CandidateId(7));
  EXPECT_EQ(winnerOf(runWith(0.9)), kOwn);
  RunSummary broken = runWith(0.9);
  broken.own = {};
  EXPECT_EQ(winnerOf(broken), CandidateId(7));
  EXPECT_FALSE(winnerOf(RunSummary()).isValid());
}

TEST(WinnerOfARun, IsPytorchsOwnWayWhereNothingSurelyBeatsIt) {
  EXPECT_FALSE(pytorchWins(runWith(1.01)));
  EXPECT_TRUE(pytorchWins(runWith(1.0)));
  RunSummary nothingElse = runWith(0.0);
  nothingElse.best = {};
  EXPECT_TRUE(pytorchWins(nothingElse));
  RunSummary unknown = runWith(0.9);
  unknown.baselineMode.clear();
  EXPECT_FALSE(pytorchWins(unknown)) << "it is not known how fast PyTorch is";
}

}  // namespace
}  // namespace swage::domain
