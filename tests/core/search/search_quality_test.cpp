// SPDX-License-Identifier: Apache-2.0
// How good the search is on landscapes whose optimum is known. Relations with fixed seeds, no clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/random.h"
#include "core/search/searcher.h"
#include "tests/core/search/fake_space.h"

namespace swage::search::testing {
namespace {

constexpr int kBudget = 200;
constexpr int kSeeds = 40;
constexpr double kFailed = std::numeric_limits<double>::infinity();

// Five parameters of eight levels (32,768 points), shaped like a tuning space: a valley whose position in one
// parameter depends on another, a penalty for odd distances (what alignment does to tile sizes), noise that belongs to
// the point, and a corner that does not fit into shared memory.
double rugged(const domain::Genome& genome) {
  constexpr std::array kOptimum{5.0, 2.0, 6.0, 1.0, 4.0};
  constexpr std::array kSteepness{0.05, 0.08, 0.03, 0.10, 0.04};
  const auto x = coordinates(genome);
  if ((x[2] + 1) * (x[0] + 1) > 48) {
    return kFailed;
  }
  double time = 1.0;
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = static_cast<double>(x[i]) - kOptimum[i];
    time += kSteepness[i] * distance * distance;
    time += 0.06 * (1.0 - std::cos(std::numbers::pi * distance));
    key = key * 8 + static_cast<std::uint64_t>(x[i]);
  }
  time +=
      0.15 * std::abs(static_cast<double>(x[0] - x[4]) - 1.0) + 0.05 * std::abs(static_cast<double>(x[1] * x[3] - 2));
  return 1000.0 * time * (1.0 + 0.03 * Random(key).unit());
}

Outcome outcomeOf(double time, domain::CandidateId candidate) {
  if (!std::isfinite(time)) {
    return {Outcome::Kind::Failed, candidate, std::nullopt, 0.0, {}};
  }
  return {Outcome::Kind::Correct, candidate, cell(1), time, domain::Speedup::exactly(1000.0 / time)};
}

const FakeSpace& ruggedSpace() {
  static const FakeSpace space({.nodes = 1, .patterns = 1, .parameters = 5, .levels = 8, .seeds = 1});
  return space;
}

double optimum() {
  static const double best = [] {
    double found = kFailed;
    for (const auto& genome : ruggedSpace().wholeRegionGenomes()) {
      found = std::min(found, rugged(genome));
    }
    return found;
  }();
  return best;
}

// True when `next` gives a point within `goal` of the optimum among its first kBudget.
template <class Next>
bool reaches(double goal, Next next) {
  for (int i = 0; i < kBudget; ++i) {
    if (optimum() / next() >= goal) {
      return true;
    }
  }
  return false;
}

bool searcherReaches(double goal, std::uint64_t seed) {
  Searcher searcher(ruggedSpace(), {.seed = seed});
  return reaches(goal, [&] {
    const auto proposal = searcher.next();
    if (!proposal) {
      return kFailed;
    }
    const double time = rugged(*proposal->genome);
    searcher.report(proposal->id, outcomeOf(time, domain::CandidateId(proposal->id.value())));
    return time;
  });
}

bool randomReaches(double goal, std::uint64_t seed) {
  Random random(seed);
  return reaches(goal, [&] { return rugged(ruggedSpace().fresh(random)); });
}

template <class Reaches>
int seedsThat(Reaches reachesGoal) {
  int reached = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    reached += reachesGoal(0.95, seed) ? 1 : 0;
  }
  return reached;
}

TEST(SearchQuality, ReachesTheOptimumOfARuggedSpaceWhereRandomSearchDoesNot) {
  EXPECT_GE(seedsThat(searcherReaches), kSeeds * 8 / 10);
  EXPECT_LT(seedsThat(randomReaches), kSeeds * 2 / 10);
}

}  // namespace
}  // namespace swage::search::testing
