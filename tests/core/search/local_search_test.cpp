// SPDX-License-Identifier: Apache-2.0
#include "core/search/local_search.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/core/search/fake_space.h"

namespace swage::search::testing {
namespace {

Outcome timed(double time, std::int64_t candidate = 1, Outcome::Kind kind = Outcome::Kind::Correct) {
  return {kind, domain::CandidateId(candidate), cell(1), time, domain::Speedup::exactly(1000.0 / time)};
}

domain::Genome withPattern(domain::Genome genome, std::string pattern) {
  genome.regions.front().pattern = std::move(pattern);
  return genome;
}

// Parameters in which two points differ.
int distance(const domain::Genome& a, const domain::Genome& b) {
  int differing = 0;
  for (const auto& [name, value] : a.regions.front().parameters) {
    differing += b.regions.front().parameters.at(name) != value ? 1 : 0;
  }
  return differing;
}

class LocalSearchTest : public ::testing::Test {
 protected:
  void add(const domain::Genome& genome, const Outcome& outcome, int island = 0) {
    tried.add(genome);
    search.countProposed(genome);
    search.record(genome, outcome, island);
  }

  FakeSpace space{{.nodes = 1, .patterns = 2, .parameters = 2, .levels = 5, .seeds = 0}};
  LocalSearch search{space, 1};
  TriedGenomes tried;
  Random random{1};
};

TEST_F(LocalSearchTest, HasNothingToSayWithoutATime) {
  EXPECT_FALSE(search.suggest(tried, {}, random).has_value());
  add(point({2, 2}), {Outcome::Kind::Failed, domain::CandidateId(1), cell(1), 0.0, {}});
  EXPECT_FALSE(search.suggest(tried, {}, random).has_value());
}

TEST_F(LocalSearchTest, StartsWithOneStepFromTheBest) {
  add(point({4, 4}), timed(20.0, 1), 1);
  add(point({2, 2}), timed(10.0, 2), 3);
  for (int i = 0; i < 20; ++i) {
    const auto found = search.suggest(tried, {}, random);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(distance(found->genome, point({2, 2})), 1) << text(found->genome);
    EXPECT_EQ(found->parent, domain::CandidateId(2));
    EXPECT_EQ(found->island, 3);
  }
}

TEST_F(LocalSearchTest, TriesWhatIsEstimatedToBeFastFirst) {
  space.seconds = [](const domain::Genome& genome) { return 1.0 + static_cast<double>(coordinates(genome)[0]); };
  add(point({2, 2}), timed(10.0));
  EXPECT_EQ(coordinates(search.suggest(tried, {}, random)->genome), (std::vector<std::int64_t>{1, 2}));
  tried.add(point({1, 2}));
  EXPECT_EQ(coordinates(search.suggest(tried, {}, random)->genome)[0], 2) << "not the slower one";
}

TEST_F(LocalSearchTest, KicksWhenEveryNeighbourOfTheBestIsTried) {
  add(point({0, 0}), timed(10.0));
  tried.add(point({1, 0}));
  tried.add(point({0, 1}));
  const auto found = search.suggest(tried, {}, random);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(tried.contains(found->genome));
}

TEST_F(LocalSearchTest, LearnsFromScreenedOutCandidatesAndNotFromDuplicates) {
  add(point({0, 0}), timed(10.0, 1, Outcome::Kind::ScreenedOut));
  EXPECT_TRUE(search.suggest(tried, {}, random).has_value());
  LocalSearch other(space, 1);
  other.record(point({0, 0}), timed(10.0, 1, Outcome::Kind::Duplicate), 0);
  EXPECT_FALSE(other.suggest(tried, {}, random).has_value());
}

TEST_F(LocalSearchTest, TreatsTimesOfADamagedRecordAsFailures) {
  add(point({0, 0}), timed(-1.0));
  add(point({1, 0}), timed(std::nan("")));
  EXPECT_FALSE(search.suggest(tried, {}, random).has_value());
}

TEST_F(LocalSearchTest, GivesMostToTheLeaderAndSomethingToEveryHolderOfACell) {
  FakeSpace wide({.nodes = 1, .patterns = 4, .parameters = 3, .levels = 9, .seeds = 0});
  LocalSearch concentrated(wide, 1);
  const std::array times{10.0, 13.0, 100.0, 100.0};
  std::map<std::string, int> drawn;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto genome = withPattern(point({4, 4, 4}), fmt::format("p{}", i));
    concentrated.record(genome, timed(times[i]), 0);
  }
  const std::set holders{domain::structureText(withPattern(point({4, 4, 4}), "p2"))};
  for (int i = 0; i < 2000; ++i) {
    ++drawn[concentrated.suggest(tried, holders, random)->genome.regions.front().pattern];
  }
  EXPECT_GT(drawn["p0"], drawn["p1"]);
  EXPECT_GT(drawn["p1"], 2 * drawn["p2"]);
  EXPECT_GT(drawn["p2"], drawn["p3"]);
  EXPECT_GT(drawn["p3"], 0);
}

TEST_F(LocalSearchTest, CallsAStructureExploredAfterAFewCandidates) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(search.isExplored(point({0, 0})));
    search.countProposed(point({i, 0}));
  }
  EXPECT_TRUE(search.isExplored(point({0, 0})));
  EXPECT_FALSE(search.isExplored(withPattern(point({0, 0}), "p1")));
}

