// SPDX-License-Identifier: Apache-2.0
#include "core/domain/record/status.h"

#include <gtest/gtest.h>

#include "core/domain/record/event.h"

namespace swage::domain {
namespace {

TEST(RunStatus, HasOneWordThatIsStoredAndOneForAPerson) {
  for (const RunStatus status :
       {RunStatus::Running, RunStatus::Paused, RunStatus::Finished, RunStatus::Interrupted, RunStatus::Failed}) {
    EXPECT_EQ(parseRunStatus(name(status)), status);
  }
  EXPECT_EQ(title(RunStatus::Interrupted), "stopped");
  EXPECT_EQ(title(RunStatus::Finished), "finished");
  EXPECT_FALSE(parseRunStatus("stopped"));
  EXPECT_FALSE(hasEnded(RunStatus::Paused));
  EXPECT_TRUE(hasEnded(RunStatus::Failed));
}

TEST(CandidateStatus, IsThatOfItsEvaluation) {
  const Evaluation evaluations[] = {Duplicate(), Rejected(), CompileFailed(), LaunchFailed(), Wrong(),
                                    Crashed(),   TimedOut(), Cheating(),      Unstable(),     Correct()};
  for (const Evaluation& evaluation : evaluations) {
    const CandidateStatus status = statusOf(evaluation);
    EXPECT_EQ(name(status), statusName(evaluation));
    EXPECT_EQ(parseCandidateStatus(statusName(evaluation)), status);
    EXPECT_TRUE(isEvaluated(status));
  }
  EXPECT_EQ(statusOf(Wrong()), CandidateStatus::Wrong);
  EXPECT_EQ(statusOf(Correct()), CandidateStatus::Correct);
}

TEST(CandidateStatus, WithoutAnEvaluationIsPendingOrNotEvaluated) {
  EXPECT_EQ(parseCandidateStatus("pending"), CandidateStatus::Pending);
  EXPECT_EQ(parseCandidateStatus("not evaluated"), CandidateStatus::NotEvaluated);
  EXPECT_FALSE(isEvaluated(CandidateStatus::NotEvaluated));
  EXPECT_FALSE(parseCandidateStatus("' OR 1=1 --"));
}

TEST(CandidateStatus, FailsUnlessItIsCorrectOrADuplicate) {
  EXPECT_TRUE(hasFailed(CandidateStatus::Wrong));
  for (const CandidateStatus status : {CandidateStatus::Pending, CandidateStatus::NotEvaluated,
                                       CandidateStatus::Duplicate, CandidateStatus::Correct}) {
    EXPECT_FALSE(hasFailed(status)) << name(status);
  }
}

TEST(EventKind, IsReadBackUnlessAnotherVersionWroteIt) {
  for (int kind = static_cast<int>(EventKind::SelfTest); kind <= static_cast<int>(EventKind::Sandbox); ++kind) {
    EXPECT_EQ(eventKindOf(name(static_cast<EventKind>(kind))), static_cast<EventKind>(kind));
  }
  EXPECT_EQ(eventKindOf("paused"), EventKind::Other);
}

}  // namespace
}  // namespace swage::domain
