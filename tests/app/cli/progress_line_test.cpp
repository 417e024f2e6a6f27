// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress_line.h"

#include <gmock/gmock.h>

#include "tests/support/fake_clock.h"

namespace swage::cli {
namespace {

services::Progress searching() {
  services::Progress progress;
  progress.state = services::RunState::Running;
  progress.stage = "compiling 2, verify";
  progress.elapsedSeconds = 18.0;
  progress.budgetSeconds = 60.0;
  progress.evaluations = 142;
  progress.correct = 97;
  progress.perSecond = 7.88;
  progress.bestSpeedup = domain::Speedup::exactly(2.208);
  progress.filledCells = 5;
  return progress;
}

TEST(ProgressLine, SaysBestCountRateAndTimeLeft) {
  EXPECT_EQ(ProgressLine::text(searching()),
            "running: best 2.21x, 142 candidates (97 correct, 5 cells), 7.9/s, 42 s left; compiling 2, verify");
}

TEST(ProgressLine, WithoutATimeBudgetSaysHowManyAreLeft) {
  services::Progress progress = searching();
  progress.budgetSeconds = 0.0;
  progress.maxEvaluations = 150;
  EXPECT_THAT(ProgressLine::text(progress), ::testing::HasSubstr("8 left"));
}

TEST(ProgressLine, IsOneLineInThirtySecondsWithoutATerminal) {
  testing::FakeClock clock;
  std::string written;
  ProgressLine line(
      ProgressLine::Mode::Lines, [&](std::string_view text) { written += text; }, clock.now());
  for (int i = 0; i < 61; ++i) {
    line.show(searching());
    clock.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 3);
  EXPECT_EQ(written.find('\x1b'), std::string::npos);
}

TEST(ProgressLine, EachStageOfThePreparationHasItsLine) {
  testing::FakeClock clock;
  std::string written;
  ProgressLine line(
      ProgressLine::Mode::Lines, [&](std::string_view text) { written += text; }, clock.now());
  services::Progress progress;
  progress.state = services::RunState::Preparing;
  for (const char* stage : {"starting the worker", "starting the worker", "torch.compile"}) {
    progress.stage = stage;
    line.show(progress);
  }
  EXPECT_EQ(written, "preparing: starting the worker\npreparing: torch.compile\n");
}

TEST(ProgressLine, CountsInPlainWords) {
  services::Progress progress = searching();
  progress.evaluations = 1;
  progress.filledCells = 1;
  EXPECT_THAT(ProgressLine::text(progress), ::testing::HasSubstr(" 1 candidate (97 correct, 1 cell), "));
}

TEST(ProgressLine, HasABarOfTheBudgetThatIsUsedUp) {
  EXPECT_EQ(ProgressLine::bar(searching()), "[######--------------]  30 %  ");
  services::Progress progress = searching();
  progress.maxEvaluations = 284;
  EXPECT_EQ(ProgressLine::bar(progress), "[##########----------]  50 %  ") << "whatever is nearer to its end";
  progress.evaluations = 400;
  EXPECT_THAT(ProgressLine::bar(progress), ::testing::HasSubstr("100 %"));
  progress.state = services::RunState::Preparing;
  EXPECT_EQ(ProgressLine::bar(progress), "");
}

TEST(ProgressLine, HasABarOfTheSelfTest) {
  EXPECT_EQ(ProgressLine::bar(selfTestProgress(30, 90)), "[######--------------]  33 %  ");
  EXPECT_EQ(ProgressLine::text(selfTestProgress(30, 90)), "preparing: self-test 30 of 90");
}

TEST(ProgressLine, OfASelfTestIsALineInThirtySecondsWithoutATerminal) {
  testing::FakeClock clock;
  std::string written;
  ProgressLine line(
      ProgressLine::Mode::Lines, [&](std::string_view text) { written += text; }, clock.now());
  for (int done = 0; done <= 31; ++done) {
    line.show(selfTestProgress(done, 90));
    clock.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(written, "preparing: self-test 0 of 90\npreparing: self-test 30 of 90\n");
}

TEST(ProgressLine, NeverTakesMoreThanOneLineOfTheTerminal) {
  testing::FakeClock clock;
  std::string written;
  ProgressLine line(
      ProgressLine::Mode::Terminal, [&](std::string_view text) { written += text; }, clock.now(), [] { return 40; });
  line.show(searching());
  EXPECT_EQ(columnsOf(written.substr(std::string_view("\r\x1b[2K").size())), 39U);
}

TEST(ProgressFilter, LetsThroughWhatIsNewAndASignOfLifeAfterHalfAMinute) {
  testing::FakeClock clock;
  ProgressFilter filter(clock.now());
  services::Progress progress = searching();
  EXPECT_TRUE(filter.isNews(progress));
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    progress.elapsedSeconds += 1.0;
    EXPECT_FALSE(filter.isNews(progress));
  }
  progress.evaluations += 1;
  EXPECT_TRUE(filter.isNews(progress));
  clock.advance(std::chrono::seconds(30));
  EXPECT_TRUE(filter.isNews(progress));
}

TEST(ProgressLine, OnATerminalIsWrittenOverAndTakenAway) {
  testing::FakeClock clock;
  std::string written;
  ProgressLine line(
      ProgressLine::Mode::Terminal, [&](std::string_view text) { written += text; }, clock.now());
  line.clear();
  EXPECT_EQ(written, "");
  line.show(searching());
  EXPECT_EQ(written.find('\n'), std::string::npos);
  written.clear();
  line.clear();
  EXPECT_EQ(written, "\r\x1b[2K");
}

}  // namespace
}  // namespace swage::cli
