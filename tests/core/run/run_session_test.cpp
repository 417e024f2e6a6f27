// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <QTimer>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "core/domain/json.h"
#include "core/services/drawn_seed.h"
#include "core/trust/trust.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using services::RunState;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::fakeCompiler;
using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::waitFor;

class RunSessionTest : public testing::SessionFixture {
 protected:
  // A search that only its time ends, by this clock.
  void startFor(double seconds, testing::FakeClock& clock) {
    m_parts.now = clock.now();
    m_spec.timeBudgetSeconds = seconds;
    m_spec.maxEvaluations = 0;
    m_spaceSize = 100000;
    start(m_session);
  }
};

template <class T>
std::int64_t countOf(const std::vector<store::CandidateRecord>& history) {
  return std::count_if(history.begin(), history.end(), [](const store::CandidateRecord& candidate) {
    return candidate.evaluation && std::holds_alternative<T>(*candidate.evaluation);
  });
}

TEST_F(RunSessionTest, RunsToItsLastEvaluationAndFindsSomethingFaster) {
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(outcome.state, RunState::Finished);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_EQ(outcome.baselineMode, "eager");
  EXPECT_GT(outcome.bestSpeedup.value, 3.0);
  EXPECT_THAT(m_states, ElementsAre(RunState::Importing, RunState::Preparing, RunState::Running, RunState::Finished));
  const store::RunRow row = onlyRun();
  EXPECT_EQ(row.status, store::RunStatus::Finished);
  EXPECT_EQ(row.evaluations, 20);
  EXPECT_EQ(row.best, outcome.best);
  EXPECT_EQ(row.winner, outcome.winner);
  EXPECT_EQ(outcome.winner, outcome.best);
  EXPECT_EQ(row.bestSpeedup, outcome.bestSpeedup);
  EXPECT_DOUBLE_EQ(row.baselineNs, 100e3);
}

TEST_F(RunSessionTest, TheFirstCandidateIsTheTaskAsItIs) {
  run();
  const auto history = this->history();
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history[0].madeBy, domain::OperatorKind::Baseline);
  EXPECT_THAT(history[0].genome->regions, IsEmpty());
  EXPECT_TRUE(history[0].binaryHash.empty());
  ASSERT_FALSE(m_rows.empty());
  EXPECT_EQ(m_rows[0].id, history[0].id);
}

TEST_F(RunSessionTest, EveryKindOfEndIsRecordedAsData) {
  m_spec.maxEvaluations = 60;
  m_spaceSize = 14;
  run();
  const auto history = this->history();
  EXPECT_GT(countOf<domain::Correct>(history), 0);
  EXPECT_EQ(countOf<domain::Wrong>(history), 1) << "13 is wrong, and is tried once";
  EXPECT_GT(countOf<domain::Duplicate>(history), 0);
  EXPECT_GT(countOf<domain::Rejected>(history), 0) << "7 does not fit";
}

