// SPDX-License-Identifier: Apache-2.0
// What a session does about measurements: baselines that are known already, and winners that are hard to believe.
#include <algorithm>
#include <fstream>
#include <memory>

#include "core/base/files.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::IsOk;

class Measurement : public testing::SessionFixture {
 protected:
  // The fake worker needs n microseconds, eager 100: every program of a small space is hard to believe.
  Measurement() { m_spaceSize = 5; }

  // The second and every later worker of a session misbehaves.
  void laterWorkers(const std::string& behaviour) {
    m_parts.programs.workerCommand = [this, behaviour](domain::DeviceKind) {
      return fakeWorker(m_workers++ == 0 ? "ok" : behaviour);
    };
  }
  // What a process of its own said of a candidate; no value: it was not asked.
  [[nodiscard]] std::optional<domain::AssuranceVerdict> verdictOfAnotherProcess(domain::CandidateId candidate) const {
    const auto found = record().assurances(candidate);
    EXPECT_THAT(found, IsOk());
    for (const domain::Assurance& assurance : *found) {
      if (assurance.kind == domain::AssuranceKind::FreshProcess) {
        return assurance.verdict;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] bool wasNoticed(const std::string& text) const {
    return std::any_of(m_notices.begin(), m_notices.end(),
                       [&](const services::Notice& notice) { return notice.text.find(text) != std::string::npos; });
  }

  int m_workers = 0;
};

TEST_F(Measurement, AWinnerThatIsHardToBelieveIsMeasuredByAnotherProcess) {
  laterWorkers("ok");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_GT(outcome.bestSpeedup.value, 10.0);
  EXPECT_EQ(m_workers, 2);
  EXPECT_EQ(verdictOfAnotherProcess(outcome.best), domain::AssuranceVerdict::Passed);
}

TEST_F(Measurement, WhomAnotherProcessContradictsDoesNotWin) {
  laterWorkers("crash");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(outcome.winner, history()[0].id) << "the task's own operators";
  EXPECT_LE(outcome.bestSpeedup.value, 10.0) << "who is doubted is not best either";
  EXPECT_TRUE(wasNoticed("looks more than 10 times as fast as the baseline, but does not win: in a fresh process"));
  const auto all = history();
  const bool isNoted = std::any_of(all.begin(), all.end(), [this](const store::CandidateRecord& candidate) {
    return verdictOfAnotherProcess(candidate.id) == domain::AssuranceVerdict::Failed;
  });
  EXPECT_TRUE(isNoted);
}

TEST_F(Measurement, WhereNoOtherProcessCanMeasureNobodyWinsByThatMuch) {
  laterWorkers("refuse_task");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_LE(outcome.bestSpeedup.value, 10.0);
  EXPECT_TRUE(wasNoticed("it could not be measured in a fresh process: no such operator"));
}

TEST_F(Measurement, CandidatesScreenedOutByAWrongEliteAreMeasuredAgain) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) { return fakeWorker(m_workers++ == 0 ? "waver" : "ok"); };
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const std::vector<store::CandidateRecord> all = history();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    return candidate.evaluation && std::holds_alternative<domain::Wrong>(*candidate.evaluation);
  })) << "the fastest, when it was measured again";
  const auto best = record().candidate(outcome.best);
  ASSERT_THAT(best, IsOk());
  EXPECT_DOUBLE_EQ(domain::asCorrect(*best->evaluation)->timing.candidate.medianNs, 2e3);
}

TEST_F(Measurement, AKernelIsFoundHoweverManyFasterOnesFailTheLastChecks) {
  m_spaceSize = 90;
  m_spec.maxEvaluations = 90;
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("fail-last-checks"); };
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const auto best = record().candidate(outcome.winner);
  ASSERT_THAT(best, IsOk());
  double fastest = 0.0;
  int wrong = 0;
  for (const store::CandidateRecord& candidate : history()) {
    const domain::Correct* correct = domain::asCorrect(*candidate.evaluation);
    wrong += correct == nullptr ? 1 : 0;
    const double ns = correct != nullptr ? correct->timing.candidate.medianNs : 0.0;
    fastest = ns > 0.0 && (fastest == 0.0 || ns < fastest) ? ns : fastest;
  }
  EXPECT_DOUBLE_EQ(domain::asCorrect(*best->evaluation)->timing.candidate.medianNs, fastest);
  EXPECT_LT(fastest, 100e3) << "a kernel, and not PyTorch's operators";
  EXPECT_GT(wrong, 24) << "more than are measured again where some are right";
}

