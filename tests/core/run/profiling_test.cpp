// SPDX-License-Identifier: Apache-2.0
#include "core/run/profiling.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/domain/json.h"
#include "core/run/elite_profiles.h"
#include "core/run/profile_job.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::SizeIs;
using testing::waitFor;
using Outcome = std::optional<Result<domain::Profile>>;

class ProfilingTest : public testing::SessionFixture {
 protected:
  // A finished run, whose best candidate is of interest.
  domain::CandidateId best() {
    if (!m_best.isValid()) {
      m_best = run().best;
      EXPECT_TRUE(m_best.isValid());
    }
    return m_best;
  }
  Result<domain::Profile> profileOf(domain::CandidateId id) {
    Outcome outcome;
    ProfileJob job(m_parts.programs, m_spec.project, id);
    QObject::connect(&job, &ProfileJob::finished, &job, [&](const Result<domain::Profile>& it) { outcome = it; });
    job.start();
    EXPECT_TRUE(waitFor([&] { return outcome.has_value(); }));
    return outcome.value_or(Error(ErrorKind::Internal, "never finished"));
  }
  [[nodiscard]] std::optional<domain::Profile> stored(domain::CandidateId id) const {
    const auto profile = record().profile(id);
    EXPECT_THAT(profile, IsOk());
    return profile ? *profile : std::nullopt;
  }
  void profileWith(const std::string& behaviour, const std::vector<std::string>& more = {}) {
    m_parts.programs.workerCommand = [behaviour, more](domain::DeviceKind) { return fakeWorker(behaviour, more); };
  }

  domain::CandidateId m_best;
};

TEST_F(ProfilingTest, OfACandidateIsKeptInTheRecord) {
  const domain::CandidateId id = best();
  EXPECT_FALSE(stored(id)) << "a run profiles nothing where it was not asked to";
  const auto profile = profileOf(id);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->source, domain::ProfileSource::Counters);
  ASSERT_THAT(profile->kernels, SizeIs(1));
  EXPECT_GT(profile->kernels[0].durationNs, 0.0);
  EXPECT_EQ(profile->kernels[0].registers, 16) << "from the compiler, since the worker did not say";
  ASSERT_TRUE(stored(id));
  EXPECT_EQ(domain::toJson(*stored(id)), domain::toJson(*profile));
}

TEST_F(ProfilingTest, OfSomethingThatIsNotThereMakesNothing) {
  EXPECT_FALSE(profileOf(domain::CandidateId(1)));
  EXPECT_FALSE(std::filesystem::exists(m_spec.project));
  (void)best();
  EXPECT_FALSE(profileOf(domain::CandidateId(4711)));
}

TEST_F(ProfilingTest, OfAKernelThatEndsTheWorkerIsWhatTheCompilerSaid) {
  const domain::CandidateId id = best();
  profileWith("crash");
  const auto profile = profileOf(id);
  ASSERT_THAT(profile, IsOk());
  EXPECT_EQ(profile->source, domain::ProfileSource::Compiler);
  EXPECT_THAT(profile->limitation, HasSubstr("the worker was lost while it profiled"));
  ASSERT_THAT(profile->kernels, SizeIs(1));
  EXPECT_EQ(profile->kernels[0].registers, 16);
  EXPECT_TRUE(stored(id));
}

TEST_F(ProfilingTest, OfATaskThatCannotBeLoadedIsAnErrorAndNotKept) {
  const domain::CandidateId id = best();
  profileWith("refuse_task");
  EXPECT_THAT(profileOf(id), IsError(ErrorKind::Unsupported, HasSubstr("no such operator")));
  profileWith("crash_before_hello");
  EXPECT_THAT(profileOf(id), IsError(ErrorKind::Environment, HasSubstr("cannot profile")));
  EXPECT_FALSE(stored(id));
}

