// SPDX-License-Identifier: Apache-2.0
#include "core/search/operator_credit.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace swage::search {
namespace {

using domain::OperatorKind;
using Learn = OperatorCredits::Learn;
using Result = OperatorCredits::Result;

double totalWeight(const std::vector<OperatorCredit>& credits) {
  return std::accumulate(credits.begin(), credits.end(), 0.0,
                         [](double sum, const OperatorCredit& credit) { return sum + credit.weight; });
}

TEST(OperatorCredits, StartsWithEqualShares) {
  const OperatorCredits credits;
  for (const OperatorKind kind : OperatorCredits::kStructural) {
    EXPECT_DOUBLE_EQ(credits.share(kind), 0.2);
  }
  EXPECT_EQ(credits.share(OperatorKind::Parameter), 0.0);
}

TEST(OperatorCredits, HasAShareForRewritesWhereThereAreSome) {
  const OperatorCredits credits(OperatorCredits::Rewrites::Some);
  EXPECT_EQ(credits.structural().size(), OperatorCredits::kStructural.size() + 1);
  for (const OperatorKind kind : credits.structural()) {
    EXPECT_DOUBLE_EQ(credits.share(kind), 1.0 / 6.0);
  }
  EXPECT_GT(credits.share(OperatorKind::Rewrite), 0.0);
  EXPECT_EQ(OperatorCredits().share(OperatorKind::Rewrite), 0.0);
}

TEST(OperatorCredits, FollowsTheFormulaOfProbabilityMatching) {
  OperatorCredits credits;
  credits.countResult(OperatorKind::Split, Result::Improved, Learn::Yes);
  credits.countResult(OperatorKind::Merge, Result::Correct, Learn::Yes);
  // Qualities: split 0.55, merge 0.45, three at 0.5.
  EXPECT_NEAR(credits.share(OperatorKind::Split), 0.05 + 0.75 * 0.55 / 2.5, 1e-12);
  EXPECT_NEAR(credits.share(OperatorKind::Merge), 0.05 + 0.75 * 0.45 / 2.5, 1e-12);
}

TEST(OperatorCredits, NeverLetsAnOperatorFallBelowItsFloor) {
  OperatorCredits credits;
  for (int i = 0; i < 10'000; ++i) {
    for (const OperatorKind kind : OperatorCredits::kStructural) {
      credits.countResult(kind, kind == OperatorKind::Merge ? Result::Improved : Result::Failed, Learn::Yes);
    }
  }
  for (const OperatorKind kind : OperatorCredits::kStructural) {
    EXPECT_GE(credits.share(kind), OperatorCredits::kFloor);
  }
  EXPECT_GT(credits.share(OperatorKind::Merge), 0.79);
  Random random(1);
  std::map<OperatorKind, int> drawn;
  for (int i = 0; i < 2000; ++i) {
    ++drawn[credits.choose(random)];
  }
  EXPECT_EQ(drawn.size(), OperatorCredits::kStructural.size());
  EXPECT_GT(drawn[OperatorKind::Merge], 1400);
}

TEST(OperatorCredits, SharesEquallyWhenNothingEverWorked) {
  OperatorCredits credits;
  for (int i = 0; i < 10'000; ++i) {
    for (const OperatorKind kind : OperatorCredits::kStructural) {
      credits.countResult(kind, Result::Failed, Learn::Yes);
    }
  }
  EXPECT_NEAR(credits.share(OperatorKind::Crossover), 0.2, 1e-9);
}

TEST(OperatorCredits, RecoversWhenAnOperatorStartsToPay) {
  OperatorCredits credits;
  for (int i = 0; i < 50; ++i) {
    credits.countResult(OperatorKind::Split, Result::Failed, Learn::Yes);
  }
  const double before = credits.share(OperatorKind::Split);
  for (int i = 0; i < 5; ++i) {
    credits.countResult(OperatorKind::Split, Result::Improved, Learn::Yes);
  }
  EXPECT_GT(credits.share(OperatorKind::Split), 2.0 * before);
}

TEST(OperatorCredits, DoesNotLearnFromSeeds) {
  OperatorCredits credits;
  credits.countProposed(OperatorKind::Synthesis);
  credits.countResult(OperatorKind::Synthesis, Result::Improved, Learn::No);
  EXPECT_DOUBLE_EQ(credits.share(OperatorKind::Synthesis), 0.2);
  const auto first = credits.list(0.5, 0.2).front();
  EXPECT_EQ(first.name.text(), "synthesis");
  EXPECT_EQ(first.proposed, 1);
  EXPECT_EQ(first.correct, 1);
  EXPECT_EQ(first.improved, 1);
}

TEST(OperatorCredits, WeightsOfAllOperatorsAddUpToOne) {
  OperatorCredits credits;
  credits.countProposed(OperatorKind::Human);
  credits.countResult(OperatorKind::Human, Result::Improved, Learn::Yes);
  const auto list = credits.list(0.5, 0.2);
  EXPECT_EQ(list.size(), 8U);
  EXPECT_NEAR(totalWeight(list), 1.0, 1e-12);
  for (const OperatorCredit& credit : list) {
    if (credit.name == OperatorKind::Parameter) {
      EXPECT_DOUBLE_EQ(credit.weight, 0.5);
    } else if (credit.name == OperatorKind::Aimed) {
      EXPECT_DOUBLE_EQ(credit.weight, 0.1);
    } else if (credit.name == OperatorKind::Human) {
      EXPECT_EQ(credit.weight, 0.0);
      EXPECT_EQ(credit.improved, 1);
    }
  }
}

TEST(OperatorCredits, KeepsAnybodyElseByName) {
  OperatorCredits credits;
  const domain::ProposerName coder = *domain::ProposerName::parse("my model 4");
  credits.countProposed(coder);
  credits.countResult(coder, Result::Improved, Learn::Yes);
  const auto list = credits.list(0.5, 0.2);
  EXPECT_EQ(list.back().name, coder) << "behind the operators";
  EXPECT_EQ(list.back().improved, 1);
  EXPECT_EQ(list.back().weight, 0.0) << "its turns are not the searcher's to give";
  EXPECT_NEAR(totalWeight(list), 1.0, 1e-12);
}

}  // namespace
}  // namespace swage::search
