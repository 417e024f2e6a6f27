// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/store/annotations.h"
#include "core/store/record.h"
#include "tests/core/store/large_record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsError;

bool never() {
  return false;
}

CandidateQuery queryOf(domain::RunId run, std::string_view filter) {
  CandidateQuery query{.run = run};
  query.filter = domain::parseFilter(filter, domain::candidateFilterKeys()).value();
  return query;
}

class CandidateFilterTest : public ::testing::Test {
 protected:
  // 1: A1B0C1, 900 ns, island 1. 2: crashed. 3: A0B0C1, 500 ns. 4: pending, aimed. 5: wrong in A1B0C1. The baseline
  // takes 1500 ns.
  void SetUp() override {
    testing::addCorrect(m_record, m_run, 0, 1, "A1B0C1", 900.0, 1.0);
    const CandidateId crashed = add(domain::OperatorKind::Merge, 0, {CandidateId(1)});
    testing::require(m_record.setEvaluation(crashed, domain::Crashed{11, "bank conflict at 100 %"}, 20.0));
    testing::addCorrect(m_record, m_run, 2, 0, "A0B0C1", 500.0, 30.0);
    add(domain::OperatorKind::Aimed, 3, {CandidateId(3)});
    const CandidateId wrong = add(domain::OperatorKind::Crossover, 2, {CandidateId(1), CandidateId(3)});
    testing::require(m_record.setCompiled(wrong, testing::sampleBinary("x"), *domain::Cell::parse("A1B0C1")));
    testing::require(m_record.setEvaluation(wrong, domain::Wrong{0, 1, 0, 0, "error", "", {{0, 0.5, 1, 0, 0}}}, 40.0));
    testing::require(m_record.addBaseline(m_run, testing::sampleBaseline()));
    const auto annotations = Annotations::open(m_directory.path()).value();
    ASSERT_TRUE(annotations.apply({.pin = {CandidateId(3)},
                                   .tag = {{CandidateId(2), "To Read"}},
                                   .note = {{CandidateId(4), "a_note on 50% of it"}}}));
  }

  CandidateId add(domain::OperatorKind madeBy, int island, std::vector<CandidateId> parents) {
    NewCandidate candidate = testing::sampleCandidate(m_run, 0, island);
    candidate.madeBy = madeBy;
    candidate.parents = std::move(parents);
    return m_record.addCandidate(candidate).value();
  }

  std::vector<std::int64_t> matching(std::string_view filter, domain::RunId run) const {
    std::vector<std::int64_t> found;
    const auto ids = m_record.candidateIds(queryOf(run, filter), never).value();
    for (const CandidateId id : ids) {
      found.push_back(id.value());
    }
    EXPECT_EQ(m_record.candidateCount(queryOf(run, filter)).value(), static_cast<std::int64_t>(found.size()));
    EXPECT_EQ(m_record.candidates(queryOf(run, filter)).value().size(), found.size());
    return found;
  }
  std::vector<std::int64_t> matching(std::string_view filter) const {
    const std::vector<std::int64_t> inAllRuns = matching(filter, {});
    EXPECT_EQ(matching(filter, m_run), inAllRuns) << filter;
    return inAllRuns;
  }

  testing::TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory.path());
  domain::RunId m_run = m_record.createRun(testing::sampleRun()).value();
};

