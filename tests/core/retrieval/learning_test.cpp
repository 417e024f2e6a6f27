// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/learning.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/retrieval/finder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::retrieval {
namespace {

using ::testing::SizeIs;

class LearningTest : public ::testing::Test {
 protected:
  // A unit with one piece; counts how often it is read.
  Unit unit(const std::string& name, const std::string& stamp, const std::string& title) {
    return {name, stamp, [this, name, title]() -> Result<std::vector<domain::PatternEntry>> {
              ++m_reads;
              domain::PatternEntry entry;
              entry.key = name;
              entry.title = title;
              return std::vector{entry};
            }};
  }
  std::vector<Unit> manyUnits() {
    std::vector<Unit> units;
    for (int i = 0; i < 40; ++i) {
      units.push_back(unit("unit" + std::to_string(i), "1", "piece about subject" + std::to_string(i)));
    }
    return units;
  }
  std::string firstFor(const std::string& text) {
    const auto finder = Finder::over(*m_index);
    const auto found = finder->find({.text = text, .limit = 1});
    return found && !found->empty() ? found->front().entry.key : std::string();
  }

  testing::TempDir m_folder;
  Result<store::PatternIndex> m_index = store::PatternIndex::open(m_folder / "sub/patterns.sqlite");
  int m_reads = 0;
};

TEST_F(LearningTest, ReadsEverythingOnceAndThenNothing) {
  ASSERT_THAT(m_index, testing::IsOk());
  const auto first = refresh(*m_index, manyUnits());
  ASSERT_THAT(first, testing::IsOk());
  EXPECT_TRUE(first->hasLearned);
  EXPECT_EQ(m_reads, 40);
  const auto second = refresh(*m_index, manyUnits());
  ASSERT_THAT(second, testing::IsOk());
  EXPECT_EQ(second->units, 0U);
  EXPECT_EQ(m_reads, 40);
  EXPECT_EQ(firstFor("subject7"), "unit7");
}

TEST_F(LearningTest, ReadsWhatHasChangedAloneWhileItIsLittle) {
  ASSERT_THAT(refresh(*m_index, manyUnits()), testing::IsOk());
  std::vector<Unit> units = manyUnits();
  units[3] = unit("unit3", "2", "something about giraffes");
  const auto refreshed = refresh(*m_index, units);
  ASSERT_THAT(refreshed, testing::IsOk());
  EXPECT_EQ(refreshed->units, 1U);
  EXPECT_FALSE(refreshed->hasLearned);
  EXPECT_EQ(m_reads, 41);
  EXPECT_EQ(firstFor("giraffes"), "unit3");
}

TEST_F(LearningTest, LearnsAnewWhereMuchHasChanged) {
  ASSERT_THAT(refresh(*m_index, manyUnits()), testing::IsOk());
  std::vector<Unit> units = manyUnits();
  units.resize(20);
  const auto refreshed = refresh(*m_index, units);
  ASSERT_THAT(refreshed, testing::IsOk());
  EXPECT_TRUE(refreshed->hasLearned);
  EXPECT_EQ(refreshed->gone, 20U);
  EXPECT_EQ(Finder::over(*m_index)->size(), 20U);
}

TEST_F(LearningTest, AUnitThatCannotBeReadIsLeftOut) {
  std::vector<Unit> units = manyUnits();
  units[0].read = []() -> Result<std::vector<domain::PatternEntry>> { return Error(ErrorKind::Io, "gone"); };
  ASSERT_THAT(refresh(*m_index, units), testing::IsOk());
  EXPECT_EQ(Finder::over(*m_index)->size(), 39U);
}

TEST_F(LearningTest, ADamagedIndexIsMadeAnew) {
  const auto file = m_folder / "damaged.sqlite";
  std::ofstream(file) << std::string(10000, 'x');
  auto index = store::PatternIndex::open(file);
  ASSERT_THAT(index, testing::IsOk());
  ASSERT_THAT(refresh(*index, manyUnits()), testing::IsOk());
  const auto all = index->patterns();
  ASSERT_THAT(all, testing::IsOk());
  EXPECT_THAT(*all, SizeIs(40));
}

}  // namespace
}  // namespace swage::retrieval