// The tiny task moves 128 bytes, which twice this copy's bandwidth does in 10 microseconds.
TEST_F(RunSessionTest, ATimeBelowThePhysicalFloorIsACheatAndNeverWins) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok", {"--copy-bytes", "6.4e6"}); };
  m_spec.maxEvaluations = 60;
  m_spaceSize = 14;
  const services::RunOutcome outcome = run();
  int refused = 0;
  for (const store::CandidateRecord& candidate : history()) {
    if (const auto* cheating = std::get_if<domain::Cheating>(&candidate.evaluation.value())) {
      EXPECT_EQ(cheating->rule, "physical floor");
      EXPECT_THAT(cheating->detail, HasSubstr("need 10000 ns"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  const store::RunRow best = onlyRun();
  EXPECT_EQ(best.bestTimeNs, 10e3) << "the first that is possible";
  EXPECT_EQ(best.best, outcome.best);
}

TEST_F(RunSessionTest, EveryCandidateThatMayBecomeAnEliteIsCheckedWithHeldBackSeeds) {
  run();
  const store::Record record = this->record();
  int checked = 0;
  for (const store::CandidateRecord& candidate : history()) {
    const auto assurances = record.assurances(candidate.id);
    ASSERT_THAT(assurances, testing::IsOk());
    const bool isCorrect = candidate.evaluation && domain::asCorrect(*candidate.evaluation) != nullptr;
    const auto heldBack = std::find_if(assurances->begin(), assurances->end(), [](const domain::Assurance& assurance) {
      return assurance.kind == domain::AssuranceKind::HeldBackSeeds;
    });
    ASSERT_EQ(heldBack != assurances->end(), isCorrect);
    if (isCorrect) {
      EXPECT_EQ(heldBack->verdict, domain::AssuranceVerdict::Passed);
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

TEST_F(RunSessionTest, DoubtsAboutTheTaskAreRecordedAndShown) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("doubt_task"); };
  run();
  EXPECT_TRUE(std::any_of(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
    return notice.severity == services::Notice::Severity::Warning &&
           notice.text == "correctness checks of this task are weak: the output is constant";
  }));
  const auto doubts = trust::doubtsOf(record(), onlyRun().id);
  ASSERT_THAT(doubts, testing::IsOk());
  EXPECT_THAT(*doubts, ElementsAre("the output is constant"));
}

TEST_F(RunSessionTest, ASpaceWithoutAnythingNewEndsTheRun) {
  m_spec.maxEvaluations = 0;
  m_spaceSize = 3;
  const services::RunOutcome outcome = run();
  EXPECT_FALSE(outcome.error);
  EXPECT_TRUE(std::any_of(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
    return notice.text.find("has been tried") != std::string::npos;
  }));
}

TEST_F(RunSessionTest, TheSameSeedGivesTheSameCandidates) {
  const auto sources = [this] {
    std::vector<std::string> result;
    for (const auto& candidate : history()) {
      result.push_back(candidate.program.source);
    }
    return result;
  };
  run();
  const auto first = sources();
  m_spec.project = m_folder / "again";
  run();
  EXPECT_EQ(sources(), first);
  m_spec.project = m_folder / "other";
  m_spec.seed = 2;
  run();
  EXPECT_NE(sources(), first);
}

TEST_F(RunSessionTest, ASeedIsDrawnWhereNoneIsGivenAndKeptInTheRecord) {
  m_spec.seed = services::kDrawnSeed;
  run();
  const std::uint64_t first = onlyRun().seed;
  m_spec.project = m_folder / "again";
  run();
  EXPECT_GT(first, 1000000U) << "no table has it: one of 2^48";
  EXPECT_NE(onlyRun().seed, first);
  EXPECT_NE(onlyRun().seed, services::kDrawnSeed);
}

TEST_F(RunSessionTest, TheTimeBudgetEndsTheSearch) {
  testing::FakeClock clock;
  startFor(60.0, clock);
  ASSERT_TRUE(waitFor([&] { return m_rows.size() > 5; }));
  EXPECT_TRUE(m_outcomes.empty());
  clock.advance(std::chrono::seconds(61));
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_FALSE(m_outcomes[0].interrupted);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
  EXPECT_DOUBLE_EQ(onlyRun().elapsedSeconds, 61.0);
}

TEST_F(RunSessionTest, ASearchWhoseTimeIsOverWaitsForItsFirstKernel) {
  testing::FakeClock clock;
  startFor(10.0, clock);
  QObject::connect(m_session.get(), &RunSession::stateChanged, m_session.get(), [&clock](RunState state) {
    if (state == RunState::Running) {
      QTimer::singleShot(0, [&clock] { clock.advance(std::chrono::seconds(11)); });
    }
  });
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_GE(onlyRun().evaluations, 2) << "PyTorch's own operators and one kernel";
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
}

TEST_F(RunSessionTest, AResumedSearchWhoseTimeIsOverDoesNotWaitForAKernel) {
  testing::FakeClock clock;
  startFor(10.0, clock);
  ASSERT_TRUE(waitFor([&] { return m_rows.size() > 5; }));
  clock.advance(std::chrono::seconds(11));
  ASSERT_TRUE(waitUntilFinished());
  m_session.reset();
  const store::RunRow before = onlyRun();
  m_spec.resume = before.id;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const std::vector<store::CandidateRecord> all = history();
  const auto evaluated = std::count_if(all.begin(), all.end(), [](const auto& one) { return one.evaluation; });
  EXPECT_EQ(evaluated, before.evaluations) << "what was on its way when the time was over stays as it is";
}

TEST_F(RunSessionTest, ATargetThatIsReachedEndsTheSearch) {
  m_spec.maxEvaluations = 1000;
  m_spaceSize = 1000;
  m_spec.targetSpeedup = 1.01;
  const services::RunOutcome outcome = run();
  EXPECT_FALSE(outcome.targetMissed);
  EXPECT_GE(outcome.bestSpeedup.low, 1.01);
  EXPECT_LT(onlyRun().evaluations, 200);
  EXPECT_THAT(m_notices, ::testing::Contains(::testing::Field(&services::Notice::text, HasSubstr("the search ends"))));
}

TEST_F(RunSessionTest, ATargetThatNobodyReachesIsMissed) {
  m_spec.targetSpeedup = 1000.0;
  const services::RunOutcome outcome = run();
  EXPECT_TRUE(outcome.targetMissed);
  EXPECT_TRUE(outcome.best.isValid());
  EXPECT_EQ(outcome.state, services::RunState::Finished);
}

TEST_F(RunSessionTest, WhatIsRequiredOfTheWinnerDoesNotEndTheSearch) {
  m_spec.requiredSpeedup = 1.01;
  EXPECT_FALSE(run().targetMissed);
  EXPECT_EQ(onlyRun().evaluations, m_spec.maxEvaluations);
}

TEST_F(RunSessionTest, PauseStopsTheClockAndResumeGoesOn) {
  m_spec.maxEvaluations = 0;
  m_spec.timeBudgetSeconds = 600.0;
  m_spaceSize = 100000;
  start(m_session);
  ASSERT_TRUE(waitFor([&] { return m_rows.size() > 3; }));
  m_session->pause();
  ASSERT_TRUE(waitFor([&] { return m_states.back() == RunState::Paused; }));
  EXPECT_EQ(onlyRun().status, store::RunStatus::Paused);
  const std::size_t evaluated = m_rows.size();
  m_session->resume();
  ASSERT_TRUE(waitFor([&] { return m_rows.size() > evaluated + 3; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_THAT(m_states, ElementsAre(RunState::Importing, RunState::Preparing, RunState::Running, RunState::Paused,
                                    RunState::Running, RunState::Stopping, RunState::Interrupted));
}

TEST_F(RunSessionTest, AStoppedRunIsResumedWhereItWas) {
  m_spec.maxEvaluations = 0;
  m_spaceSize = 100000;
  start(m_session);
  ASSERT_TRUE(waitFor([&] { return m_rows.size() >= 8; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  m_session.reset();
  const store::RunRow before = onlyRun();
  EXPECT_EQ(before.status, store::RunStatus::Interrupted);

  m_spec.resume = before.id;
  m_spec.maxEvaluations = before.evaluations + 12;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  const store::RunRow after = onlyRun();
  EXPECT_EQ(after.status, store::RunStatus::Finished);
  EXPECT_EQ(after.evaluations, before.evaluations + 12);
  EXPECT_GE(after.elapsedSeconds, before.elapsedSeconds);
  EXPECT_EQ(countOf<domain::Correct>({history()[0]}), 1) << "the identity is not made again";
  std::set<std::int64_t> proposals;
  for (const auto& candidate : history()) {
    EXPECT_TRUE(candidate.evaluation.has_value());
    if (candidate.madeBy != domain::OperatorKind::Baseline) {
      EXPECT_TRUE(proposals.insert(candidate.proposal).second) << candidate.proposal << " came twice";
    }
  }
}

TEST_F(RunSessionTest, KillLeavesAnInterruptedRunWhosePendingCandidatesAreTakenUpAgain) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("hang", {"--from", "3"}); };
  const auto pending = [this] {
    const auto all = history();
    return std::count_if(all.begin(), all.end(), [](const auto& candidate) { return !candidate.evaluation; });
  };
  start(m_session);
  ASSERT_TRUE(waitFor([&] { return m_rows.size() >= 2 && pending() > 0; }));
  m_session->kill();
  ASSERT_TRUE(waitUntilFinished());
  m_session.reset();
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Interrupted);
  EXPECT_GT(pending(), 0);

  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok"); };
  m_spec.resume = onlyRun().id;
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(pending(), 0);
  EXPECT_EQ(onlyRun().evaluations, 20);
}

TEST_F(RunSessionTest, AWorkerThatCrashesOnceCostsOneCandidate) {
  m_parts.programs.workerCommand = [file = (m_folder / "crashed").string()](domain::DeviceKind) {
    return fakeWorker("crash", {"--from", "3", "--once", file});
  };
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(countOf<domain::Crashed>(history()), 1);
  EXPECT_EQ(onlyRun().evaluations, 20);
  const auto events = record().events(onlyRun().id);
  ASSERT_THAT(events, testing::IsOk());
  EXPECT_TRUE(std::any_of(events->begin(), events->end(),
                          [](const auto& e) { return e.kind == domain::EventKind::WorkerReplaced; }));
}

TEST_F(RunSessionTest, SourcesThatDoNotCompileAreDataAndTheIdentityWins) {
  m_parts.programs.compilerCommand = fakeCompiler("compile_error");
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_GT(countOf<domain::CompileFailed>(history()), 0);
  EXPECT_EQ(outcome.winner, history()[0].id);
  EXPECT_FALSE(outcome.targetMissed) << "nothing was asked for";
  EXPECT_FALSE(outcome.best.isValid()) << "PyTorch's own operators are never best";
}

TEST_F(RunSessionTest, WhatTheCompilerRefusesIsRejectedWithItsReason) {
  m_parts.programs.compilerCommand = fakeCompiler("reject_source");
  run();
  const auto history = this->history();
  ASSERT_GT(countOf<domain::Rejected>(history), 0);
  for (const auto& candidate : history) {
    if (const auto* rejected = std::get_if<domain::Rejected>(&*candidate.evaluation)) {
      EXPECT_THAT(rejected->detail, ::testing::AnyOf("the source has inline assembly", "7 does not fit"));
    }
  }
}

TEST_F(RunSessionTest, CompilersThatCannotStartFailTheRunAndKeepTheRecord) {
  m_parts.programs.compilerCommand = fakeCompiler("crash_before_hello");
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Environment);
  EXPECT_EQ(outcome.state, RunState::Failed);
  EXPECT_EQ(onlyRun().status, store::RunStatus::Failed);
}

TEST_F(RunSessionTest, WithoutASandboxNothingIsImportedOrStarted) {
  const std::filesystem::path source = m_folder / "task.py";
  const std::filesystem::path trace = m_folder / "python-was-here";
  std::ofstream(source) << "class Model: pass\n";
  m_spec.task = source.string();
  const std::filesystem::path python = m_folder / "python";
  std::ofstream(python) << "#!/bin/sh\ntouch " << trace.string() << "\nexit 1\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  m_parts.programs.bridge = {python.string(), "/nonexistent"};
  m_parts.programs.compilerCommand = fakeCompiler("no_sandbox");
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Sandbox);
  EXPECT_FALSE(std::filesystem::exists(trace)) << "the task was imported first";
  EXPECT_FALSE(outcome.run.isValid());
}

TEST_F(RunSessionTest, ARunWithoutASandboxSaysSoAtItsStartAndInTheRecord) {
  const auto isWarned = [this] {
    return std::any_of(m_notices.begin(), m_notices.end(), [](const services::Notice& notice) {
      return notice.severity == services::Notice::Severity::Warning &&
             notice.text.starts_with("kernels are compiled without a sandbox");
    });
  };
  run();
  EXPECT_FALSE(isWarned());
  EXPECT_EQ(domain::parseJson(onlyRun().optionsJson)->at("sandbox"), "auto");
  EXPECT_EQ(*trust::sandboxOf(record(), onlyRun().id), "");
  m_spec.resume = onlyRun().id;
  m_spec.maxEvaluations += 5;
  m_parts.programs.sandbox = "none";
  run();
  EXPECT_TRUE(isWarned());
  EXPECT_EQ(*trust::sandboxOf(record(), onlyRun().id), "none") << "of a run that goes on without, too";
  EXPECT_EQ(domain::parseJson(optionsJson(m_spec, "none"))->at("sandbox"), "none");
}

TEST_F(RunSessionTest, ARefusedTaskIsReportedAsTheWorkerSaidIt) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("refuse_task"); };
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Unsupported);
  EXPECT_EQ(outcome.error->hint(), "try another");
  EXPECT_FALSE(outcome.run.isValid());
}

