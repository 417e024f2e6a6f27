// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <iterator>

#include "core/retrieval/learning.h"
#include "tests/core/retrieval/questions.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::retrieval {
namespace {

using ::testing::SizeIs;

constexpr double kRecall = 0.9;

double recallOver(const std::vector<Unit>& units, const std::vector<testing::LabelledQuestion>& questions,
                  std::string& missed) {
  const testing::TempDir folder;
  auto index = store::PatternIndex::open(folder / "patterns.sqlite");
  EXPECT_THAT(index, testing::IsOk());
  EXPECT_THAT(refresh(*index, units), testing::IsOk());
  const auto finder = Finder::over(*index);
  EXPECT_THAT(finder, testing::IsOk());
  return testing::recallAtFive(*finder, questions, missed);
}

TEST(Recall, OfTheCatalogueAndTheDataSheetsIsNineTenths) {
  std::vector<testing::LabelledQuestion> questions = testing::labelledQuestions();
  ASSERT_THAT(questions, SizeIs(100));
  std::erase_if(questions, [](const auto& question) { return question.needsInductor(); });
  std::string missed;
  EXPECT_GE(recallOver(testing::ownUnits(), questions, missed), kRecall) << missed;
}

TEST(Recall, OfAllQuestionsWithTheInstalledCompilerOfPyTorchIsNineTenths) {
  std::vector<Unit> units = testing::inductorUnits();
  if (units.empty()) {
    GTEST_SKIP() << "the build has no environment with PyTorch";
  }
  std::vector<Unit> own = testing::ownUnits();
  std::move(own.begin(), own.end(), std::back_inserter(units));
  std::string missed;
  EXPECT_GE(recallOver(units, testing::labelledQuestions(), missed), kRecall) << missed;
}

}  // namespace
}  // namespace swage::retrieval
