// SPDX-License-Identifier: Apache-2.0
#include "core/judge/recorded_space.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace swage::judge {
namespace {

using domain::Genome;
using domain::OperatorKind;
using ::testing::UnorderedElementsAre;

Genome whole(const std::string& pattern, std::int64_t a, std::int64_t b) {
  return {{{{0, 1}, pattern, {{"a", a}, {"b", b}}}}};
}
Genome halves(std::int64_t a) {
  return {{{{0}, "p", {{"a", a}}}, {{1}, "p", {{"a", a}}}}};
}

class RecordedSpaceTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<Genome> vary(OperatorKind kind, const Genome& genome, const Genome* other = nullptr) {
    return space.vary(kind, genome, other, nullptr, random);
  }

  RecordedSpace space{{whole("p", 1, 1), whole("p", 4, 1), whole("p", 2, 1), whole("p", 1, 8), whole("p", 8, 8),
                       whole("q", 1, 1), halves(1)},
                      2};
  Random random{1};
};

TEST_F(RecordedSpaceTest, BeginsWithItsSeeds) {
  EXPECT_EQ(space.seeds(), (std::vector<Genome>{whole("p", 1, 1), whole("p", 4, 1)}));
}

TEST_F(RecordedSpaceTest, NeighboursDifferInOneParameterByTheNearestStepThatWasRecorded) {
  EXPECT_THAT(space.neighbours(whole("p", 1, 1)), UnorderedElementsAre(whole("p", 2, 1), whole("p", 1, 8)));
  EXPECT_THAT(space.neighbours(whole("p", 2, 1)), UnorderedElementsAre(whole("p", 1, 1), whole("p", 4, 1)));
}

TEST_F(RecordedSpaceTest, VariesToWhatWasRecordedAndToNothingElse) {
  EXPECT_EQ(vary(OperatorKind::PatternSwap, whole("p", 4, 1)), whole("q", 1, 1));
  EXPECT_EQ(vary(OperatorKind::Split, whole("q", 1, 1)), halves(1));
  EXPECT_EQ(vary(OperatorKind::Split, halves(1)), std::nullopt);
  const auto merged = vary(OperatorKind::Merge, halves(1));
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->regions.size(), 1U);
  const auto changed = vary(OperatorKind::Parameter, whole("p", 1, 1));
  ASSERT_TRUE(changed);
  EXPECT_NE(*changed, whole("p", 1, 1));
  EXPECT_EQ(domain::structureText(*changed), domain::structureText(whole("p", 1, 1)));
}

TEST_F(RecordedSpaceTest, GivesOnlyWhatItHas) {
  for (int i = 0; i < 50; ++i) {
    const Genome genome = space.fresh(random);
    EXPECT_NE(std::find(space.all().begin(), space.all().end(), genome), space.all().end());
  }
}

}  // namespace
}  // namespace swage::judge
