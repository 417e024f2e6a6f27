// SPDX-License-Identifier: Apache-2.0
#include "core/search/parent_selection.h"

#include <gtest/gtest.h>

#include <map>

#include "core/search/weighted_choice.h"
#include "tests/core/search/fake_space.h"

namespace swage::search::testing {
namespace {

Elite elite(std::int64_t candidate, double time) {
  return {domain::CandidateId(candidate), point({candidate}), time, domain::Speedup::exactly(1000.0 / time)};
}

std::map<std::int64_t, int> parents(const Archive& archive, int draws) {
  Random random(1);
  std::map<std::int64_t, int> drawn;
  const auto elites = archive.elites();
  for (int i = 0; i < draws; ++i) {
    ++drawn[selectParent(elites, archive, random).elite->candidate.value()];
  }
  return drawn;
}

TEST(ParentSelection, PrefersFastElitesButTakesEveryOne) {
  Archive archive(1);
  archive.insert(0, cell(0), elite(1, 10.0));
  archive.insert(0, cell(1), elite(2, 12.0));
  archive.insert(0, cell(2), elite(3, 100.0));
  auto drawn = parents(archive, 3000);
  EXPECT_GT(drawn[1], drawn[2]);
  EXPECT_GT(drawn[2], 2 * drawn[3]);
  EXPECT_GT(drawn[3], 150);  // a tenth is drawn evenly, a fifth by tries
}

TEST(ParentSelection, PrefersCellsThatWereTriedLittle) {
  Archive archive(1);
  archive.insert(0, cell(0), elite(1, 10.0));
  archive.insert(0, cell(1), elite(2, 10.0));
  for (int i = 0; i < 200; ++i) {
    archive.countFailure(0, cell(0));
  }
  auto drawn = parents(archive, 3000);
  EXPECT_GT(drawn[2], drawn[1] + 300);
}

TEST(ParentSelection, AimsOnlyAtEmptyReachableNeighbours) {
  Archive archive(2);
  archive.insert(0, cell(0), elite(1, 10.0));  // neighbours 1, 3 and 9
  archive.insert(1, cell(3), elite(2, 10.0));  // filled, though on the other island
  ReachableCells reachable = everyCell();
  reachable[9] = false;
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const auto aim = selectAim(archive.elites(0), archive, reachable, random);
    ASSERT_TRUE(aim.has_value());
    EXPECT_EQ(aim->cell, cell(1));
    EXPECT_EQ(aim->parent.elite->candidate, domain::CandidateId(1));
  }
  reachable[1] = false;
  EXPECT_FALSE(selectAim(archive.elites(0), archive, reachable, random).has_value());
}

TEST(WeightedChoice, FollowsTheWeightsAndNeverTakesAZero) {
  Random random(1);
  std::map<std::size_t, int> drawn;
  for (int i = 0; i < 4000; ++i) {
    ++drawn[pickWeighted(std::vector{0.0, 1.0, 3.0, 0.0}, random)];
  }
  EXPECT_EQ(drawn[0] + drawn[3], 0);
  EXPECT_NEAR(drawn[2], 3000, 150);
}

TEST(WeightedChoice, IsUniformWhenAllWeightsAreZero) {
  Random random(1);
  std::map<std::size_t, int> drawn;
  for (int i = 0; i < 3000; ++i) {
    ++drawn[pickWeighted(std::vector{0.0, 0.0, 0.0}, random)];
  }
  EXPECT_NEAR(drawn[0], 1000, 120);
  EXPECT_NEAR(drawn[2], 1000, 120);
}

}  // namespace
}  // namespace swage::search::testing
