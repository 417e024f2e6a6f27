// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_service_impl.h"

#include <QThread>

#include "core/domain/record/winner.h"
#include "core/engine/record_service_impl.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using testing::waitFor;

class RunServiceTest : public testing::SessionFixture {
 protected:
  // Connects and starts; every signal arrives on this thread.
  void startService(RunServiceImpl& service) {
    QObject::connect(&service, &services::RunService::candidateEvaluated, &service,
                     [this](const services::CandidateRow& row) {
                       EXPECT_EQ(QThread::currentThread(), QCoreApplication::instance()->thread());
                       m_rows.push_back(row);
                     });
    QObject::connect(&service, &services::RunService::finished, &service,
                     [this](const services::RunOutcome& outcome) { m_outcomes.push_back(outcome); });
    service.start(m_spec);
  }
};

TEST_F(RunServiceTest, RunsOnItsOwnThreadAndMayRunAgain) {
  RunServiceImpl service(m_parts);
  startService(service);
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_EQ(service.state(), services::RunState::Finished);
  EXPECT_EQ(service.currentRun(), m_outcomes[0].run);
  EXPECT_GE(m_rows.size(), 20U);
  service.start(m_spec);
  ASSERT_TRUE(waitFor([&] { return m_outcomes.size() == 2; }));
  EXPECT_NE(m_outcomes[0].run, m_outcomes[1].run);
}

TEST_F(RunServiceTest, DestroyingItInTheMiddleLeavesAResumableRecord) {
  m_spec.maxEvaluations = 0;
  m_spaceSize = 100000;
  {
    RunServiceImpl service(m_parts);
    startService(service);
    ASSERT_TRUE(waitFor([&] { return m_rows.size() > 4; }));
  }
  EXPECT_TRUE(m_outcomes.empty());
  const auto writable = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
  ASSERT_THAT(writable, testing::IsOk()) << "the lock is free again";
  EXPECT_EQ(onlyRun().status, store::RunStatus::Interrupted);
}

TEST_F(RunServiceTest, TheRecordServiceShowsWhatTheRunDid) {
  RunServiceImpl service(m_parts);
  startService(service);
  ASSERT_TRUE(waitUntilFinished());
  RecordServiceImpl record;
  EXPECT_THAT(record.runs(), testing::IsError(ErrorKind::NotFound, "no project is open"));
  ASSERT_THAT(record.open(m_spec.project), testing::IsOk());
  const auto runs = record.runs();
  ASSERT_THAT(runs, testing::IsOk());
  ASSERT_EQ(runs->size(), 1U);
  const services::RunSummary& run = runs->front();
  EXPECT_EQ(run.evaluations, 20);
  EXPECT_NEAR(run.bestSpeedup.value, m_outcomes[0].bestSpeedup.value, 1e-9);
  services::CandidateQuery page;
  page.run = run.id;
  page.status = domain::CandidateStatus::Correct;
  const auto rows = record.candidates(page);
  ASSERT_THAT(rows, testing::IsOk());
  EXPECT_EQ(static_cast<std::int64_t>(rows->size()), run.correct);
  EXPECT_EQ(record.candidateCount(page).value(), run.correct);
  EXPECT_EQ(record.cells(run.id, std::nullopt)->size(), static_cast<std::size_t>(domain::kCellCount));
  EXPECT_FALSE(record.history(run.id)->empty());
  EXPECT_EQ(record.baselines(run.id)->size(), 1U);
  EXPECT_EQ(domain::winnerOf(run), m_outcomes[0].winner);
  EXPECT_EQ(run.winner, m_outcomes[0].winner);
  EXPECT_THAT(record.candidate(domain::CandidateId(9999)), testing::IsError(ErrorKind::NotFound, ::testing::_));
}

}  // namespace
}  // namespace swage::engine
