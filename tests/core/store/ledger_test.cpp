// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sstream>

#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using domain::RunId;
using testing::IsOk;
using testing::TempDir;

std::string asText(const std::vector<domain::CellSummary>& rows) {
  std::ostringstream text;
  for (const domain::CellSummary& line : rows) {
    text << line.cell.name() << ' ' << line.tried << ' ' << line.correct << ' ' << line.best.value() << ' '
         << line.bestTimeNs << ' ' << line.foundSeconds << ' ' << line.relativeError << ' ' << line.registers << '\n';
  }
  return text.str();
}

std::string cellsAsText(const Record& record, RunId run, std::optional<int> island = std::nullopt) {
  std::string text;
  const std::vector<domain::CellSummary> rows = record.cells(run, island).value();
  for (const domain::CellSummary& line : rows) {
    text += fmt::format("{} {} {} {} {:g}\n", line.cell.name(), line.tried, line.correct, line.best.value(),
                        line.bestTimeNs);
  }
  return text;
}

std::string improvementsAsText(const Record& record, RunId run) {
  std::ostringstream text;
  const auto rows = record.improvements(run).value();
  for (const domain::HistoryPoint& point : rows) {
    text << point.elapsedSeconds << ' ' << 1500.0 / point.speedup.value << ' ' << point.candidate.value() << '\n';
  }
  return text.str();
}

class LedgerTest : public ::testing::Test {
 protected:
  // Of 1500 ns, and three quarters of eager's time.
  void SetUp() override { testing::require(m_record.addBaseline(m_run, testing::sampleBaseline())); }

  TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory.path());
  RunId m_run = m_record.createRun(testing::sampleRun()).value();
};

TEST_F(LedgerTest, CellsSumOverIslandsAndKeepTheBest) {
  testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 900.0, 1.0);
  testing::addCorrect(m_record, m_run, 1, 1, "A1B0C1", 500.0, 2.0);
  testing::addCorrect(m_record, m_run, 2, 0, "A2B0C1", 800.0, 3.0);
  const CandidateId wrong = m_record.addCandidate(testing::sampleCandidate(m_run, 3)).value();
  ASSERT_THAT(m_record.setCompiled(wrong, testing::sampleBinary("b"), *domain::Cell::parse("A3B2C2")), IsOk());
  ASSERT_THAT(m_record.setEvaluation(wrong, domain::Wrong{}, 4.0), IsOk());
  const CandidateId broken = m_record.addCandidate(testing::sampleCandidate(m_run, 4)).value();
  ASSERT_THAT(m_record.setEvaluation(broken, domain::CompileFailed{}, 5.0), IsOk());
  EXPECT_EQ(cellsAsText(m_record, m_run), "A1B0C1 2 2 2 500\nA2B0C1 1 1 3 800\nA3B2C2 1 0 -1 0\n");
  EXPECT_EQ(cellsAsText(m_record, m_run, 0), "A1B0C1 1 1 1 900\nA2B0C1 1 1 3 800\nA3B2C2 1 0 -1 0\n");
  EXPECT_EQ(cellsAsText(m_record, m_run, 1), "A1B0C1 1 1 2 500\n");
  EXPECT_EQ(cellsAsText(m_record, m_run, 3), "");
}

TEST_F(LedgerTest, ImprovementsAreTheStepsOfTheBestTime) {
  int proposal = 0;
  for (const double timeNs : {900.0, 950.0, 500.0, 500.0, 600.0, 400.0}) {
    testing::addCorrect(m_record, m_run, proposal, 0, "A1B0C1", timeNs, 1.0 + proposal);
    ++proposal;
  }
  EXPECT_EQ(improvementsAsText(m_record, m_run), "1 900 1\n3 500 3\n6 400 6\n");
}

TEST_F(LedgerTest, TheLowerEndOfTheSpeedupRanks) {
  const CandidateId solid = testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 900.0, 1.0);
  const CandidateId lucky = m_record.addCandidate(testing::sampleCandidate(m_run, 1)).value();
  domain::Correct correct = testing::correctIn(20.0);
  correct.timing.speedupLow = 0.5;
  ASSERT_THAT(m_record.setCompiled(lucky, testing::sampleBinary("b"), *domain::Cell::parse("A1B0C1")), IsOk());
  ASSERT_THAT(m_record.setEvaluation(lucky, correct, 2.0), IsOk());
  EXPECT_EQ(m_record.run(m_run).value().best, solid);
  EXPECT_EQ(cellsAsText(m_record, m_run), "A1B0C1 2 2 1 900\n");
  EXPECT_EQ(improvementsAsText(m_record, m_run), "1 900 1\n");
}