TEST_F(RunSessionTest, AMissingWorkerIsTheEnvironmentsFault) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) {
    return process::LaunchCommand{.program = "/nonexistent/swage-worker"};
  };
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Environment);
}

TEST_F(RunSessionTest, AFileThatIsNotThereIsInvalidInputAndMakesNoProject) {
  m_spec.task = "/nonexistent/task.py";
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::InvalidInput);
  EXPECT_FALSE(std::filesystem::exists(m_spec.project));
}

TEST_F(RunSessionTest, CudaWithoutADriverIsTheEnvironmentsFault) {
  m_spec.target = "cuda";
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Environment);
  EXPECT_THAT(outcome.error->message(), HasSubstr("NVIDIA driver"));
}

TEST_F(RunSessionTest, AProjectThatAnotherProcessWritesIsLocked) {
  const auto holder = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
  ASSERT_THAT(holder, testing::IsOk());
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Locked);
}

TEST_F(RunSessionTest, AProjectThatCannotBeWrittenIsAStorageError) {
  std::ofstream(m_folder / "file") << "in the way";
  m_spec.project = m_folder / "file" / "project";
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Storage);
}

TEST_F(RunSessionTest, StopWhilePreparingEndsWithoutARun) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("hang", {"--from", "0"}); };
  start(m_session);
  ASSERT_TRUE(waitFor([&] { return m_states.back() == RunState::Preparing; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  EXPECT_FALSE(m_outcomes[0].error);
  EXPECT_FALSE(m_outcomes[0].run.isValid());
}

TEST_F(RunSessionTest, ABridgeThatFailsCostsOnlyTheCompiledBaseline) {
  m_spec.compileBaselines = true;
  const services::RunOutcome outcome = run();
  EXPECT_FALSE(outcome.error);
  ASSERT_EQ(m_baselines.size(), 1U);
  EXPECT_EQ(m_baselines[0].mode, "eager");
  ASSERT_FALSE(m_notices.empty());
  EXPECT_THAT(m_notices[0].text, HasSubstr("torch.compile was not measured"));
}

TEST_F(RunSessionTest, ArchiveAndProgressAreReported) {
  run();
  ASSERT_FALSE(m_archives.empty());
  ASSERT_EQ(m_archives.back().size(), static_cast<std::size_t>(domain::kCellCount));
  const auto filled = std::count_if(m_archives.back().begin(), m_archives.back().end(), [](const auto& cell) {
    return cell.state == services::CellSummary::State::Filled;
  });
  EXPECT_GT(filled, 0);
  ASSERT_FALSE(m_progress.empty());
  EXPECT_EQ(m_progress.back().state, RunState::Finished);
  EXPECT_EQ(m_progress.back().evaluations, 20);
  EXPECT_EQ(m_progress.back().filledCells, filled);
}

}  // namespace
}  // namespace swage::run