TEST_F(CandidateFilterTest, WordsAndNumbers) {
  EXPECT_THAT(matching(""), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(matching("status:correct"), ElementsAre(1, 3));
  EXPECT_THAT(matching("status:wrong,crashed,pending"), ElementsAre(2, 4, 5));
  EXPECT_THAT(matching("operator:aimed,crossover"), ElementsAre(4, 5));
  EXPECT_THAT(matching("cell:A1B0C1"), ElementsAre(1, 5));
  EXPECT_THAT(matching("cell:A1,A0"), ElementsAre(1, 3, 5));
  EXPECT_THAT(matching("island:2..3"), ElementsAre(4, 5));
  EXPECT_THAT(matching("id>2 id<=4"), ElementsAre(3, 4));
  EXPECT_THAT(matching("run:1"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(matching("run:2"), IsEmpty());
  EXPECT_THAT(matching("error<1e-6"), ElementsAre(1, 3));
  EXPECT_THAT(matching("registers<1000"), ElementsAre(1, 3, 5));  // the others have none, which is not 0
  EXPECT_THAT(matching("found>25s"), ElementsAre(3, 5));
}

TEST_F(CandidateFilterTest, KnowsWhatIsEqualByAlgebraOnly) {
  NewCandidate folded = testing::sampleCandidate(m_run, 0, 0);
  folded.genome->rewrites = {{"fold batch norm", domain::ValueId(4), {}}};
  NewCandidate turned = testing::sampleCandidate(m_run, 0, 0);
  turned.genome->rewrites = {{"double transpose", domain::ValueId(4), {}}};
  const CandidateId algebraic = m_record.addCandidate(folded).value();
  const CandidateId exact = m_record.addCandidate(turned).value();
  EXPECT_THAT(matching("algebraic"), ElementsAre(algebraic.value()));
  EXPECT_THAT(matching("-algebraic"), ElementsAre(1, 2, 3, 4, 5, exact.value()));
  EXPECT_EQ(m_record.candidate(algebraic).value().genome, folded.genome);
}

TEST_F(CandidateFilterTest, TimesAndSpeedups) {
  EXPECT_THAT(matching("time<600ns"), ElementsAre(3));
  EXPECT_THAT(matching("time:0.9us"), ElementsAre(1));
  EXPECT_THAT(matching("speedup>2"), ElementsAre(3));
  EXPECT_THAT(matching("speedup>=3"), ElementsAre(3));
  EXPECT_THAT(matching("speedup>3"), IsEmpty());
  EXPECT_THAT(matching("speedup:1.7"), ElementsAre(1));
  EXPECT_THAT(matching("speedup<2"), ElementsAre(1));
  EXPECT_THAT(matching("speedup>-1"), ElementsAre(1, 3));
  EXPECT_THAT(matching("speedup<0"), IsEmpty());
  EXPECT_THAT(matching("speedup:0..1e9"), ElementsAre(1, 3));
}

TEST_F(CandidateFilterTest, ANegationTakesEverythingElseWithMissingValuesToo) {
  EXPECT_THAT(matching("-cell:A1B0C1"), ElementsAre(2, 3, 4));
  EXPECT_THAT(matching("-time<600ns"), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(matching("-speedup>2 -status:pending"), ElementsAre(1, 2, 5));
  EXPECT_THAT(matching("status!=correct"), ElementsAre(2, 4, 5));
  EXPECT_THAT(matching("-pinned failed"), ElementsAre(2, 5));
}

TEST_F(CandidateFilterTest, FirstAndBest) {
  EXPECT_THAT(matching("first"), IsEmpty());
  add(domain::OperatorKind::Synthesis, 0, {});
  EXPECT_THAT(matching("first"), ElementsAre(6));
  EXPECT_THAT(matching("-first"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(matching("best"), ElementsAre(1, 3));  // 5 is in the cell of 1, and wrong
  EXPECT_THAT(matching("-best failed"), ElementsAre(2, 5));
}

TEST_F(CandidateFilterTest, WhatAPersonSaid) {
  EXPECT_THAT(matching("pinned"), ElementsAre(3));
  EXPECT_THAT(matching("tagged"), ElementsAre(2));
  EXPECT_THAT(matching("noted"), ElementsAre(4));
  EXPECT_THAT(matching("tag:\"to read\""), ElementsAre(2));
  EXPECT_THAT(matching("tag:read"), IsEmpty());
  EXPECT_THAT(matching("note:NOTE"), ElementsAre(4));
}

TEST_F(CandidateFilterTest, TextIsLookedForInSummariesNotesAndTags) {
  EXPECT_THAT(matching("\"Bank Conflict\""), ElementsAre(2));
  EXPECT_THAT(matching("read"), ElementsAre(2));
  EXPECT_THAT(matching("conflict,a_note"), ElementsAre(2, 4));
  EXPECT_THAT(matching("-conflict status:crashed"), IsEmpty());
  // What LIKE would read as a pattern stands for itself.
  EXPECT_THAT(matching("0%"), ElementsAre(4));
  EXPECT_THAT(matching("\"100 %\""), ElementsAre(2));
  EXPECT_THAT(matching("n_te"), IsEmpty());
  EXPECT_THAT(matching("\"' OR 1=1 --\""), IsEmpty());
}

TEST_F(CandidateFilterTest, ChildrenOfACandidate) {
  EXPECT_THAT(matching("parent:3"), ElementsAre(4, 5));
  EXPECT_THAT(matching("parent:1 -status:crashed"), ElementsAre(1, 3, 5));
}

TEST_F(CandidateFilterTest, AQueryCanBeGivenUp) {
  const testing::TempDir directory;
  testing::makeLargeRecord(directory.path(), 20'000);
  const Record record = Record::open(directory.path(), Record::Mode::ReadOnly).value();
  int asked = 0;
  const auto result = record.candidateIds(queryOf({}, "outcome"), [&asked] { return ++asked > 2; });
  EXPECT_THAT(result, IsError(ErrorKind::Cancelled, ::testing::_));
  EXPECT_GT(asked, 2);
  EXPECT_EQ(record.candidateIds(queryOf({}, "outcome"), never).value().size(), 19'994U);
}

}  // namespace
}  // namespace swage::store
