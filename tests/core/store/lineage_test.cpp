// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/database.h"
#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

class LineageTest : public ::testing::Test {
 protected:
  CandidateId add(std::vector<std::int64_t> parents) {
    NewCandidate candidate = testing::sampleCandidate(m_run, ++m_proposals);
    candidate.parents.clear();
    for (const std::int64_t parent : parents) {
      candidate.parents.emplace_back(parent);
    }
    return m_record.addCandidate(candidate).value();
  }
  // 1 and 2 begin; 3 is of both; 4 and 5 are of 3; 6 is of 5 and 1; 7 is of 6.
  void makeFamily() {
    for (const auto& parents : std::vector<std::vector<std::int64_t>>{{}, {}, {1, 2}, {3}, {3}, {5, 1}, {6}}) {
      add(parents);
    }
  }
  domain::Lineage lineage(std::int64_t id, const domain::LineageReach& limits = {}) const {
    return m_record.lineage(CandidateId(id), limits).value();
  }
  static std::vector<std::int64_t> ids(const domain::Lineage& lineage) {
    std::vector<std::int64_t> found;
    for (const CandidateRow& line : lineage.rows) {
      found.push_back(line.id.value());
    }
    return found;
  }

  testing::TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory.path());
  domain::RunId m_run = m_record.createRun(testing::sampleRun()).value();
  int m_proposals = 0;
};

TEST_F(LineageTest, HasAncestorsAndDescendantsOnce) {
  makeFamily();
  const domain::Lineage whole = lineage(3);
  EXPECT_THAT(ids(whole), ElementsAre(3, 1, 2, 4, 5, 6));
  EXPECT_FALSE(whole.hasMoreAncestors);
  EXPECT_TRUE(whole.hasMoreDescendants);  // 7 is three generations away
  EXPECT_THAT(ids(lineage(6)), ElementsAre(6, 5, 1, 3, 2, 7));
  EXPECT_THAT(whole.rows.front().parents, ElementsAre(CandidateId(1), CandidateId(2)));
}

TEST_F(LineageTest, KeepsItsLimitsAndSaysSo) {
  makeFamily();
  const domain::Lineage near = lineage(6, {.generationsUp = 1, .generationsDown = 0});
  EXPECT_THAT(ids(near), ElementsAre(6, 5, 1));
  EXPECT_TRUE(near.hasMoreAncestors);
  EXPECT_TRUE(near.hasMoreDescendants);
  const domain::Lineage few = lineage(3, {.candidates = 2});
  EXPECT_THAT(ids(few), ElementsAre(3, 1));
  EXPECT_TRUE(few.hasMoreAncestors);
}

TEST_F(LineageTest, TheFastestChildrenComeFirst) {
  add({});
  add({1});
  const CandidateId slow = testing::addCorrect(m_record, m_run, 50, 0, "A1B0C1", 900.0, 1.0);
  const CandidateId fast = testing::addCorrect(m_record, m_run, 51, 0, "A1B0C1", 500.0, 1.0);
  EXPECT_THAT(ids(lineage(1)), ElementsAre(1, fast.value(), slow.value(), 2));
}

TEST_F(LineageTest, AnUnknownCandidateIsAnErrorAndAnUnknownParentIsNot) {
  EXPECT_THAT(m_record.lineage(CandidateId(5), {}), IsError(ErrorKind::NotFound, HasSubstr("candidate 5")));
  add({77});
  EXPECT_THAT(ids(lineage(1)), ElementsAre(1));
}

TEST(LineageMigration, TurnsTheParentsOfAnOlderRecordRound) {
  const testing::TempDir directory;
  {
    const auto old =
        Database::open(directory / "runs.sqlite", {.access = Access::ReadWrite, .schema = migrations().first(4)});
    ASSERT_THAT(old, IsOk());
    old->connection().exec(
        "PRAGMA foreign_keys=OFF;"
        "INSERT INTO candidates (id, run_id, proposal, island, operator, parents, created_at_ms) VALUES "
        "(1, 1, 0, 0, 'merge', '', 0), (2, 1, 0, 0, 'merge', '1', 0), (3, 1, 0, 0, 'merge', '2,1,2', 0)");
  }
  const auto current = Database::open(directory / "runs.sqlite", {.access = Access::ReadWrite});
  ASSERT_THAT(current, IsOk());
  EXPECT_EQ(current->connection()
                .execAndGet("SELECT group_concat(parent || '>' || child) FROM (SELECT * FROM lineage ORDER BY 1, 2)")
                .getString(),
            "1>2,1>3,2>3");
}

}  // namespace
}  // namespace swage::store
