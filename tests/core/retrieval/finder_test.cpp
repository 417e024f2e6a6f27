// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/finder.h"

#include <gmock/gmock.h>

#include "core/retrieval/learning.h"
#include "tests/core/retrieval/questions.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::retrieval {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class FinderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(m_index, testing::IsOk());
    ASSERT_THAT(refresh(*m_index, testing::ownUnits()), testing::IsOk());
    m_finder = std::make_unique<Finder>(Finder::over(*m_index).value());
  }
  std::vector<std::string> keys(const Question& question) const {
    std::vector<std::string> found;
    const std::vector<Found> all = m_finder->find(question).value();
    for (const Found& one : all) {
      found.push_back(one.entry.key);
    }
    return found;
  }

  testing::TempDir m_folder;
  Result<store::PatternIndex> m_index = store::PatternIndex::open(m_folder / "patterns.sqlite");
  std::unique_ptr<Finder> m_finder;
};

TEST_F(FinderTest, FindsWithItsBodyAndSaysByWhat) {
  const auto found = m_finder->find({.text = "H200 memory bandwidth", .limit = 1});
  ASSERT_THAT(found, testing::IsOk());
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_EQ(found->front().entry.key, "data sheet/h200_sxm");
  EXPECT_THAT(found->front().entry.body, ::testing::HasSubstr("4800 GB/s"));
  EXPECT_GT(found->front().rankByWords, 0);
  EXPECT_GT(found->front().rankByVector, 0);
}

TEST_F(FinderTest, FiltersByOperatorArchitectureTypeAndBottleneck) {
  const Question softmax{.text = "long rows", .operatorName = "softmax", .limit = 30};
  EXPECT_THAT(keys(softmax), Contains("catalogue/cuda/row_cluster"));
  EXPECT_THAT(keys(softmax), Not(Contains("catalogue/cuda/product")));
  const Question cpu{.text = "softmax long rows", .architecture = "cpu", .limit = 30};
  EXPECT_THAT(keys(cpu), Contains("catalogue/cpu/split"));
  EXPECT_THAT(keys(cpu), Each(::testing::StartsWith("catalogue/cpu/")));
  const Question volta{.text = "matmul", .architecture = "sm_70", .limit = 30};
  EXPECT_THAT(keys(volta), Not(Contains("catalogue/cuda/product_wgmma")));
  const Question latency{.text = "rows", .bottleneck = "latency", .limit = 30};
  EXPECT_THAT(keys(latency), Contains("catalogue/cuda/row_split"));
  EXPECT_THAT(keys(latency), Not(Contains("catalogue/cuda/row_shared")));
  EXPECT_THAT(keys({.text = "softmax", .operatorName = "softmax", .type = "int8"}), IsEmpty());
}

TEST_F(FinderTest, AModelsPointsAreAThirdRank) {
  std::vector<Found> found(3);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].entry.key = std::string(1, static_cast<char>('a' + i));
    found[i].score = 1.0 / 61.0;
  }
  rankByPoints(found, {1.0F, 0.0F}, {{0.0F, 1.0F}, {1.0F, 1.0F}, {8.0F, 0.1F}});
  EXPECT_EQ(found[0].entry.key, "c");
  EXPECT_EQ(found[0].rankByModel, 1);
  EXPECT_EQ(found[1].entry.key, "b");
  EXPECT_EQ(found[2].entry.key, "a");
}

TEST_F(FinderTest, AnyTextIsAQuestion) {
  for (const char* text : {"", "\"", "a OR b)", "NEAR(", "*", "softmax\" OR \"1", "\xFF\xFE", "title:softmax"}) {
    EXPECT_THAT(m_finder->find({.text = text}), testing::IsOk()) << text;
  }
  EXPECT_THAT(keys({.text = "softmax", .limit = 0}), IsEmpty());
}

}  // namespace
}  // namespace swage::retrieval
