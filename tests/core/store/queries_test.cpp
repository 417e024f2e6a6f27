// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using domain::Cell;
using domain::RunId;
using ::testing::ElementsAre;
using testing::IsOk;
using testing::TempDir;

class QueriesTest : public ::testing::Test {
 protected:
  // 1 and 3 are correct, 2 crashed, 4 is pending, 5 is wrong; 6 belongs to another run.
  void SetUp() override {
    testing::addCorrect(m_record, m_run, 0, 1, "A1B0C1", 900.0, 1.0);
    const CandidateId crashed = add(m_run, domain::OperatorKind::Merge, 0);
    testing::require(m_record.setEvaluation(crashed, domain::Crashed{11, ""}, 2.0));
    testing::addCorrect(m_record, m_run, 2, 0, "A0B0C1", 500.0, 3.0);
    add(m_run, domain::OperatorKind::Aimed, 3);
    const CandidateId wrong = add(m_run, domain::OperatorKind::Crossover, 2);
    testing::require(m_record.setCompiled(wrong, testing::sampleBinary("x"), *Cell::parse("A1B0C1")));
    testing::require(m_record.setEvaluation(wrong, domain::Wrong{0, 1, 0, 0, "error", "", {{0, 0.5, 1, 0, 0}}}, 4.0));
    testing::addCorrect(m_record, m_other, 0, 0, "A1B0C1", 100.0, 1.0);
    testing::require(m_record.addBaseline(m_run, testing::sampleBaseline()));
  }

  CandidateId add(RunId run, domain::OperatorKind madeBy, int island) {
    NewCandidate candidate = testing::sampleCandidate(run, 0, island);
    candidate.madeBy = madeBy;
    return m_record.addCandidate(candidate).value();
  }

  std::vector<std::int64_t> ids(const CandidateQuery& query) const {
    std::vector<std::int64_t> found;
    const auto rows = m_record.candidates(query).value();
    for (const CandidateRow& line : rows) {
      found.push_back(line.id.value());
    }
    return found;
  }

  std::vector<std::int64_t> sorted(CandidateColumn sort, bool descending = false) const {
    return ids({.run = m_run, .sort = sort, .descending = descending});
  }

  TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory.path());
  RunId m_run = m_record.createRun(testing::sampleRun()).value();
  RunId m_other = m_record.createRun(testing::sampleRun()).value();
};

TEST_F(QueriesTest, SortByEveryColumnWithMissingValuesLast) {
  EXPECT_THAT(sorted(CandidateColumn::Id), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(sorted(CandidateColumn::Id, true), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(sorted(CandidateColumn::Time), ElementsAre(3, 1, 2, 4, 5));
  EXPECT_THAT(sorted(CandidateColumn::Time, true), ElementsAre(1, 3, 5, 4, 2));
  EXPECT_THAT(sorted(CandidateColumn::Speedup, true), ElementsAre(3, 1, 5, 4, 2));
  EXPECT_THAT(sorted(CandidateColumn::Speedup), ElementsAre(1, 3, 2, 4, 5));
  EXPECT_THAT(sorted(CandidateColumn::Cell), ElementsAre(3, 1, 5, 2, 4));
  EXPECT_THAT(sorted(CandidateColumn::Status), ElementsAre(1, 3, 2, 4, 5));
  EXPECT_THAT(sorted(CandidateColumn::Operator), ElementsAre(4, 5, 2, 1, 3));
  EXPECT_THAT(sorted(CandidateColumn::Island), ElementsAre(2, 3, 1, 5, 4));
  EXPECT_THAT(sorted(CandidateColumn::Error), ElementsAre(1, 3, 5, 2, 4));
  EXPECT_THAT(sorted(CandidateColumn::Registers), ElementsAre(2, 4, 1, 3, 5));
}

TEST_F(QueriesTest, FilterByCellAndStatus) {
  EXPECT_THAT(ids({.run = m_run, .cell = Cell::parse("A1B0C1")}), ElementsAre(1, 5));
  EXPECT_THAT(ids({.run = m_run, .status = domain::CandidateStatus::Correct, .sort = CandidateColumn::Time}),
              ElementsAre(3, 1));
  EXPECT_THAT(ids({.run = m_run, .status = domain::CandidateStatus::Pending}), ElementsAre(4));
  EXPECT_THAT(ids({.run = m_run, .cell = Cell::parse("A1B0C1"), .status = domain::CandidateStatus::Wrong}),
              ElementsAre(5));
  EXPECT_EQ(m_record.candidateCount({.run = m_run}).value(), 5);
  EXPECT_EQ(m_record.candidateCount({.run = m_run, .cell = Cell::parse("A1B0C1")}).value(), 2);
  EXPECT_EQ(m_record.candidateCount({.run = m_run, .status = domain::CandidateStatus::Correct}).value(), 2);
}

TEST_F(QueriesTest, PagesMeetWithoutGapOrOverlap) {
  EXPECT_THAT(ids({.run = m_run, .sort = CandidateColumn::Time, .limit = 2}), ElementsAre(3, 1));
  EXPECT_THAT(ids({.run = m_run, .sort = CandidateColumn::Time, .limit = 2, .offset = 2}), ElementsAre(2, 4));
  EXPECT_THAT(ids({.run = m_run, .sort = CandidateColumn::Time, .limit = 2, .offset = 4}), ElementsAre(5));
  EXPECT_THAT(ids({.run = m_run, .limit = 2, .offset = 40}), ::testing::IsEmpty());
}

TEST_F(QueriesTest, WithoutARunTheyListAll) {
  EXPECT_EQ(m_record.candidateCount({}).value(), 6);
  EXPECT_THAT(ids({.sort = CandidateColumn::Time, .limit = 2}), ElementsAre(6, 3));
}

TEST_F(QueriesTest, LinesShowEveryColumn) {
  const CandidateRow line = m_record.candidates({.run = m_run, .limit = 1}).value().at(0);
  EXPECT_EQ(line.run, m_run);
  EXPECT_EQ(line.island, 1);
  EXPECT_EQ(line.madeBy, domain::OperatorKind::PatternSwap);
  EXPECT_EQ(line.cell->name(), "A1B0C1");
  EXPECT_EQ(line.status, domain::CandidateStatus::Correct);
  EXPECT_EQ(line.timeNs, 900.0);
  EXPECT_EQ(line.lowNs, 891.0);
  EXPECT_EQ(line.highNs, 909.0);
  EXPECT_DOUBLE_EQ(line.speedup.value, 1500.0 / 900.0) << "over eager, times eager over the baseline";
  EXPECT_DOUBLE_EQ(line.speedup.low, 1900.0 / 900.0 * 0.7);
  EXPECT_DOUBLE_EQ(line.speedup.high, 2100.0 / 900.0 * 0.8);
  EXPECT_EQ(line.relativeError, 1.5e-7);
  EXPECT_EQ(line.registers, 42);
  EXPECT_EQ(line.elapsedSeconds, 1.0);
  EXPECT_THAT(line.parents, ElementsAre(CandidateId(1), CandidateId(2)));
}

}  // namespace
}  // namespace swage::store