TEST_F(ProfilingTest, CanBeCancelled) {
  const domain::CandidateId id = best();
  profileWith("hang");
  Outcome outcome;
  ProfileJob job(m_parts.programs, m_spec.project, id);
  QObject::connect(&job, &ProfileJob::finished, &job, [&](const Result<domain::Profile>& it) { outcome = it; });
  job.start();
  QTimer::singleShot(300, &job, &ProfileJob::cancel);
  ASSERT_TRUE(waitFor([&] { return outcome.has_value(); }));
  EXPECT_THAT(*outcome, IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_FALSE(stored(id));
}

TEST_F(ProfilingTest, WaitsForNobodyWhoTimesOnTheGpu) {
  const domain::CandidateId id = best();
  ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
  domain::DeviceInfo gpu;
  gpu.kind = domain::DeviceKind::Cuda;
  gpu.host = "test";
  gpu.uuid = "GPU-fake";
  auto lease = process::DeviceLease::take(gpu);
  ASSERT_THAT(lease, IsOk());
  profileWith("ok", {"--gpu"});
  EXPECT_THAT(profileOf(id), IsError(ErrorKind::Locked, ::testing::_));
  EXPECT_FALSE(stored(id));
  lease = Error(ErrorKind::Internal, "given back");
  EXPECT_THAT(profileOf(id), IsOk());
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(WithCompilerFacts, FillsWhatTheDeviceDidNotSay) {
  domain::KernelFacts facts;
  facts.entry = "k";
  facts.registers = 40;
  facts.spillBytes = 8;
  domain::KernelFacts unused;
  unused.entry = "unused";
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  profile.kernels.resize(2);
  profile.kernels[0].entry = profile.kernels[1].entry = "k";
  profile.kernels[0].registers = 48;
  const domain::Profile filled = withCompilerFacts(profile, {facts, unused});
  ASSERT_THAT(filled.kernels, SizeIs(2)) << "what no step launches has no profile";
  EXPECT_EQ(filled.kernels[0].registers, 48);
  EXPECT_EQ(filled.kernels[1].registers, 40);
  EXPECT_EQ(filled.kernels[1].spillBytes, 8);
  EXPECT_THAT(withCompilerFacts({}, {facts, unused}).kernels, SizeIs(2));
}

TEST(WithCompilerFacts, PlacesInstructionsInTheProgram) {
  domain::KernelFacts facts;
  facts.entry = "k";
  facts.lines = {{10, 5, 100}};  // lines 10 to 14 of its part stand from line 100 on
  domain::Profile profile;
  profile.source = domain::ProfileSource::Counters;
  profile.kernels.resize(1);
  profile.kernels[0].entry = "k";
  profile.kernels[0].instructions.resize(3);
  profile.kernels[0].instructions[0].line = 12;
  profile.kernels[0].instructions[1].line = 3;  // of no line of the program
  const domain::Profile placed = withCompilerFacts(profile, {facts});
  EXPECT_EQ(placed.kernels[0].instructions[0].line, 102);
  EXPECT_EQ(placed.kernels[0].instructions[1].line, 0);
  EXPECT_EQ(placed.kernels[0].instructions[2].line, 0);
}

TEST(WithListing, GivesSampledInstructionsTheirTextAndLine) {
  domain::Profile profile;
  profile.kernels.resize(1);
  profile.kernels[0].instructions = {{0x1120, "", 0, 5, {}}, {0x1130, "FADD", 3, 5, {}}, {0x2000, "", 0, 1, {}}};
  const auto listed =
      withListing(profile, "k():\n/in/source.cpp:12\n    1120:\tret\n    1130:\tnop\n").kernels[0].instructions;
  EXPECT_EQ(listed[0], (domain::InstructionSamples{0x1120, "ret", 12, 5, {}}));
  EXPECT_EQ(listed[1].text, "FADD") << "the device knew it";
  EXPECT_EQ(listed[2].line, 0);
}

class EliteProfilesTest : public ProfilingTest {
 protected:
  EliteProfilesTest() { m_parts.profiledTargets = {domain::DeviceKind::Cpu}; }

  // The search itself goes well.
  void searchThenProfileWith(const std::string& behaviour) {
    m_parts.programs.workerCommand = [this, behaviour](domain::DeviceKind) {
      const bool profiles = !m_progress.empty() && m_progress.back().stage == "profiling the best";
      m_profilers += profiles ? 1 : 0;
      return fakeWorker(profiles ? behaviour : "ok");
    };
  }
  [[nodiscard]] std::vector<domain::CandidateId> profiled() const {
    std::vector<domain::CandidateId> result;
    for (const store::CandidateRecord& candidate : history()) {
      if (stored(candidate.id)) {
        result.push_back(candidate.id);
      }
    }
    return result;
  }
  [[nodiscard]] std::string noticeOfProfiles() const {
    const auto found = std::find_if(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
      return notice.text.find("profile") != std::string::npos;
    });
    return found == m_notices.end() ? std::string() : found->text;
  }
  // What EliteProfiles::finished() gave. Three candidates were measured; the first has no kernel, the last won.
  std::string profileTwo(EliteProfiles::Options options) {
    auto opened = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
    EXPECT_THAT(opened, IsOk());
    RemeasuredCandidates measured;
    const auto history = opened->history(domain::RunId(1));
    EXPECT_THAT(history, IsOk());
    for (const store::CandidateRecord& candidate : *history) {
      if (candidate.evaluation && domain::asCorrect(*candidate.evaluation) != nullptr && measured.size() < 3) {
        measured[candidate.id] = Remeasured{.timing = domain::asCorrect(*candidate.evaluation)->timing};
      }
    }
    EliteProfiles profiles(*opened, measured, std::move(options));
    std::optional<std::string> missing;
    QObject::connect(&profiles, &EliteProfiles::finished, &profiles, [&](const std::string& it) { missing = it; });
    profiles.start(measured.rbegin()->first);
    EXPECT_TRUE(profiles.isRunning());
    EXPECT_TRUE(waitFor([&] { return missing.has_value(); }));
    EXPECT_FALSE(profiles.isRunning());
    m_last = measured.rbegin()->first;
    return missing.value_or("never finished");
  }

  int m_profilers = 0;
  domain::CandidateId m_last;
};

TEST_F(EliteProfilesTest, AreOfTheWinnerAndOthersThatWereMeasuredAgain) {
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_TRUE(stored(outcome.best));
  EXPECT_FALSE(stored(history().front().id)) << "the task's own operators have no kernel of ours";
  EXPECT_GE(profiled().size(), 2U);
  EXPECT_LE(profiled().size(), 8U);
  EXPECT_EQ(noticeOfProfiles(), "");
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
}

TEST_F(EliteProfilesTest, ThatFailAreANoticeAndTheRunIsAsGood) {
  searchThenProfileWith("crash_before_hello");
  const services::RunOutcome outcome = run();
  EXPECT_FALSE(outcome.error);
  EXPECT_GT(outcome.bestSpeedup.value, 3.0);
  EXPECT_THAT(noticeOfProfiles(), HasSubstr("cannot profile"));
  EXPECT_THAT(profiled(), IsEmpty());
}

TEST_F(EliteProfilesTest, AreGivenUpWhenTheRunIsStopped) {
  searchThenProfileWith("hang");
  start(m_session);
  ASSERT_TRUE(waitFor([this] { return m_profilers == 1; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_FALSE(m_outcomes[0].interrupted) << "the winner was known";
  EXPECT_TRUE(m_outcomes[0].best.isValid());
  EXPECT_THAT(profiled(), IsEmpty());
}

TEST_F(EliteProfilesTest, AreGivenUpWhenTheRunIsKilled) {
  searchThenProfileWith("hang");
  start(m_session);
  ASSERT_TRUE(waitFor([this] { return m_profilers == 1; }));
  QTimer::singleShot(300, m_session.get(), &RunSession::kill);
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].best.isValid());
}

TEST_F(EliteProfilesTest, BeginWithTheWinnerAndAreAtMostSoMany) {
  m_parts.profiledTargets.clear();
  run();
  EXPECT_EQ(profileTwo({.worker = fakeWorker("ok"), .candidates = 1}), "");
  EXPECT_EQ(profiled(), std::vector{m_last});
  EXPECT_EQ(profileTwo({.worker = fakeWorker("ok")}), "");
  EXPECT_THAT(profiled(), SizeIs(2));
}

TEST_F(EliteProfilesTest, EndInTime) {
  m_parts.profiledTargets.clear();
  run();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(profileTwo({.worker = fakeWorker("hang"),
                          .stopGrace = std::chrono::milliseconds(200),
                          .endWithin = std::chrono::milliseconds(300)}),
              HasSubstr("there was no time left for profiles"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_THAT(profileTwo({.worker = fakeWorker("ok"), .startWithin = std::chrono::milliseconds(-1)}),
              HasSubstr("there was no time left for profiles"));
  EXPECT_THAT(profiled(), IsEmpty());
}

}  // namespace
}  // namespace swage::run
