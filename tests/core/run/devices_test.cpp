// SPDX-License-Identifier: Apache-2.0
// Whole runs on several fake GPUs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using testing::fakeWorker;
using ::testing::HasSubstr;

class SeveralDevices : public testing::SessionFixture {
 protected:
  SeveralDevices() {
    ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return gpu("GPU-1"); };
    m_parts.moreWorkers = {gpu("GPU-2")};
    m_parts.programs.driver = [] { return process::DriverState::Loaded; };
    m_spec.target = "cuda";
    m_spec.maxEvaluations = 60;
    m_spaceSize = 1000;
  }
  ~SeveralDevices() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  static process::LaunchCommand gpu(const std::string& uuid, const std::string& behaviour = "ok",
                                    std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--gpu", "--evaluate-ms", "20", "--uuid", uuid});
    return fakeWorker(behaviour, more);
  }
  [[nodiscard]] std::int64_t events(domain::EventKind kind) const {
    const auto all = record().events(onlyRun().id);
    EXPECT_THAT(all, testing::IsOk());
    return std::count_if(all->begin(), all->end(), [kind](const auto& event) { return event.kind == kind; });
  }
  [[nodiscard]] bool wasTold(const std::string& text) const {
    return std::any_of(m_notices.begin(), m_notices.end(),
                       [&text](const services::Notice& notice) { return notice.text.find(text) != std::string::npos; });
  }
  void expectWholeRun(const services::RunOutcome& outcome) {
    ASSERT_FALSE(outcome.error) << outcome.error->message();
    EXPECT_EQ(onlyRun().evaluations, 60);
    for (const store::CandidateRecord& candidate : history()) {
      EXPECT_TRUE(candidate.evaluation.has_value());
    }
  }
};

TEST_F(SeveralDevices, ShareTheCandidatesOfARun) {
  expectWholeRun(run());
  EXPECT_EQ(events(domain::EventKind::DeviceJoined), 1);
  EXPECT_GT(events(domain::EventKind::EvaluatedOn), 5) << "of 60, on the second one";
}

TEST_F(SeveralDevices, AnotherModelIsNotMixedIn) {
  m_parts.moreWorkers = {gpu("GPU-2", "ok", {"--model", "Other GPU"})};
  expectWholeRun(run());
  EXPECT_TRUE(wasTold("Other GPU is no Fake GPU"));
  EXPECT_EQ(events(domain::EventKind::DeviceJoined), 0);
}

TEST_F(SeveralDevices, TheSameDeviceTwiceIsUsedOnce) {
  m_parts.moreWorkers = {gpu("GPU-1")};
  expectWholeRun(run());
  EXPECT_TRUE(wasTold("GPU-1 is given twice"));
}

TEST_F(SeveralDevices, OneThatIsLostIsLeftOutAndItsCandidateEvaluatedElsewhere) {
  m_parts.moreWorkers = {
      gpu("GPU-2", "poisoned", {"--from", "3", "--once", (m_folder / "lost").string(), "--then", "unusable"})};
  expectWholeRun(run());
  EXPECT_TRUE(wasTold("a GPU is left out: the device is given up"));
}

TEST_F(SeveralDevices, AnotherTakesThePlaceOfTheFirst) {
  m_parts.programs.workerCommand = [file = (m_folder / "lost").string()](domain::DeviceKind) {
    return gpu("GPU-1", "poisoned", {"--from", "20", "--once", file, "--then", "unusable"});
  };
  expectWholeRun(run());
  EXPECT_TRUE(wasTold("a GPU is left out: the device is given up"));
}

TEST_F(SeveralDevices, PauseAndStopReachAllOfThem) {
  m_spec.maxEvaluations = 0;
  m_spaceSize = 100000;
  start(m_session);
  ASSERT_TRUE(testing::waitFor([this] { return m_rows.size() > 20; }));
  m_session->pause();
  ASSERT_TRUE(testing::waitFor([this] { return m_states.back() == services::RunState::Paused; }));
  m_session->resume();
  const std::size_t before = m_rows.size();
  ASSERT_TRUE(testing::waitFor([&] { return m_rows.size() > before + 10; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
}

}  // namespace
}  // namespace swage::run
