// SPDX-License-Identifier: Apache-2.0
// Whole runs on a fake GPU, with a script in the place of compute-sanitizer.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::trust {
namespace {

using domain::AssuranceKind;
using domain::AssuranceVerdict;
using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SanitizedRun : public testing::SessionFixture {
 protected:
  SanitizedRun() {
    ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok", {"--gpu"}); };
    m_parts.programs.driver = [] { return process::DriverState::Loaded; };
    m_spec.target = "cuda";
  }
  ~SanitizedRun() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  // `body` sees the tool as $tool and the plan's file as $plan, and may use $once, which exists from the second call
  // on.
  void useScript(const std::string& body) {
    const std::filesystem::path file = m_folder / "compute-sanitizer";
    std::ofstream(file) << "#!/bin/sh\ntool=$2\nplan=$9\nonce=" << (m_folder / "once").string()
                        << "\necho '========= COMPUTE-SANITIZER'\n"
                        << body << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    m_parts.programs.sanitizer = file.string();
    m_parts.programs.replay = "/nonexistent/swage-replay";
  }
  [[nodiscard]] std::vector<domain::Assurance> assurancesOf(domain::CandidateId id) const {
    auto found = record().assurances(id);
    EXPECT_THAT(found, testing::IsOk());
    std::erase_if(*found, [](const domain::Assurance& assurance) {  // other checks have tests of their own
      return assurance.kind != AssuranceKind::Memcheck && assurance.kind != AssuranceKind::Racecheck &&
             assurance.kind != AssuranceKind::Initcheck;
    });
    return *found;
  }
  // Whatever is known of it.
  void expectPassed(domain::CandidateId id) const {
    for (const domain::Assurance& assurance : assurancesOf(id)) {
      EXPECT_EQ(assurance.verdict, AssuranceVerdict::Passed) << domain::name(assurance.kind) << assurance.detail;
    }
  }
  // All three tools.
  void runAndExpectAPassedWinner() {
    const services::RunOutcome outcome = run();
    ASSERT_FALSE(outcome.error) << outcome.error->message();
    ASSERT_THAT(assurancesOf(outcome.best), SizeIs(3));
    expectPassed(outcome.best);
  }
};

constexpr const char* kClean =
    "grep -q tiny_kernel $plan || exit 9\n"
    "case $tool in racecheck) echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)';;\n"
    "*) echo '========= ERROR SUMMARY: 0 errors';; esac";

TEST_F(SanitizedRun, ElitesThatPassAreAssured) {
  useScript(kClean);
  runAndExpectAPassedWinner();
}

TEST_F(SanitizedRun, RacecheckIsToldToLookOnlyWhereMemoryIsShared) {
  useScript("case $tool,$* in racecheck,*--if-shared-memory) ;; racecheck,*|*--if-shared-memory) exit 9;; esac\n" +
            std::string(kClean));
  runAndExpectAPassedWinner();
}

// The fake worker's times are the first argument of the kernel, in microseconds.
TEST_F(SanitizedRun, RacecheckSeesTheFirstBlocksOfALongKernel) {
  m_spaceSize = 1000;
  useScript(
      "time=$(grep -o '\"i32\":[0-9]*' $plan | head -1 | cut -d: -f2)\n"
      "case $tool,$plan,$((time > 100)) in\n"
      "racecheck,*/racecheck.json,1) touch $once;; racecheck,*/plan.json,0) ;; racecheck,*) exit 9;; esac\n" +
      std::string(kClean));
  runAndExpectAPassedWinner();
  for (const store::CandidateRecord& candidate : history()) {
    expectPassed(candidate.id);
  }
  EXPECT_TRUE(std::filesystem::exists(m_folder / "once")) << "one of them was long";
}

TEST_F(SanitizedRun, AnEliteThatFailsIsNoLongerCorrectAndDoesNotWin) {
  useScript(
      "if mkdir $once 2>/dev/null; then\n"
      "echo '========= Invalid __global__ read of size 4 bytes'\n"
      "echo '=========     at tiny_kernel+0x10'\n"
      "echo '========= ERROR SUMMARY: 2 errors'; exit 4; fi\n" +
      std::string(kClean));
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto all = history();
  const auto rejected = std::find_if(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    const auto* wrong = std::get_if<domain::Wrong>(&*candidate.evaluation);
    return wrong != nullptr && wrong->rule == "memcheck";
  });
  ASSERT_NE(rejected, all.end());
  EXPECT_THAT(std::get<domain::Wrong>(*rejected->evaluation).detail, HasSubstr("tiny_kernel+0x10"));
  EXPECT_NE(outcome.best, rejected->id);
  EXPECT_EQ(onlyRun().best, outcome.best);
  const auto assurances = assurancesOf(rejected->id);
  ASSERT_THAT(assurances, SizeIs(1)) << "the other tools are not run";
  EXPECT_EQ(assurances[0].verdict, AssuranceVerdict::Failed);
}

