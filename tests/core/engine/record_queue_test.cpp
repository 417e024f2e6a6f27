// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_queue.h"

#include "core/engine/record_service_impl.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using domain::CandidateId;
using testing::IsError;
using testing::IsOk;

services::CandidateQuery pageOf(domain::RunId run, std::string_view filter) {
  services::CandidateQuery page;
  page.run = run;
  page.filter = domain::parseFilter(filter, domain::candidateFilterKeys()).value();
  return page;
}

class RecordQueueTest : public ::testing::Test {
 protected:
  RecordQueueTest() { EXPECT_THAT(m_service.open(m_folder.path()), IsOk()); }

  testing::TempDir m_folder;
  domain::RunId m_run = testing::makeLargeRecord(m_folder.path(), 2000);
  RecordServiceImpl m_service;
};

TEST_F(RecordQueueTest, FindsIdsInOrderAndTheirRows) {
  services::CandidateQuery page = pageOf(m_run, "status:correct speedup>10");
  page.sort = services::CandidateColumn::Speedup;
  page.descending = true;
  const Result<services::CandidateIds> ids = m_service.candidateIds(page).result();
  ASSERT_THAT(ids, IsOk());
  ASSERT_GT((*ids)->size(), 100U);
  const auto rows = m_service.candidates(std::span(**ids).first(100));
  ASSERT_THAT(rows, IsOk());
  for (std::size_t i = 1; i < rows->size(); ++i) {
    EXPECT_EQ((*rows)[i].id, (**ids)[i]);
    EXPECT_LE((*rows)[i].speedup.low, (*rows)[i - 1].speedup.low);
  }
}

TEST_F(RecordQueueTest, WritesAnnotationsInTheOrderOfTheCallsAndAnswersHowToUndoThem) {
  auto pinned = m_service.annotate({.pin = {CandidateId(7)}});
  auto ids = m_service.candidateIds(pageOf(m_run, "pinned id:7"));
  auto unpinned = m_service.annotate(pinned.result().value());
  EXPECT_EQ(ids.result().value()->size(), 1U);
  ASSERT_THAT(unpinned.result(), IsOk());
  EXPECT_EQ(m_service.candidateIds(pageOf(m_run, "pinned id:7")).result().value()->size(), 0U);
}

TEST_F(RecordQueueTest, ReadsWhetherARunHadASelfTestWhenReopened) {
  EXPECT_FALSE(m_service.skippedSelfTest(m_run).value());
  Result<store::Record> record = store::Record::open(m_folder.path(), store::Record::Mode::ReadWrite);
  ASSERT_THAT(record, IsOk());
  ASSERT_THAT(record->addEvent(m_run, domain::EventKind::SelfTest, R"({"ground": "skipped"})"), IsOk());
  ASSERT_THAT(m_service.open(m_folder.path()), IsOk());
  EXPECT_TRUE(m_service.skippedSelfTest(m_run).value());
}

TEST_F(RecordQueueTest, AQuestionThatWasTakenBackIsNotAnswered) {
  auto first = m_service.candidateIds(pageOf(m_run, "outcome"));
  auto second = m_service.candidateIds(pageOf(m_run, "outcome"));
  second.cancel();
  EXPECT_THAT(first.result(), IsOk());
  second.waitForFinished();
  EXPECT_TRUE(second.isCanceled());
  EXPECT_THAT(m_service.candidateIds(pageOf(m_run, "id:3")).result(), IsOk());
}

TEST_F(RecordQueueTest, AnotherProjectDoesNotWaitForTheOldOne) {
  const testing::TempDir other;
  testing::makeLargeRecord(other.path(), 10);
  auto old = m_service.candidateIds(pageOf(m_run, "outcome"));
  ASSERT_THAT(m_service.open(other.path()), IsOk());
  EXPECT_TRUE(old.isFinished());
  EXPECT_EQ(m_service.candidateIds(pageOf(m_run, "")).result().value()->size(), 9U);
}

TEST_F(RecordQueueTest, HasLineages) {
  const auto lineage = m_service.lineage(CandidateId(1500), {.generationsUp = 0, .generationsDown = 1});
  ASSERT_THAT(lineage, IsOk());
  EXPECT_EQ(lineage->rows.front().id, CandidateId(1500));
  EXPECT_FALSE(lineage->rows.front().parents.empty());
  EXPECT_TRUE(lineage->hasMoreAncestors);
}

TEST(RecordQueue, WithoutAProjectSaysSo) {
  RecordServiceImpl service;
  EXPECT_THAT(service.candidateIds({}).result(), IsError(ErrorKind::NotFound, ::testing::_));
  EXPECT_THAT(service.annotate({}).result(), IsError(ErrorKind::NotFound, ::testing::_));
}

}  // namespace
}  // namespace swage::engine
