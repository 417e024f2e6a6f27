// SPDX-License-Identifier: Apache-2.0
#include "core/search/proposer_credit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace swage::search {
namespace {

using domain::ProposerName;
using Result = ProposerCredits::Result;

const ProposerName kSearch = *ProposerName::parse("search");
const ProposerName kCoder = *ProposerName::parse("my model 4");

TEST(ProposerCredits, WhoIsAloneHasAllTurns) {
  ProposerCredits credits;
  credits.join(kSearch);
  EXPECT_DOUBLE_EQ(credits.share(kSearch), 1.0);
  for (int i = 0; i < 10'000; ++i) {
    credits.countEnded(kSearch, Result::Failed, 0.0);
  }
  EXPECT_DOUBLE_EQ(credits.share(kSearch), 1.0);
}

TEST(ProposerCredits, TurnsFollowWhatWasEarned) {
  ProposerCredits credits;
  credits.join(kSearch);
  credits.join(kCoder);
  EXPECT_DOUBLE_EQ(credits.share(kSearch), 0.5);
  credits.countEnded(kCoder, Result::Improved, 0.0);
  credits.countEnded(kSearch, Result::Correct, 0.0);
  // Qualities: 0.55 and 0.45.
  EXPECT_NEAR(credits.share(kCoder), 0.05 + 0.9 * 0.55, 1e-12);
  EXPECT_NEAR(credits.share(kSearch), 0.05 + 0.9 * 0.45, 1e-12);
}

TEST(ProposerCredits, WhoEarnsAsMuchForLessTimeHasMoreTurns) {
  ProposerCredits credits;
  credits.join(kSearch);
  credits.join(kCoder);
  for (int i = 0; i < 10; ++i) {
    credits.countOffered(kSearch, {});
    credits.countOffered(kCoder, {.seconds = 2.0});
    credits.countEnded(kSearch, Result::Correct, 1.0);
    credits.countEnded(kCoder, Result::Correct, 1.0);
  }
  // Prices 1 and 3 seconds, and the same quality: a half and one and a half of the mean.
  EXPECT_NEAR(credits.share(kSearch), 0.05 + 0.9 * 0.75, 1e-12);
  EXPECT_NEAR(credits.share(kCoder), 0.05 + 0.9 * 0.25, 1e-12);
}

TEST(ProposerCredits, MoneyCountsAsTime) {
  ProposerCredits credits;
  credits.join(kSearch);
  credits.join(kCoder);
  credits.countOffered(kSearch, {.seconds = ProposerCredit::kSecondsPerCent});
  credits.countOffered(kCoder, {.seconds = 0.0, .cents = 1.0});
  EXPECT_DOUBLE_EQ(credits.share(kSearch), 0.5);
  EXPECT_DOUBLE_EQ(credits.spent().cents, 1.0);
  credits.countOffered(kCoder, {.seconds = 0.0, .cents = 1e6});
  EXPECT_GT(credits.share(kCoder), ProposerCredits::kFloor) << "a price has a limit";
}

TEST(ProposerCredits, NobodyFallsBelowTheFloorAndAllSharesAddUpToOne) {
  ProposerCredits credits;
  std::vector<ProposerName> names;
  for (char c = 'a'; c <= 'z'; ++c) {
    names.push_back(*ProposerName::parse(std::string(1, c)));
    credits.join(names.back());
  }
  for (int i = 0; i < 10'000; ++i) {
    credits.countEnded(names[0], Result::Improved, 0.0);
    credits.countEnded(names[1], Result::Failed, 0.0);
  }
  double sum = 0.0;
  for (const ProposerName& one : names) {
    EXPECT_GE(credits.share(one), 0.5 / 26.0 - 1e-12);
    sum += credits.share(one);
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(ProposerCredits, WhoIsOnlyCountedOrHasLeftTakesNoTurns) {
  ProposerCredits credits;
  credits.join(kSearch);
  credits.countOffered(kCoder);
  EXPECT_EQ(credits.share(kCoder), 0.0);
  EXPECT_DOUBLE_EQ(credits.share(kSearch), 1.0);
  credits.join(kCoder);
  credits.leave(kSearch);
  EXPECT_EQ(credits.share(kSearch), 0.0);
  EXPECT_DOUBLE_EQ(credits.share(kCoder), 1.0);
}

TEST(ProposerCredits, TimeAndMoneyAreCountedToWhoSpentThem) {
  ProposerCredits credits;
  credits.countOffered(kCoder, {.seconds = 6.0, .cents = 3.0, .tokens = 5000});
  credits.countOffered(kCoder, {.seconds = 2.0, .cents = 1.0, .tokens = 1000});
  credits.countEnded(kCoder, Result::Improved, 1.5);
  credits.countEnded(kCoder, Result::Failed, 0.5);
  const ProposerCredit* credit = credits.find(kCoder);
  ASSERT_NE(credit, nullptr);
  EXPECT_EQ(credit->offered, 2);
  EXPECT_EQ(credit->correct, 1);
  EXPECT_EQ(credit->cost, (Cost{.seconds = 8.0, .cents = 4.0, .tokens = 6000}));
  EXPECT_DOUBLE_EQ(credit->trialSeconds, 2.0);
  EXPECT_DOUBLE_EQ(credit->improvedPerSecond(), 0.1);
  EXPECT_DOUBLE_EQ(credit->improvedPerCent(), 0.25);
  EXPECT_EQ(credits.find(kSearch), nullptr);
}

TEST(ProposerCredits, ACostThatCannotBeIsNone) {
  const Cost cost{.seconds = std::nan(""), .cents = -3.0, .tokens = -1};
  EXPECT_TRUE(cost.sound().isNothing());
  EXPECT_EQ((Cost{.seconds = 1.0, .cents = 2.0, .tokens = 3}).sound(),
            (Cost{.seconds = 1.0, .cents = 2.0, .tokens = 3}));
}

TEST(ProposerCredits, WhatCostNothingHasNoRate) {
  ProposerCredits credits;
  credits.countEnded(kSearch, Result::Improved, 0.0);
  EXPECT_EQ(credits.find(kSearch)->improvedPerSecond(), 0.0);
  EXPECT_EQ(credits.find(kSearch)->improvedPerCent(), 0.0);
}

}  // namespace
}  // namespace swage::search
