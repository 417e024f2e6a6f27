// SPDX-License-Identifier: Apache-2.0
#include "core/engine/profile_service_impl.h"

#include "core/domain/json.h"
#include "core/engine/export_facts.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;
using Stage = services::ProfileProgress::Stage;

class ProfileServiceTest : public testing::SessionFixture {
 protected:
  ProfileServiceTest() {
    m_candidate = run().best;
    EXPECT_THAT(m_service.open(m_spec.project), IsOk());
  }
  Result<services::ProfileReport> profileWith(const std::string& behaviour) {
    m_parts.programs.workerCommand = [behaviour](domain::DeviceKind) { return fakeWorker(behaviour); };
    ProfileServiceImpl profiles(m_parts.programs, m_service);
    std::vector<Result<services::ProfileReport>> ends;
    QObject::connect(&profiles, &services::ProfileService::progressed, &profiles,
                     [&](const services::ProfileProgress& progress) {
                       m_stages.push_back(progress.stage);
                       if (m_cancelsAt == progress.stage) {
                         profiles.cancel();
                       }
                     });
    QObject::connect(&profiles, &services::ProfileService::finished, &profiles,
                     [&](domain::CandidateId id, const auto& report) {
                       EXPECT_EQ(id, m_candidate);
                       EXPECT_FALSE(profiles.profiling().isValid()) << "the next one can start";
                       ends.push_back(report);
                     });
    profiles.start(m_spec.project, m_candidate);
    EXPECT_EQ(profiles.profiling(), m_candidate);
    EXPECT_TRUE(waitFor([&] { return !ends.empty(); }));
    return ends.empty() ? Error(ErrorKind::Internal, "never finished") : ends.front();
  }

  RecordServiceImpl m_service;
  domain::CandidateId m_candidate;
  std::vector<Stage> m_stages;
  std::optional<Stage> m_cancelsAt;
};

TEST_F(ProfileServiceTest, TellsStagesAndReportsWhatTheRecordHas) {
  const auto report = profileWith("ok");
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(m_stages, ::testing::Contains(Stage::LoadingTask));
  EXPECT_EQ(m_stages.back(), Stage::Profiling);
  const auto stored = m_service.profile(m_candidate);
  ASSERT_THAT(stored, IsOk());
  ASSERT_TRUE(*stored);
  EXPECT_EQ(domain::toJson(report->profile), domain::toJson(**stored)) << "what `swage show --json` prints";
  ASSERT_EQ(report->diagnosis.kernels.size(), report->profile.kernels.size());
  EXPECT_EQ(report->diagnosis.candidateNs, m_service.candidate(m_candidate)->row.timeNs);
  EXPECT_GT(report->diagnosis.taskBytes, 0.0);
}

TEST_F(ProfileServiceTest, HasTheSameChecksAsAnExport) {
  const ProfileServiceImpl profiles(m_parts.programs, m_service);
  const auto gates = profiles.gates(m_candidate);
  ASSERT_THAT(gates, IsOk());
  const auto record = store::Record::open(m_spec.project, store::Record::Mode::ReadOnly);
  ASSERT_THAT(record, IsOk());
  const auto evidence = readExportEvidence(*record, m_candidate);
  ASSERT_THAT(evidence, IsOk());
  const std::vector<services::ExportGate> exported = exportGates(*evidence);
  ASSERT_EQ(gates->size(), exported.size());
  for (std::size_t i = 0; i < exported.size(); ++i) {
    EXPECT_EQ((*gates)[i].kind, exported[i].kind);
    EXPECT_EQ((*gates)[i].state, exported[i].state);
    EXPECT_EQ((*gates)[i].detail, exported[i].detail);
  }
}

TEST_F(ProfileServiceTest, CanBeCancelledAndKeepsNothing) {
  m_cancelsAt = Stage::LoadingTask;
  EXPECT_THAT(profileWith("hang"), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_FALSE(m_service.profileReport(m_candidate)->has_value());
}

TEST_F(ProfileServiceTest, CanBeCancelledBeforeItHasBegun) {
  ProfileServiceImpl profiles(m_parts.programs, m_service);
  std::optional<Result<services::ProfileReport>> end;
  QObject::connect(&profiles, &services::ProfileService::finished, &profiles,
                   [&](domain::CandidateId, const auto& report) { end = report; });
  profiles.start(m_spec.project, m_candidate);
  profiles.cancel();
  ASSERT_TRUE(waitFor([&] { return end.has_value(); }));
  EXPECT_THAT(*end, IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
}

TEST_F(ProfileServiceTest, ReportsWhyItCouldNotBeMade) {
  EXPECT_THAT(profileWith("crash_before_hello"), IsError(ErrorKind::Environment, HasSubstr("cannot profile")));
}

}  // namespace
}  // namespace swage::engine