TEST_F(LedgerTest, PyTorchsOwnOperatorsAreNeverBest) {
  NewCandidate identity = testing::sampleCandidate(m_run, -1);
  identity.madeBy = domain::OperatorKind::Baseline;
  const CandidateId own = m_record.addCandidate(identity).value();
  ASSERT_THAT(m_record.setCompiled(own, {}, std::nullopt), IsOk());
  ASSERT_THAT(m_record.setEvaluation(own, testing::correctIn(10.0), 1.0), IsOk());
  EXPECT_FALSE(m_record.run(m_run).value().best.isValid());
  EXPECT_EQ(improvementsAsText(m_record, m_run), "");
  EXPECT_EQ(cellsAsText(m_record, m_run), "");
  const CandidateRow line = m_record.candidates({.run = m_run}).value().at(0);
  EXPECT_EQ(line.speedup, (domain::Speedup{0.75, 0.7, 0.8})) << "eager's, not 150";
  const CandidateId ours = testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 900.0, 2.0);
  ASSERT_THAT(m_record.setWinner(m_run, own), IsOk());
  const RunRow run = m_record.run(m_run).value();
  EXPECT_EQ(run.winner, own);
  EXPECT_EQ(run.best, ours);
  EXPECT_DOUBLE_EQ(run.bestSpeedup.value, 1500.0 / 900.0);
}

TEST_F(LedgerTest, WhoIsHardToBelieveAndNotConfirmedRanksNowhere) {
  const CandidateId second = testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 900.0, 1.0);
  const CandidateId first = testing::addCorrect(m_record, m_run, 1, 0, "A1B0C1", 50.0, 2.0);
  const CandidateId confirmed = testing::addCorrect(m_record, m_run, 2, 0, "A2B0C1", 100.0, 3.0);
  ASSERT_THAT(m_record.setAssurance(confirmed,
                                    {domain::AssuranceKind::FreshProcess, domain::AssuranceVerdict::Passed, "", 0.0}),
              IsOk());
  EXPECT_EQ(m_record.run(m_run).value().best, first);
  ASSERT_THAT(m_record.withdrawUnconfirmed(m_run, 10.0), IsOk());
  EXPECT_EQ(m_record.run(m_run).value().best, confirmed) << "15 times as fast, and another process said so";
  ASSERT_THAT(m_record.setEvaluation(confirmed, domain::Unstable{"it varies"}, 4.0), IsOk());
  EXPECT_EQ(m_record.run(m_run).value().best, second);
  EXPECT_EQ(cellsAsText(m_record, m_run), "A1B0C1 2 2 1 900\nA2B0C1 1 0 -1 0\n");
  EXPECT_EQ(improvementsAsText(m_record, m_run), "1 900 1\n");
}

TEST_F(LedgerTest, AnotherEvaluationOfTheBestTakesItsPlaceAway) {
  testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 900.0, 1.0);
  const CandidateId best = testing::addCorrect(m_record, m_run, 1, 0, "A1B0C1", 500.0, 2.0);
  testing::addCorrect(m_record, m_run, 2, 0, "A1B0C1", 700.0, 3.0);
  ASSERT_THAT(m_record.setEvaluation(best, domain::Unstable{"it varies"}, 4.0), IsOk());
  EXPECT_EQ(cellsAsText(m_record, m_run), "A1B0C1 3 2 3 700\n");
  EXPECT_EQ(improvementsAsText(m_record, m_run), "1 900 1\n3 700 3\n");
  const RunRow run = m_record.run(m_run).value();
  EXPECT_EQ(run.evaluations, 3);
  EXPECT_EQ(run.correct, 2);
  EXPECT_EQ(run.best, CandidateId(3));
  EXPECT_EQ(run.bestTimeNs, 700.0);
}

