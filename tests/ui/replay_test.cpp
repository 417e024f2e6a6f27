// SPDX-License-Identifier: Apache-2.0
#include "app/workbench/replay_services.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "app/workbench/benchmark.h"
#include "app/workbench/replay_edits.h"
#include "app/workbench/replay_profiles.h"
#include "app/workbench/synthetic_services.h"
#include "tests/support/fake_profile_service.h"
#include "tests/support/result_matchers.h"
#include "tests/ui/demo_data.h"

namespace swage::workbench {
namespace {

using services::RunState;
using swage::testing::IsOk;

class Replay : public ::testing::Test {
 protected:
  Replay() {
    swage::testing::fillDemo(source);
    EXPECT_THAT(record.load(), IsOk());
  }
  [[nodiscard]] std::int64_t count() const { return record.candidateCount(services::CandidateQuery()).value(); }

  swage::testing::FakeRecordService source;
  ReplayRecord record{source};
};

TEST_F(Replay, ShowsWhatHadHappenedByThen) {
  EXPECT_EQ(count(), 0);
  record.setNow(record.end() / 2.0);
  const std::int64_t half = count();
  EXPECT_GT(half, 0);
  EXPECT_LT(half, static_cast<std::int64_t>(source.rows.size()));
  const std::vector<services::HistoryPoint> points = record.history(record.runId()).value();
  for (const services::HistoryPoint& point : points) {
    EXPECT_LE(point.elapsedSeconds, record.now());
  }
  record.setNow(record.end());
  EXPECT_EQ(count(), static_cast<std::int64_t>(source.rows.size()));
}

TEST_F(Replay, LeavesOutWhatWasNeverEvaluated) {
  const auto all = static_cast<std::int64_t>(source.rows.size());
  source.rows.front().status = domain::CandidateStatus::Pending;
  ReplayRecord other(source);
  ASSERT_THAT(other.load(), IsOk());
  other.setNow(other.end());
  EXPECT_EQ(other.candidateCount(services::CandidateQuery()).value(), all - 1);
}

TEST(ReplayProfiles, RefusesToMakeANewOne) {
  swage::testing::FakeProfileService source;
  ReplayProfiles profiles(source);
  QSignalSpy finished(&profiles, &services::ProfileService::finished);
  profiles.start("project", domain::CandidateId(3));
  ASSERT_EQ(finished.count(), 1);
  EXPECT_THAT(
      qvariant_cast<Result<services::ProfileReport>>(finished.front().at(1)),
      swage::testing::IsError(ErrorKind::Unsupported, "the demo cannot profile: it only replays a recorded run"));
}

TEST(ReplayEdits, RefuseToEvaluateWithOneAnswer) {
  ReplayEdits edits;
  QSignalSpy finished(&edits, &services::EditService::finished);
  edits.evaluate({});
  EXPECT_EQ(finished.count(), 0) << "whoever asks is not ready for an answer yet";
  ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 1; }));
  EXPECT_THAT(qvariant_cast<Result<services::EditOutcome>>(finished.front().at(0)),
              swage::testing::IsError(ErrorKind::Unsupported, ::testing::HasSubstr("cannot evaluate an edit")));
}

TEST_F(Replay, SaysThatAnotherTaskIsNotMeasured) {
  ReplayRun run(record, 1.0);
  const QSignalSpy noticed(&run, &services::RunService::noticed);
  services::RunSpec spec;
  spec.task = record.runs()->front().taskName;
  run.start(spec);
  run.stop();
  EXPECT_EQ(noticed.count(), 0);
  spec.task = "/home/user/other.py";
  run.start(spec);
  run.stop();
  ASSERT_EQ(noticed.count(), 1);
  EXPECT_THAT(noticed.front().front().value<services::Notice>().text, ::testing::HasSubstr("is not searched"));
}

TEST_F(Replay, FillsTheCellsFromWhatIsThere) {
  const auto filled = [this] {
    const auto cells = record.cells(record.runId(), std::nullopt).value();
    return std::count_if(cells.begin(), cells.end(), [](const auto& cell) {
      return cell.state == services::CellSummary::State::Filled && cell.best.isValid();
    });
  };
  EXPECT_EQ(filled(), 0);
  record.setNow(record.end());
  EXPECT_GT(filled(), 5);
}

TEST_F(Replay, SortsAndFiltersAsTheRecordDoes) {
  record.setNow(record.end());
  services::CandidateQuery page;
  page.status = domain::CandidateStatus::Correct;
  page.sort = services::CandidateColumn::Speedup;
  page.descending = true;
  page.limit = 5;
  const auto rows = record.candidates(page);
  ASSERT_THAT(rows, IsOk());
  ASSERT_EQ(rows->size(), 5U);
  for (std::size_t i = 1; i < rows->size(); ++i) {
    EXPECT_GE((*rows)[i - 1].speedup.low, (*rows)[i].speedup.low);
    EXPECT_EQ((*rows)[i].status, domain::CandidateStatus::Correct);
  }
}

TEST_F(Replay, PlaysToTheEndAndTellsOfEveryCandidateOnce) {
  ReplayRun run(record, record.end() / 0.3);
  const QSignalSpy evaluated(&run, &services::RunService::candidateEvaluated);
  const QSignalSpy finished(&run, &services::RunService::finished);
  run.start({});
  EXPECT_EQ(run.state(), RunState::Running);
  ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 1; }, 20000));
  EXPECT_EQ(evaluated.count(), static_cast<qsizetype>(source.rows.size()));
  EXPECT_EQ(run.state(), RunState::Finished);
}

TEST_F(Replay, CanBePausedAndStopped) {
  ReplayRun run(record, 1.0);
  const QSignalSpy finished(&run, &services::RunService::finished);
  run.start({});
  run.pause();
  const double paused = record.now();
  // As long as it takes another one to get further.
  ReplayRecord otherRecord(source);
  ASSERT_THAT(otherRecord.load(), IsOk());
  ReplayRun other(otherRecord, 1.0);
  other.start({});
  ASSERT_TRUE(QTest::qWaitFor([&] { return otherRecord.now() > 0.0; }));
  EXPECT_EQ(record.now(), paused);
  run.resume();
  EXPECT_TRUE(QTest::qWaitFor([&] { return record.now() > paused; }));
  run.stop();
  ASSERT_EQ(finished.count(), 1);
  EXPECT_TRUE(finished.front().front().value<services::RunOutcome>().interrupted);
}

TEST(SyntheticRun, ReportsAsManyCandidatesAsItIsTold) {
  SyntheticRecord record;
  SyntheticRun run(record, 10000);
  const QSignalSpy finished(&run, &services::RunService::finished);
  services::RunSpec spec;
  spec.timeBudgetSeconds = 0.3;
  run.start(spec);
  ASSERT_TRUE(QTest::qWaitFor([&] { return finished.count() == 1; }, 20000));
  EXPECT_GE(run.events(), 2900);
  EXPECT_EQ(record.count(), run.events());
}

TEST(Percentile, IsTheValueBelowWhichThatShareLies) {
  EXPECT_EQ(percentile({}, 0.5), 0.0);
  EXPECT_EQ(percentile({3.0, 1.0, 2.0}, 0.5), 2.0);
  EXPECT_EQ(percentile({3.0, 1.0, 2.0}, 1.0), 3.0);
  EXPECT_EQ(percentile({5.0}, 0.99), 5.0);
}

}  // namespace
}  // namespace swage::workbench
