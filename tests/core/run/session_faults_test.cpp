// SPDX-License-Identifier: Apache-2.0
// Whatever goes wrong under it, a search goes on, or ends with a record that it can go on from.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using testing::fakeCompiler;
using testing::fakeWorker;
using ::testing::HasSubstr;

std::string nameOf(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class SessionFaults : public testing::SessionFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  SessionFaults() { m_parts.minLimitSeconds = 0.3; }

  [[nodiscard]] std::string marker() const { return (m_folder / "happened").string(); }
  [[nodiscard]] std::int64_t pending() const {
    const auto all = history();
    return std::count_if(all.begin(), all.end(), [](const auto& candidate) { return !candidate.evaluation; });
  }
  // Readable, with nothing half done, and writable by the next sitting.
  void expectWholeRecord() {
    EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
    EXPECT_EQ(onlyRun().evaluations, m_spec.maxEvaluations);
    EXPECT_EQ(pending(), 0);
    EXPECT_THAT(store::Record::open(m_spec.project, store::Record::Mode::ReadWrite), testing::IsOk());
  }
};

class WorkerFaults : public SessionFaults {};

TEST_P(WorkerFaults, CostOneCandidateAtMost) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) {
    return fakeWorker(GetParam(), {"--from", "3", "--once", marker()});
  };
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  expectWholeRecord();
  const auto all = history();
  const auto lost = std::count_if(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    return std::holds_alternative<domain::Crashed>(*candidate.evaluation) ||
           std::holds_alternative<domain::TimedOut>(*candidate.evaluation);
  });
  EXPECT_LE(lost, 1);
}

INSTANTIATE_TEST_SUITE_P(SessionFaults, WorkerFaults,
                         ::testing::Values("crash", "hang", "beat_forever", "garbage_frame", "half_frame",
                                           "huge_length", "noisy_stdout", "stdout_flood", "stderr_flood",
                                           "heartbeat_flood", "exit_3", "grandchild", "poisoned", "wrong_request"),
                         nameOf);

class CompilerFaults : public SessionFaults {};

TEST_P(CompilerFaults, CostNoCandidate) {
  m_parts.programs.compilerCommand = fakeCompiler(GetParam(), {"--from", "2", "--once", marker()});
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  expectWholeRecord();
  const auto all = history();
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    return std::holds_alternative<domain::CompileFailed>(*candidate.evaluation);
  }));
}

INSTANTIATE_TEST_SUITE_P(SessionFaults, CompilerFaults,
                         ::testing::Values("crash", "garbage_frame", "half_frame", "huge_length", "noisy_stdout",
                                           "stderr_flood", "exit_3", "grandchild"),
                         nameOf);

class LostDevice : public SessionFaults {};

// How the workers after the fault fail.
TEST_P(LostDevice, EndsTheRunWithItsReasonAndResumeGoesOn) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) {
    return fakeWorker("poisoned", {"--from", "3", "--once", marker(), "--then", GetParam()});
  };
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Environment);
  EXPECT_THAT(outcome.error->message(), HasSubstr("the device"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("swage resume"));
  EXPECT_EQ(onlyRun().status, store::RunStatus::Failed);
  EXPECT_GT(pending(), 0) << "what the device was lost in is not its fault";

  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok"); };
  m_spec.resume = onlyRun().id;
  const services::RunOutcome resumed = run();
  ASSERT_FALSE(resumed.error) << resumed.error->message();
  expectWholeRecord();
}

INSTANTIATE_TEST_SUITE_P(SessionFaults, LostDevice, ::testing::Values("unusable", "other_device"), nameOf);

TEST_F(SessionFaults, WorkersThatAreKilledAfterAFaultAreNotTakenForALostDevice) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) {
    return fakeWorker("poisoned", {"--from", "3", "--once", marker(), "--then", "killed_before_hello"});
  };
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message(), HasSubstr("cannot be kept running"));
  EXPECT_THAT(outcome.error->message(), HasSubstr("signal 9"));
}

TEST_F(SessionFaults, AWorkerThatCannotBeKeptRunningPausesTheDevice) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) {
    return fakeWorker("ok", {"--once", marker(), "--then", "crash_before_hello"});
  };
  run();  // the first worker serves the whole run
  m_spec.resume = onlyRun().id;
  m_spec.maxEvaluations = 40;
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message(), HasSubstr("cannot be kept running"));
  EXPECT_EQ(onlyRun().evaluations, 20) << "what was there is still there";
}

}  // namespace
}  // namespace swage::run