TEST_F(Measurement, AnOrdinaryWinnerNeedsNoOtherProcess) {
  m_spec.maxEvaluations = 1;  // the task's own operators
  laterWorkers("crash");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(m_workers, 1);
}

TEST_F(Measurement, ThatTakesItsWholeShareOfTheTimeEndsWithWhoWasMeasured) {
  testing::FakeClock clock;
  m_parts.now = clock.now();
  m_spaceSize = 30;
  m_spec.timeBudgetSeconds = 60.0;
  m_spec.maxEvaluations = 12;
  laterWorkers("ok");
  start(m_session);
  QObject::connect(m_session.get(), &RunSession::candidateEvaluated, m_session.get(), [&] {
    if (m_rows.size() > 12) {  // the first that is measured again
      clock.advance(std::chrono::minutes(5));
    }
  });
  ASSERT_TRUE(waitUntilFinished());
  ASSERT_FALSE(m_outcomes[0].error);
  EXPECT_EQ(m_rows.size(), 13U);
  EXPECT_EQ(m_outcomes[0].winner, m_rows.back().id);
}

// A shell script in the place of Python that says how long PyTorch needs and counts how often it was asked.
class KnownBaselines : public Measurement {
 protected:
  KnownBaselines() {
    const std::filesystem::path python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\necho \"$*\" >> " << (m_folder / "calls").string() << R"(
[ -e "${0%/*}/hot" ] && reason=throttled
case "$*" in
  *max-autotune*) echo '{"torch_version": "2.11.0+cu130", "modes": {
      "eager": {"median_ns": 90000, "low_ns": 89000, "high_ns": 91000, "samples": 20, "accuracy": "fp32"},
      "max-autotune": {"median_ns": 50000, "low_ns": 49000, "high_ns": 51000, "samples": 20, "accuracy": "tf32"}}}';;
  *) echo '{"torch_version": "2.11.0+cu130", "modes": {
      "eager": {"median_ns": 95000, "low_ns": 94000, "high_ns": 96000, "samples": 20, "accuracy": "fp32"},
      "compile": {"median_ns": 60000, "low_ns": 59000, "high_ns": 61000, "samples": 20, "accuracy": "fp32",
                  "stop_reason": "'$reason'", "conditions": {
                      "sm_clock_mhz": 1200, "lowest_sm_clock_mhz": 1100, "memory_clock_mhz": 2600,
                      "temperature_celsius": 88, "power_watts": 300.0, "throttle_reasons": ["thermal"]}}}}';;
esac
)";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    m_parts.programs.bridge = {python.string(), "/bridge"};
    m_spec.compileBaselines = true;
  }
  [[nodiscard]] long calls() const {
    const std::string text = readTextFile(m_folder / "calls").value_or("");
    return std::count(text.begin(), text.end(), '\n');
  }
};

TEST_F(KnownBaselines, AreMeasuredOnceForATaskADeviceAndAPyTorch) {
  EXPECT_EQ(run().baselineMode, "compile");
  EXPECT_EQ(calls(), 1);
  EXPECT_FALSE(wasNoticed("an earlier run measured"));
  EXPECT_EQ(run().baselineMode, "compile");
  EXPECT_EQ(calls(), 1);
  EXPECT_TRUE(wasNoticed("the baselines (eager, compile) are those that an earlier run measured on 20"));
  ASSERT_EQ(m_baselines.size(), 2U);
}

TEST_F(KnownBaselines, AreMeasuredAgainOnRequest) {
  run();
  m_spec.remeasureBaselines = true;
  run();
  EXPECT_EQ(calls(), 2);
}

TEST_F(KnownBaselines, OfADeviceThatWasHeldBackAreSaidToBeSoAndMeasuredAgain) {
  std::ofstream(m_folder / "hot") << "\n";
  run();
  EXPECT_TRUE(wasNoticed("the baseline 'compile' was measured while the device was throttled or busy (thermal)"));
  EXPECT_FALSE(wasNoticed("the baseline 'eager' was"));
  std::filesystem::remove(m_folder / "hot");
  run();
  EXPECT_EQ(calls(), 2);
  run();
  EXPECT_EQ(calls(), 2) << "the second ones are known";
}

TEST_F(KnownBaselines, OfAModeThatIsMissingAreMeasured) {
  run();
  m_spec.baselines = {"eager", "compile", "max-autotune"};
  const services::RunOutcome outcome = run();
  EXPECT_EQ(calls(), 3) << "max-autotune has a call of its own";
  ASSERT_EQ(m_baselines.size(), 3U);
  EXPECT_EQ(outcome.baselineMode, "compile") << "max-autotune is faster, but less exact than eager";
}

}  // namespace
}  // namespace swage::run