TEST_F(LedgerTest, AWinnerThatIsTakenBackIsTheRunsBestNoMore) {
  const CandidateId winner = testing::addCorrect(m_record, m_run, 0, 0, "A1B0C1", 500.0, 1.0);
  const CandidateId second = testing::addCorrect(m_record, m_run, 1, 0, "A2B0C1", 490.0, 2.0);
  ASSERT_THAT(m_record.setWinner(m_run, winner), IsOk());
  ASSERT_THAT(m_record.setEvaluation(second, domain::Unstable{"it varies"}, 3.0), IsOk());
  EXPECT_EQ(m_record.run(m_run).value().best, winner) << "it stays while it is correct";
  ASSERT_THAT(m_record.setEvaluation(winner, domain::Unstable{"it varies"}, 4.0), IsOk());
  EXPECT_FALSE(m_record.run(m_run).value().best.isValid());
  const CandidateId third = testing::addCorrect(m_record, m_run, 2, 0, "A1B0C1", 700.0, 5.0);
  EXPECT_EQ(m_record.run(m_run).value().best, third);
}

TEST_F(LedgerTest, TheCellsOfAnyMomentCanBeReadAgain) {
  Random random(7);
  const char* const cells[] = {"A0B0C0", "A1B0C1", "A1B1C1", "A2B2C2"};
  std::vector<std::string> ofAll;
  std::vector<std::string> ofIsland;
  for (int i = 0; i < 50; ++i) {
    const CandidateId id =
        m_record.addCandidate(testing::sampleCandidate(m_run, i, static_cast<int>(random.below(3)))).value();
    ASSERT_THAT(m_record.setCompiled(id, testing::sampleBinary("b"), *domain::Cell::parse(cells[random.below(4)])),
                IsOk());
    domain::Correct correct = testing::correctIn(1000.0 - 5.0 * i + 300.0 * random.unit());
    correct.timing.screenedOut = random.chance(0.2);
    const bool isWrong = random.chance(0.3);
    ASSERT_THAT(m_record.setEvaluation(id, isWrong ? domain::Evaluation(domain::Wrong{}) : correct, i), IsOk());
    ofAll.push_back(asText(m_record.cells(m_run, std::nullopt).value()));
    ofIsland.push_back(asText(m_record.cells(m_run, 1).value()));
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(asText(m_record.cellsAt(m_run, std::nullopt, i + 0.5).value()), ofAll[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(asText(m_record.cellsAt(m_run, 1, i + 0.5).value()), ofIsland[static_cast<std::size_t>(i)]) << i;
  }
  EXPECT_EQ(m_record.islandCount(m_run).value(), 3);
}

// Evaluating a candidate again sums everything up from the rows: it must come to what was kept along the way.
TEST_F(LedgerTest, SumsKeptAlongTheWayEqualThoseSummedUpAgain) {
  Random random(5);
  const char* const cells[] = {"A0B0C0", "A1B0C1", "A1B1C1", "A2B2C2"};
  CandidateId last;
  domain::Evaluation lastEvaluation;
  for (int i = 0; i < 60; ++i) {
    last = m_record.addCandidate(testing::sampleCandidate(m_run, i, static_cast<int>(random.below(4)))).value();
    if (random.chance(0.8)) {
      const auto cell = *domain::Cell::parse(cells[random.below(4)]);
      ASSERT_THAT(m_record.setCompiled(last, testing::sampleBinary("b"), cell), IsOk());
    }
    lastEvaluation = domain::Evaluation(domain::Wrong{});
    if (random.chance(0.7)) {
      domain::Correct correct = testing::correctIn(1000.0 - 5.0 * i + 300.0 * random.unit());
      correct.timing.screenedOut = random.chance(0.2);
      lastEvaluation = correct;
    }
    ASSERT_THAT(m_record.setEvaluation(last, lastEvaluation, i), IsOk());
  }
  const std::string cellsBefore = cellsAsText(m_record, m_run);
  const std::string improvementsBefore = improvementsAsText(m_record, m_run);
  const RunRow before = m_record.run(m_run).value();
  ASSERT_THAT(m_record.setEvaluation(last, lastEvaluation, 59), IsOk());
  const RunRow after = m_record.run(m_run).value();
  EXPECT_EQ(cellsAsText(m_record, m_run), cellsBefore);
  EXPECT_EQ(improvementsAsText(m_record, m_run), improvementsBefore);
  EXPECT_EQ(after.evaluations, before.evaluations);
  EXPECT_EQ(after.correct, before.correct);
  EXPECT_EQ(after.best, before.best);
}

}  // namespace
}  // namespace swage::store
