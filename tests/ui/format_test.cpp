// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

TEST(Format, TimesHaveThreeDigitsAndTheRightUnit) {
  EXPECT_EQ(formatTime(0.0), u"–"_s);
  EXPECT_EQ(formatTime(812.0), u"812 ns"_s);
  EXPECT_EQ(formatTime(12345.0), u"12.3 µs"_s);
  EXPECT_EQ(formatTime(999'600.0), u"1.00 ms"_s);
  EXPECT_EQ(formatTime(2.5e9), u"2.50 s"_s);
}

TEST(Format, WhatTheEngineSaysBecomesASentenceUnlessItBeginsWithAName) {
  EXPECT_EQ(asSentence("candidate 17 looks slow"), "Candidate 17 looks slow");
  EXPECT_EQ(asSentence("torch.compile was not measured"), "torch.compile was not measured");
  EXPECT_EQ(asSentence("compute-sanitizer is not installed"), "compute-sanitizer is not installed");
  EXPECT_EQ(asSentence("GPU 0 is lost"), "GPU 0 is lost");
  EXPECT_EQ(asSentence(""), "");
}

TEST(Format, IntervalIsItsLargerSideRelativeToTheMedian) {
  EXPECT_EQ(formatInterval(1e6, 0.99e6, 1.02e6), u"1.00 ms ± 2.0 %"_s);
  EXPECT_EQ(formatInterval(1e6, 0.5e6, 1.2e6), u"1.00 ms ± 50 %"_s);
}

TEST(Format, IntervalIsLeftOutWhereThereIsNone) {
  EXPECT_EQ(formatInterval(1e6, 0.0, 0.0), u"1.00 ms"_s);
}

TEST(Format, SpeedupsLoseDigitsAsTheyGrow) {
  EXPECT_EQ(formatSpeedup(0.0), u"–"_s);
  EXPECT_EQ(formatSpeedup(2.314), u"2.31×"_s);
  EXPECT_EQ(formatSpeedup(12.34), u"12.3×"_s);
  EXPECT_EQ(formatSpeedup(123.4), u"123×"_s);
}

TEST(Format, SpeedupsWithAWideIntervalAreMarked) {
  EXPECT_EQ(formatSpeedup(domain::Speedup{1.52, 1.44, 1.6}), u"1.52×"_s);
  EXPECT_EQ(formatSpeedup(domain::Speedup{1.52, 0.9, 2.4}), u"≈1.52×"_s);
  EXPECT_EQ(formatSpeedup(domain::Speedup()), u"–"_s);
}

TEST(Format, SpeedupsCanTellTheirInterval) {
  EXPECT_EQ(formatSpeedupInterval({1.52, 1.44, 1.6}), u"1.52× (1.44 to 1.60)"_s);
  EXPECT_EQ(formatSpeedupInterval({1.52, 0.9, 2.4}), u"≈1.52× (0.90 to 2.40)"_s);
  EXPECT_EQ(formatSpeedupInterval(domain::Speedup::exactly(1.0)), u"1.00×"_s);
  EXPECT_EQ(formatSpeedupInterval({}), u"–"_s);
}

TEST(Format, SpeedupsHaveAMarginInTables) {
  EXPECT_EQ(formatSpeedupMargin({2.0, 1.96, 2.02}), u"2.00× ± 2.0 %"_s);
  EXPECT_EQ(formatSpeedupMargin({2.0, 1.0, 3.6}), u"≈2.00× ± 80 %"_s);
  EXPECT_EQ(formatSpeedupMargin(domain::Speedup::exactly(1.0)), u"1.00×"_s);
}

TEST(Format, CountsAreGroupedWhateverTheLocale) {
  EXPECT_EQ(formatCount(7412), u"7,412"_s);
}

TEST(Format, DurationsCountMinutesAndHours) {
  EXPECT_EQ(formatDuration(65.9), u"1:05"_s);
  EXPECT_EQ(formatDuration(3605.0), u"1:00:05"_s);
  EXPECT_EQ(formatDuration(-1.0), u"0:00"_s);
}

TEST(ParseDuration, UnderstandsUnitsAndTheirSums) {
  EXPECT_EQ(parseDuration(u"90"_s), 90.0);
  EXPECT_EQ(parseDuration(u"60s"_s), 60.0);
  EXPECT_EQ(parseDuration(u" 1.5 min "_s), 90.0);
  EXPECT_EQ(parseDuration(u"1h30m"_s), 5400.0);
}

TEST(ParseDuration, RefusesWhatIsNoPositiveDuration) {
  for (const QString& text : {u""_s, u"soon"_s, u"-5s"_s, u"0"_s, u"5 weeks"_s, u"9999999h"_s}) {
    EXPECT_EQ(parseDuration(text), std::nullopt) << text.toStdString();
  }
}

TEST(ParseDuration, ReadsWhatEditableDurationWrites) {
  for (const double seconds : {30.0, 60.0, 90.0, 120.0, 100.0, 3600.0, 5400.0}) {
    EXPECT_EQ(parseDuration(editableDuration(seconds)), seconds);
  }
}

TEST(ParseOverrides, SplitsAtSpacesAndTheFirstEqualsSign) {
  const auto parsed = parseOverrides(u" batch=16  shape=(1,2)=x "_s);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, (std::vector<std::pair<std::string, std::string>>{{"batch", "16"}, {"shape", "(1,2)=x"}}));
}

TEST(ParseOverrides, RefusesPartsWithoutNameOrValue) {
  EXPECT_EQ(parseOverrides(u"batch"_s), std::nullopt);
  EXPECT_EQ(parseOverrides(u"=16"_s), std::nullopt);
  EXPECT_EQ(parseOverrides(u"batch="_s), std::nullopt);
}

TEST(TaskCatalogue, NamesAClassOfAModuleByBoth) {
  EXPECT_EQ(taskEntry(u"/models/net.py:Block"_s).name, u"net:Block"_s);
  EXPECT_EQ(taskEntry(u"/models/net.py"_s).name, u"net"_s);
}

TEST(TaskCatalogue, RecentTasksAreUniqueNewestFirstAndFew) {
  QStringList recent;
  for (int i = 0; i < 15; ++i) {
    recent = withRecent(recent, QString::number(i));
  }
  recent = withRecent(recent, u"9"_s);
  EXPECT_EQ(recent.size(), 10);
  EXPECT_EQ(recent.first(), u"9"_s);
  EXPECT_EQ(recent.count(u"9"_s), 1);
}

}  // namespace
}  // namespace swage::ui
