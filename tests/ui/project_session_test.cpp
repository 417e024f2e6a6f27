// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/support/temp_dir.h"
#include "tests/ui/demo_data.h"
#include "ui/models/project_session.h"

namespace swage::ui {
namespace {

using services::RunState;
using swage::testing::kDemoRun;

constexpr int kDeadlineMs = 30000;  // far beyond what a loaded or instrumented program needs

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { swage::testing::fillDemo(record); }

  void startRun() {
    services::RunSpec spec;
    spec.project = folder.path();
    session.start(spec);
    run.enter(RunState::Running);
    run.create(kDemoRun);
  }

  swage::testing::TempDir folder;
  swage::testing::FakeRunService run;
  swage::testing::FakeRecordService record;
  ProjectSession session{run, record};
};

TEST_F(SessionTest, ShowsTheRunItStarted) {
  startRun();
  EXPECT_EQ(record.opened, folder.path());
  EXPECT_EQ(session.shownRun(), kDemoRun);
  EXPECT_TRUE(session.isActive());
}

TEST_F(SessionTest, PassesAThousandEventsOnAsOneFrame) {
  startRun();
  const QSignalSpy frames(&session, &ProjectSession::cellsChanged);
  const QSignalSpy rows(&session, &ProjectSession::candidatesChanged);
  for (int i = 0; i < 1000; ++i) {
    Q_EMIT run.archiveChanged(record.cellRows);
    Q_EMIT run.candidateEvaluated(record.rows.front());
  }
  EXPECT_EQ(frames.size(), 0);
  EXPECT_TRUE(QTest::qWaitFor([&] { return frames.size() == 1 && rows.size() == 1; }, kDeadlineMs));
}

TEST_F(SessionTest, IsActiveUntilFinishedAndNotOnlyUntilTheLastState) {
  startRun();
  bool canStartAtState = true;
  QObject::connect(&run, &services::RunService::stateChanged, &session, [&] { canStartAtState = session.canStart(); });
  run.finish({});
  EXPECT_FALSE(canStartAtState);
  EXPECT_TRUE(session.canStart());
}

TEST_F(SessionTest, DoesNotStartASecondRun) {
  startRun();
  session.start({});
  EXPECT_EQ(run.starts, 1);
}

TEST_F(SessionTest, PausesAndContinues) {
  startRun();
  EXPECT_TRUE(session.canPause());
  session.togglePause();
  EXPECT_EQ(run.pauses, 1);
  run.enter(RunState::Paused);
  session.togglePause();
  EXPECT_EQ(run.resumes, 1);
}

TEST_F(SessionTest, FollowsTheBestUntilTheUserChooses) {
  startRun();
  Q_EMIT run.archiveChanged(record.cellRows);
  const domain::CandidateId best = record.points.back().candidate;
  EXPECT_TRUE(QTest::qWaitFor([&] { return session.selectedCandidate() == best; }, kDeadlineMs));
  session.selectCandidate(domain::CandidateId(3));
  EXPECT_EQ(session.detail()->row.id, domain::CandidateId(3));
  Q_EMIT run.archiveChanged(record.cellRows);
  const QSignalSpy frames(&session, &ProjectSession::cellsChanged);
  EXPECT_TRUE(QTest::qWaitFor([&] { return frames.size() == 1; }, kDeadlineMs));
  EXPECT_EQ(session.selectedCandidate(), domain::CandidateId(3));
  session.followBest();
  EXPECT_EQ(session.selectedCandidate(), best);
}

TEST_F(SessionTest, AChosenCellShowsItsNewBest) {
  startRun();
  const int index = domain::Cell::parse("A1B1C1")->index();
  session.selectCell(index);
  auto cells = record.cellRows;
  cells[static_cast<std::size_t>(index)].best = domain::CandidateId(2);
  Q_EMIT run.archiveChanged(cells);
  EXPECT_TRUE(QTest::qWaitFor([&] { return session.selectedCandidate() == domain::CandidateId(2); }, kDeadlineMs));
}

TEST_F(SessionTest, ReportsTheErrorOfARunButNotACancellation) {
  const QSignalSpy notices(&session, &ProjectSession::noticed);
  startRun();
  services::RunOutcome outcome;
  outcome.state = RunState::Failed;
  outcome.error = Error(ErrorKind::Cancelled, "stopped");
  run.finish(outcome);
  EXPECT_EQ(notices.size(), 0);
  startRun();
  outcome.error = Error(ErrorKind::Environment, "no compiler", "install one");
  run.finish(outcome);
  ASSERT_EQ(notices.size(), 1);
  const auto notice = notices.front().front().value<services::Notice>();
  EXPECT_EQ(notice.text, "no compiler");
  EXPECT_EQ(notice.hint, "install one");
}

TEST_F(SessionTest, ABrokenRecordIsReportedAndNothingIsShown) {
  const QSignalSpy notices(&session, &ProjectSession::noticed);
  record.failure = Error(ErrorKind::Storage, "file is not a database");
  startRun();
  EXPECT_EQ(notices.size(), 1);
  EXPECT_FALSE(session.shownRun().isValid());
}

TEST_F(SessionTest, ShowsWhatTheEndOfTheRunMeasuredAgain) {
  startRun();
  session.selectCandidate(domain::CandidateId(2));
  record.rows[1].timeNs = 4321.0;
  run.finish({});
  ASSERT_TRUE(session.detail());
  EXPECT_EQ(session.detail()->row.timeNs, 4321.0);
}

TEST_F(SessionTest, OffersToResumeOnlyWhatIsUnfinished) {
  session.showRun(kDemoRun);
  EXPECT_FALSE(session.canResumeRecorded());
  record.runRows.front().status = domain::RunStatus::Interrupted;
  session.showRun(kDemoRun);
  EXPECT_TRUE(session.canResumeRecorded());
}

}  // namespace
}  // namespace swage::ui