TEST_F(LocalSearchTest, SweepsAlsoAroundFailuresUntilEverythingIsTried) {
  add(point({0, 0}), {Outcome::Kind::Failed, domain::CandidateId(1), std::nullopt, 0.0, {}});
  int swept = 0;
  while (const auto found = search.sweep(tried)) {
    ASSERT_FALSE(tried.contains(found->genome));
    add(found->genome, {Outcome::Kind::Failed, domain::CandidateId(1), std::nullopt, 0.0, {}});
    ++swept;
  }
  EXPECT_EQ(swept, 24);  // 5 * 5 less the first
}

// A smooth bowl: the surrogate must find its way with far fewer tries than chance needs.
TEST(StructureMemory, SurrogateBeatsRandomSearchOnAQuadraticSpace) {
  const FakeSpace space({.nodes = 1, .patterns = 1, .parameters = 4, .levels = 12, .seeds = 0});
  const auto time = [](const domain::Genome& genome) {
    double sum = 10.0;
    const auto x = coordinates(genome);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double away = static_cast<double>(x[i]) - 2.0 * static_cast<double>(i + 1);
      sum += static_cast<double>(i + 1) * away * away;
    }
    return sum;
  };
  int wins = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    StructureMemory memory(space, seed);
    TriedGenomes tried;
    Random guided(seed);
    Random blind(seed + 100);
    double bestBlind = 1e9;
    domain::Genome genome = space.fresh(guided);
    for (int i = 0; i < 60; ++i) {
      tried.add(genome);
      memory.addTimed({genome, domain::CandidateId(i), 0, std::log(time(genome))});
      genome = memory.suggest(tried, guided)->genome;
      bestBlind = std::min(bestBlind, time(space.fresh(blind)));
    }
    wins += std::exp(memory.bestLogTime()) < bestBlind ? 1 : 0;
  }
  EXPECT_GE(wins, 9);
}

TEST(StructureMemory, AvoidsTheCornerWhereEverythingFails) {
  const FakeSpace space({.nodes = 1, .patterns = 1, .parameters = 2, .levels = 16, .seeds = 0});
  StructureMemory memory(space, 1);
  TriedGenomes tried;
  for (std::int64_t i = 0; i < 8; ++i) {
    // Equal times everywhere, so that only the failures on one side tell directions apart.
    tried.add(point({8, i + 4}));
    memory.addTimed({point({8, i + 4}), domain::CandidateId(i), 0, 1.0});
    for (std::int64_t bad = 9; bad < 12; ++bad) {
      tried.add(point({bad, i + 4}));
      memory.addFailed(point({bad, i + 4}));
    }
  }
  Random random(1);
  int intoCorner = 0;
  for (int i = 0; i < 100; ++i) {
    intoCorner += coordinates(memory.suggest(tried, random)->genome)[0] > 8 ? 1 : 0;
  }
  EXPECT_LT(intoCorner, 20);
}

TEST(StructureMemory, AnswersTheSameAfterTheSameReports) {
  const FakeSpace space({.nodes = 1, .patterns = 1, .parameters = 3, .levels = 8, .seeds = 0});
  StructureMemory asked(space, 1);
  StructureMemory silent(space, 1);
  TriedGenomes tried;
  Random genomes(1);
  for (int i = 0; i < 40; ++i) {
    const auto genome = space.fresh(genomes);
    const double logTime = static_cast<double>(coordinates(genome)[0]);
    tried.add(genome);
    asked.addTimed({genome, domain::CandidateId(i), 0, logTime});
    silent.addTimed({genome, domain::CandidateId(i), 0, logTime});
    Random random(5);
    EXPECT_TRUE(asked.suggest(tried, random).has_value());  // fills its caches on the way
  }
  Random first(9);
  Random second(9);
  EXPECT_EQ(text(asked.suggest(tried, first)->genome), text(silent.suggest(tried, second)->genome));
}

TEST(StructureMemory, GoesOnBeyondWhatOneFitMayCost) {
  const FakeSpace space({.nodes = 1, .patterns = 1, .parameters = 3, .levels = 12, .seeds = 0});
  StructureMemory memory(space, 1);
  TriedGenomes tried;
  Random random(1);
  for (int i = 0; i < 700; ++i) {
    const auto genome = space.fresh(random);
    tried.add(genome);
    memory.addTimed({genome, domain::CandidateId(i), 0, 0.1 * static_cast<double>(coordinates(genome)[1])});
  }
  const auto found = memory.suggest(tried, random);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(tried.contains(found->genome));
}

}  // namespace
}  // namespace swage::search::testing
