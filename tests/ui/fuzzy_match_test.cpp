// SPDX-License-Identifier: Apache-2.0
#include "ui/models/fuzzy_match.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include "ui/models/locator_model.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::ElementsAre;

TEST(FuzzyMatch, NeedsTheCharactersInTheirOrder) {
  EXPECT_TRUE(fuzzyMatch(u"opt"_s, u"Open Task"_s).has_value());
  EXPECT_TRUE(fuzzyMatch(u"OPEN task"_s, u"open task"_s).has_value());
  EXPECT_FALSE(fuzzyMatch(u"tpo"_s, u"Open Task"_s).has_value());
  EXPECT_FALSE(fuzzyMatch(u"x"_s, {}).has_value());
  EXPECT_TRUE(fuzzyMatch({}, u"anything"_s).has_value());
}

TEST(FuzzyMatch, TellsWhichCharactersMatched) {
  EXPECT_THAT(fuzzyMatch(u"ot"_s, u"Open Task"_s)->positions, ElementsAre(0, 5));
  EXPECT_THAT(fuzzyMatch(u"ask"_s, u"Open Task"_s)->positions, ElementsAre(6, 7, 8));
  EXPECT_THAT(fuzzyMatch(u"a2c0"_s, u"A2B1C0"_s)->positions, ElementsAre(0, 1, 4, 5));
}

TEST(FuzzyMatch, PrefersBeginningsOfWordsThenRunsThenShortTexts) {
  const auto score = [](const QString& pattern, const QString& text) { return fuzzyMatch(pattern, text)->score; };
  EXPECT_GT(score(u"rl"_s, u"Reset Layout"_s), score(u"rl"_s, u"Colour List"_s));
  EXPECT_GT(score(u"set"_s, u"Settings"_s), score(u"set"_s, u"Search every test"_s));
  EXPECT_GT(score(u"run"_s, u"Run"_s), score(u"run"_s, u"Run everything that is in the record again"_s));
  EXPECT_GT(score(u"fb"_s, u"followBest"_s), score(u"fb"_s, u"halfbaked"_s));
}

TEST(LocatorModel, KeepsWhatMatchesBestFirstAndDisabledLast) {
  LocatorModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.setSource([](const QString&) {
    return std::vector<LocatorEntry>{
        {.text = u"Start"_s, .detail = u"Run"_s, .keys = u"F5"_s, .enabled = false, .run = {}},
        {.text = u"Restore a task"_s, .detail = u"File"_s, .keys = {}, .enabled = true, .run = {}},
        {.text = u"Stay"_s, .detail = u"View"_s, .keys = {}, .enabled = true, .run = {}}};
  });
  EXPECT_EQ(model.rowCount(), 3);
  model.setQuery(u"sta"_s);
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.entry(0).text, u"Stay"_s);
  EXPECT_EQ(model.entry(2).text, u"Start"_s);
  EXPECT_FALSE(model.flags(model.index(2, 0)).testFlag(Qt::ItemIsEnabled));
  model.setQuery(u"file"_s);
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.index(0, 0).data(), u"Restore a task"_s);
  EXPECT_TRUE(model.index(0, 0).data(LocatorModel::PositionsRole).value<QList<int>>().empty());
}

TEST(LocatorModel, AsksItsSourceForEachQuery) {
  LocatorModel model;
  model.setSource([](const QString& query) {
    return std::vector<LocatorEntry>{{.text = query + u"!"_s, .detail = {}, .keys = {}, .enabled = true, .run = {}}};
  });
  model.setQuery(u"389"_s);
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.entry(0).text, u"389!"_s);
}

}  // namespace
}  // namespace swage::ui
