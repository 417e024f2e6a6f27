// SPDX-License-Identifier: Apache-2.0
#include "ui/models/run_words.h"

#include <gtest/gtest.h>

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using services::Progress;
using services::RunState;
using ui::Budget;

TEST(RunWords, AStoppedRunIsCalledTheSameWhereverItIs) {
  EXPECT_EQ(ui::stateWord(RunState::Interrupted), u"stopped"_s);
  EXPECT_EQ(ui::statusWord(domain::RunStatus::Interrupted), u"stopped"_s);
  EXPECT_EQ(ui::statusWord(domain::RunStatus::Finished), ui::stateWord(RunState::Finished));
  EXPECT_EQ(ui::stateWord(RunState::Idle), u"not started"_s);
}

TEST(RunWords, WherePyTorchWinsARunSaysSoWhenItHasEnded) {
  services::RunSummary run;
  run.status = domain::RunStatus::Finished;
  run.baselineMode = "compile";
  run.best = domain::CandidateId(3);
  run.bestSpeedup = {1.02, 0.99, 1.05};
  const QString said = u"no candidate is significantly faster than PyTorch (torch.compile)"_s;
  EXPECT_EQ(ui::pytorchWinsText(run), said);
  run.status = domain::RunStatus::Running;
  EXPECT_EQ(ui::pytorchWinsText(run), QString()) << "it may still find something";
  run.status = domain::RunStatus::Interrupted;
  run.winner = domain::CandidateId(1);
  EXPECT_EQ(ui::pytorchWinsText(run), said) << "its best were measured once more";
  run.bestSpeedup.low = 1.01;
  EXPECT_EQ(ui::pytorchWinsText(run), QString());
  EXPECT_EQ(ui::pytorchText("eager"), u"PyTorch (eager execution)"_s);
}

TEST(RunWords, ABudgetIsATimeOrANumberOfCandidates) {
  EXPECT_EQ(ui::parseBudget(u"5 min"_s), (Budget{.seconds = 300.0}));
  EXPECT_EQ(ui::parseBudget(u"2,000 Candidates"_s), (Budget{.seconds = 0.0, .evaluations = 2000}));
  EXPECT_EQ(ui::parseBudget(u"1 candidate"_s), (Budget{.seconds = 0.0, .evaluations = 1}));
  EXPECT_EQ(ui::parseBudget(u"0 candidates"_s), std::nullopt);
  EXPECT_EQ(ui::parseBudget(u"soon"_s), std::nullopt);
  for (const Budget& budget : {Budget{.seconds = 90.0}, Budget{.seconds = 0.0, .evaluations = 500}}) {
    EXPECT_EQ(ui::parseBudget(ui::editableBudget(budget)), budget);
  }
}

TEST(RunWords, WhatIsLeftFollowsFromTheBudgetThatEndsFirst) {
  Progress progress;
  EXPECT_EQ(ui::secondsLeft(progress), std::nullopt);
  progress.elapsedSeconds = 20.0;
  progress.budgetSeconds = 60.0;
  EXPECT_EQ(ui::secondsLeft(progress), 40.0);
  progress.maxEvaluations = 100;
  progress.evaluations = 80;
  progress.perSecond = 4.0;
  EXPECT_EQ(ui::secondsLeft(progress), 5.0);
  EXPECT_DOUBLE_EQ(ui::shareDone(progress), 0.8);
  progress.evaluations = 101;
  EXPECT_EQ(ui::secondsLeft(progress), 0.0);
}

TEST(RunWords, TheProgressSaysWhatIsLeftWhileItSearches) {
  Progress progress;
  progress.elapsedSeconds = 54.0;
  progress.budgetSeconds = 60.0;
  EXPECT_EQ(ui::progressText(RunState::Running, progress), u"running · 0:54 / 1:00 · 0:06 left"_s);
  EXPECT_EQ(ui::progressText(RunState::Finished, progress), u"finished · 0:54 / 1:00"_s);
  progress.finishing = true;
  EXPECT_EQ(ui::progressText(RunState::Running, progress), u"running · 0:54 / 1:00"_s);
  progress = {};
  progress.elapsedSeconds = 10.0;
  progress.maxEvaluations = 500;
  progress.evaluations = 100;
  progress.perSecond = 10.0;
  EXPECT_EQ(ui::progressText(RunState::Running, progress),
            u"running · 0:10 · 100 / 500 candidates · about 0:40 left"_s);
}

}  // namespace
}  // namespace swage::testing
