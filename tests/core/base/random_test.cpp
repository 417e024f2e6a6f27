// SPDX-License-Identifier: Apache-2.0
#include "core/base/random.h"

#include <array>
#include <vector>

#include <gmock/gmock.h>

namespace swage {
namespace {

// The published reference implementation of SplitMix64 gives these for the seed 1234567.
TEST(Random, IsSplitMix64) {
  Random random(1234567);
  const std::array<std::uint64_t, 5> expected{6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                              4593380528125082431ULL, 16408922859458223821ULL};
  for (const std::uint64_t value : expected) {
    EXPECT_EQ(random.next(), value);
  }
}

TEST(Random, RepeatsForTheSameSeedAndDiffersForAnother) {
  Random first(7);
  Random second(7);
  Random other(8);
  const std::uint64_t drawn = first.next();
  EXPECT_EQ(drawn, second.next());
  EXPECT_NE(drawn, other.next());
}

TEST(Random, DrawsBelowItsBoundAndEveryValue) {
  Random random(1);
  std::vector<int> seen(6);
  for (int i = 0; i < 6000; ++i) {
    ++seen[random.below(6)];
  }
  EXPECT_THAT(seen, ::testing::Each(::testing::AllOf(::testing::Gt(850), ::testing::Lt(1150))));
}

TEST(Random, DrawsUnitsWithMeanOneHalf) {
  Random random(1);
  double sum = 0.0;
  for (int i = 0; i < 100000; ++i) {
    const double unit = random.unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    sum += unit;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Random, AForkDoesNotDependOnLaterDraws) {
  Random first(3);
  Random second(3);
  Random fork = first.fork();
  Random sameFork = second.fork();
  for (int i = 0; i < 10; ++i) {
    static_cast<void>(second.next());
  }
  EXPECT_EQ(fork.next(), sameFork.next());
}

}  // namespace
}  // namespace swage