TEST_F(SanitizedRun, ARaceMakesItUnstable) {
  useScript(
      "if [ $tool = racecheck ] && mkdir $once 2>/dev/null; then\n"
      "echo '========= Error: Race reported between Write access at tiny_kernel+0x10'\n"
      "echo '========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)'; exit 0; fi\n" +
      std::string(kClean));
  run();
  const auto all = history();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const store::CandidateRecord& candidate) {
                            return std::holds_alternative<domain::Unstable>(*candidate.evaluation);
                          }),
            1);
}

TEST_F(SanitizedRun, WithoutTheToolTheReasonIsRecordedAndSaid) {
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto assurances = assurancesOf(outcome.best);
  ASSERT_THAT(assurances, SizeIs(3));
  EXPECT_EQ(assurances[0].verdict, AssuranceVerdict::Unavailable);
  EXPECT_THAT(assurances[0].detail, HasSubstr("not installed"));
  EXPECT_TRUE(std::any_of(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
    return notice.text.find("not sanitised") != std::string::npos;
  }));
}

TEST_F(SanitizedRun, AToolThatDoesNotWorkBlamesNobody) {
  useScript("echo '========= Error: No CUDA device was found'; exit 1");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto assurances = assurancesOf(outcome.best);
  ASSERT_THAT(assurances, SizeIs(3));
  EXPECT_THAT(assurances[0].detail, HasSubstr("No CUDA device was found"));
}

// Each waits for another one, ten seconds at most.
TEST_F(SanitizedRun, SeveralElitesAreCheckedAtOnce) {
  m_parts.sanitizers = 2;
  m_parts.programs.workerCommand = [](domain::DeviceKind) {
    return fakeWorker("ok", {"--gpu", "--memory-bytes", "8589934592"});
  };
  useScript(
      "mkdir -p $once; touch $once/$$; for i in $(seq 200); do\n"
      "[ $(ls $once | wc -l) -ge 2 ] && break; sleep 0.05; done\n"
      "[ $(ls $once | wc -l) -ge 2 ] || exit 1\n" +
      std::string(kClean));
  runAndExpectAPassedWinner();
}

// Whoever comes while another is there fails. There is room for two processes, but not for their buffers too.
TEST_F(SanitizedRun, TheyAreCheckedOneByOneWhereMemoryIsShort) {
  m_parts.sanitizers = 2;
  m_parts.programs.workerCommand = [](domain::DeviceKind) {
    return fakeWorker("ok", {"--gpu", "--memory-bytes", "2147483648"});
  };
  useScript("mkdir $once || exit 1; sleep 0.05\n" + std::string(kClean) + "\nrmdir $once");
  runAndExpectAPassedWinner();
  for (const store::CandidateRecord& candidate : history()) {
    expectPassed(candidate.id);
  }
}

TEST_F(SanitizedRun, AWorkerThatDiesBeforeItSpoilsNothing) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("crash-making-room", {"--gpu"}); };
  useScript(kClean);
  runAndExpectAPassedWinner();
}

TEST_F(SanitizedRun, StopWhileTheWorkerMakesRoomEndsTheRun) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("hang-making-room", {"--gpu"}); };
  useScript(kClean);
  start(m_session);
  ASSERT_TRUE(testing::waitFor([this] {
    return !m_lanes.empty() && std::any_of(m_lanes.back().begin(), m_lanes.back().end(),
                                           [](const auto& lane) { return lane.doing == "making room"; });
  }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
}

TEST_F(SanitizedRun, StopWhileItRunsEndsTheRun) {
  useScript("touch $once; exec sleep 1000");
  start(m_session);
  ASSERT_TRUE(testing::waitFor([this] { return std::filesystem::exists(m_folder / "once"); }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
}

}  // namespace
}  // namespace swage::trust
