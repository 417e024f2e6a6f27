// SPDX-License-Identifier: Apache-2.0
#include "core/store/record.h"

#include "core/domain/json.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;
using domain::CandidateId;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

class RecordEvidenceTest : public ::testing::Test {
 protected:
  TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory / "project");
  domain::RunId m_run = m_record.createRun(testing::sampleRun()).value();
  CandidateId m_candidate = testing::addCorrect(m_record, m_run, 0, 0, "A0B0C1", 100.0, 1.0);
};

TEST_F(RecordEvidenceTest, ACheckThatIsMadeAgainReplacesWhatItSaid) {
  const Assurance raced{AssuranceKind::Racecheck, AssuranceVerdict::Failed, "a race in line 12", 2.0};
  const Assurance clean{AssuranceKind::Memcheck, AssuranceVerdict::Passed, "", 1.0};
  ASSERT_THAT(m_record.setAssurance(m_candidate, {AssuranceKind::Memcheck, AssuranceVerdict::Unavailable, "x", 0.0}),
              IsOk());
  ASSERT_THAT(m_record.setAssurance(m_candidate, clean), IsOk());
  ASSERT_THAT(m_record.setAssurance(m_candidate, raced), IsOk());
  EXPECT_THAT(m_record.assurances(m_candidate).value(), ::testing::UnorderedElementsAre(clean, raced));
  EXPECT_THAT(m_record.assurances(CandidateId(99)).value(), IsEmpty());
}

TEST_F(RecordEvidenceTest, SaysWhoProposedWhatOnWhichIslandAndWhatThatHolds) {
  testing::addCorrect(m_record, m_run, 1, 2, "A0B0C1", 90.0, 2.0);
  testing::addCorrect(m_record, m_run, 2, 2, "A1B0C1", 80.0, 3.5);
  const CandidateId slower = testing::addCorrect(m_record, m_run, 3, 2, "A1B0C1", 85.0, 4.0);
  const CandidateId pending = m_record.addCandidate(testing::sampleCandidate(m_run, 4)).value();
  const std::vector<ProposerLine> lines = m_record.proposers(m_run).value();
  ASSERT_EQ(lines.size(), 2U) << "one operator on two islands";
  EXPECT_EQ(lines[0].island, 0);
  EXPECT_EQ(lines[0].proposed, 2);
  EXPECT_EQ(lines[0].correct, 1);
  EXPECT_EQ(lines[0].elites, 1);
  EXPECT_EQ(lines[0].last, pending);
  EXPECT_EQ(lines[0].lastStatus, "pending");
  EXPECT_EQ(lines[1].island, 2);
  EXPECT_EQ(lines[1].proposed, 3);
  EXPECT_EQ(lines[1].elites, 2) << "the slower one holds nothing";
  EXPECT_EQ(lines[1].last, slower);
  EXPECT_EQ(m_record.cellsFilledAt(m_run).value(), (std::vector<double>{1.0, 3.5}));
  EXPECT_THAT(m_record.proposers(domain::RunId(99)).value(), IsEmpty());
}

TEST_F(RecordEvidenceTest, NothingIsKeptOfACandidateThatIsNotThere) {
  EXPECT_THAT(m_record.setAssurance(CandidateId(99), {}), IsError(ErrorKind::Storage, ::testing::HasSubstr("record")));
  EXPECT_THAT(m_record.setProfile(CandidateId(99), testing::sampleProfile()),
              IsError(ErrorKind::Storage, ::testing::HasSubstr("record")));
}

TEST_F(RecordEvidenceTest, KeepsTheNewestProfile) {
  EXPECT_FALSE(m_record.profile(m_candidate).value().has_value());
  ASSERT_THAT(m_record.setProfile(m_candidate, {}), IsOk());
  ASSERT_THAT(m_record.setProfile(m_candidate, testing::sampleProfile()), IsOk());
  EXPECT_EQ(m_record.profile(m_candidate).value()->kernels, testing::sampleProfile().kernels);
}

TEST_F(RecordEvidenceTest, FindsTheYoungestCommonAncestor) {
  int proposal = 1;
  const auto childOf = [&](std::vector<CandidateId> parents) {
    store::NewCandidate candidate = testing::sampleCandidate(m_run, proposal++);
    candidate.parents = std::move(parents);
    return m_record.addCandidate(candidate).value();
  };
  const CandidateId root = childOf({});
  const CandidateId left = childOf({root});
  const CandidateId right = childOf({root});
  const CandidateId crossed = childOf({left, right});
  const CandidateId alone = childOf({});
  EXPECT_EQ(m_record.commonAncestor(left, right).value(), root);
  EXPECT_EQ(m_record.commonAncestor(crossed, right).value(), right) << "one descends from the other";
  EXPECT_EQ(m_record.commonAncestor(childOf({crossed}), childOf({crossed, root})).value(), crossed);
  EXPECT_EQ(m_record.commonAncestor(left, alone).value(), std::nullopt);
  EXPECT_EQ(m_record.commonAncestor(left, CandidateId(99)).value(), std::nullopt);
}

TEST_F(RecordEvidenceTest, KnowsBaselinesOfTheSameTaskDeviceAndPyTorch) {
  domain::Baseline baseline = testing::sampleBaseline();
  baseline.failure.clear();
  baseline.torchVersion = "2.11.0";
  ASSERT_THAT(m_record.addBaseline(m_run, baseline), IsOk());
  const auto again = m_record.createRun(testing::sampleRun()).value();
  baseline.timing.medianNs = 77.0;
  ASSERT_THAT(m_record.addBaseline(again, baseline), IsOk());

  const std::string task = domain::taskId(testing::sampleTask());
  const auto known = m_record.knownBaselines(task, "GPU-1", "2.11.0");
  ASSERT_THAT(known, IsOk());
  ASSERT_EQ(known->size(), 1U);
  EXPECT_EQ(known->front().baseline.timing.medianNs, 77.0);
  EXPECT_EQ(known->front().run, again);
  EXPECT_EQ(known->front().startedAtMs, m_record.run(again)->startedAtMs);
  // A run that used it again did not measure it.
  const auto third = m_record.createRun(testing::sampleRun()).value();
  ASSERT_THAT(m_record.addBaseline(third, baseline), IsOk());
  EXPECT_EQ(m_record.knownBaselines(task, "GPU-1", "2.11.0").value().front().run, again);
  EXPECT_THAT(m_record.knownBaselines(task, "GPU-2", "2.11.0").value(), IsEmpty());
  EXPECT_THAT(m_record.knownBaselines(task, "GPU-1", "2.12.0").value(), IsEmpty());
  EXPECT_THAT(m_record.knownBaselines("another", "GPU-1", "2.11.0").value(), IsEmpty());
}

TEST_F(RecordEvidenceTest, SumsUpWhereTheTimeOfARunWent) {
  ASSERT_THAT(m_record.setEvaluation(m_candidate, testing::correctIn(90.0), 2.0, StageSeconds{0.5, 0.25}), IsOk());
  ASSERT_THAT(m_record.setEvaluation(m_candidate, testing::correctIn(80.0), 2.0), IsOk());  // measured again
  testing::addCorrect(m_record, m_run, 1, 0, "A0B0C1", 100.0, 3.0);
  const StageTotals totals = m_record.stageTotals(m_run).value();
  EXPECT_EQ(totals.compiled, 2);
  EXPECT_EQ(totals.compileSeconds, 2 * 1.25);
  EXPECT_EQ(totals.evaluated, 1);
  EXPECT_EQ(totals.verifySeconds, 0.5);
  EXPECT_EQ(totals.timingSeconds, 0.25);
}

}  // namespace
}  // namespace swage::store
