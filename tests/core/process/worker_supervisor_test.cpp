// SPDX-License-Identifier: Apache-2.0
#include "core/process/worker_supervisor.h"

#include <gmock/gmock.h>

#include <signal.h>

#include <vector>

#include "tests/core/process/fakes.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::waitFor;

struct Watched {
  static WorkerSupervisor::Options optionsFor(LaunchCommand command) {
    return {.command = std::move(command),
            .startLimit = std::chrono::seconds(20),
            .overdue = std::chrono::milliseconds(10),
            .stopGrace = std::chrono::milliseconds(50),
            .maxBarrenLives = 4};
  }
  explicit Watched(LaunchCommand command) : Watched(optionsFor(std::move(command))) {}
  explicit Watched(WorkerSupervisor::Options options) : supervisor(std::move(options)) {
    QObject::connect(&supervisor, &WorkerSupervisor::deviceReady, &supervisor, [this](const wire::WorkerReady& ready) {
      devices.push_back(ready.device.name);
      supervisor.load({});
    });
    QObject::connect(&supervisor, &WorkerSupervisor::loaded, &supervisor,
                     [this](const Result<wire::TaskReady>& result) { loads.push_back(result); });
    QObject::connect(&supervisor, &WorkerSupervisor::evaluated, &supervisor,
                     [this](const EvaluationResult& result) { results.push_back(result); });
    QObject::connect(&supervisor, &WorkerSupervisor::failed, &supervisor,
                     [this](const Error& error) { errors.push_back(error); });
    QObject::connect(&supervisor, &WorkerSupervisor::roomMade, &supervisor,
                     [this](std::int64_t freeBytes) { rooms.push_back(freeBytes); });
    QObject::connect(&supervisor, &WorkerSupervisor::stopped, &supervisor, [this] { ++stops; });
    QObject::connect(&supervisor, &WorkerSupervisor::readyAgain, &supervisor,
                     [this](double seconds) { replacementSeconds.push_back(seconds); });
    supervisor.start();
  }
  [[nodiscard]] bool waitUntilLoaded() {
    return waitFor([this] { return !loads.empty(); });
  }
  void send(int number, double limitSeconds = 20.0) {
    wire::Evaluate message;
    message.plan = testing::planWithNumber(number);
    message.limitSeconds = limitSeconds;
    supervisor.evaluate(message);
  }
  // Evaluates and waits for the result.
  [[nodiscard]] bool evaluate(int number, double limitSeconds = 20.0) {
    const std::size_t before = results.size();
    send(number, limitSeconds);
    return waitFor([this, before] { return results.size() > before; });
  }

  WorkerSupervisor supervisor;
  std::vector<std::string> devices;
  std::vector<Result<wire::TaskReady>> loads;
  std::vector<EvaluationResult> results;
  std::vector<Error> errors;
  std::vector<double> replacementSeconds;
  std::vector<std::int64_t> rooms;
  int stops = 0;
};

// The fake worker and its spare, both slow to start.
WorkerSupervisor::Options withSpare(const std::string& behaviour, std::vector<std::string> more) {
  more.insert(more.end(), {"--start-ms", "700"});
  WorkerSupervisor::Options options = Watched::optionsFor(fakeWorker(behaviour, more));
  more.emplace_back("--stand-by");
  options.spare = fakeWorker(behaviour, more);
  return options;
}

double timeOf(const EvaluationResult& result) {
  const domain::Correct* correct = domain::asCorrect(result.evaluation);
  return correct != nullptr ? correct->timing.candidate.medianNs : 0.0;
}

TEST(WorkerSupervisor, LoadsAnotherTaskInThePlaceOfTheFirst) {
  Watched watched(fakeWorker("ok"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(5));
  watched.supervisor.load({});
  ASSERT_TRUE(waitFor([&] { return watched.loads.size() == 2; }));
  ASSERT_TRUE(watched.evaluate(6));
  EXPECT_EQ(watched.supervisor.replacements(), 0);
  EXPECT_THAT(watched.errors, ::testing::IsEmpty());
}

TEST(WorkerSupervisor, LoadsAnotherTaskIntoTheWorkerThatReplacesACrashedOne) {
  Watched watched(fakeWorker("crash"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(5));
  watched.supervisor.load({});
  ASSERT_TRUE(waitFor([&] { return watched.loads.size() == 2; }));
  EXPECT_EQ(watched.supervisor.replacements(), 1);
}

TEST(WorkerSupervisor, SaysWhatItsWorkerDoes) {
  Watched watched(fakeWorker("slow"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.send(5);
  EXPECT_TRUE(waitFor([&] { return watched.supervisor.stateText() == "timing"; }));
  ASSERT_TRUE(waitFor([&] { return watched.results.size() == 1; }));
  EXPECT_EQ(watched.supervisor.stateText(), "idle");
}

TEST(WorkerSupervisor, MakesRoomBetweenEvaluations) {
  Watched watched(fakeWorker("ok", {"--memory-bytes", "4096"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(5));
  watched.supervisor.makeRoom();
  EXPECT_EQ(watched.supervisor.stateText(), "making room");
  watched.send(6);  // has to wait
  ASSERT_TRUE(waitFor([&] { return watched.results.size() == 2; }));
  EXPECT_THAT(watched.rooms, ::testing::ElementsAre(4096));
  EXPECT_EQ(watched.supervisor.replacements(), 0);
}

TEST(WorkerSupervisor, AWorkerThatDiesMakingRoomIsReplaced) {
  Watched watched(fakeWorker("crash-making-room"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.supervisor.makeRoom();
  ASSERT_TRUE(waitFor([&] { return watched.replacementSeconds.size() == 1; }));
  EXPECT_THAT(watched.rooms, ::testing::ElementsAre(0)) << "how much is free is not known";
  ASSERT_TRUE(watched.evaluate(5));
  EXPECT_THAT(watched.errors, ::testing::IsEmpty());
}

TEST(WorkerSupervisor, AWorkerThatIsBeingReplacedMakesNoRoom) {
  Watched watched(fakeWorker("crash-making-room", {"--start-ms", "500"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.supervisor.makeRoom();
  ASSERT_TRUE(waitFor([&] { return watched.rooms.size() == 1; }));
  ASSERT_EQ(watched.supervisor.state(), WorkerSupervisor::State::Starting);
  watched.supervisor.makeRoom();
  ASSERT_TRUE(waitFor([&] { return watched.rooms.size() == 2; }));
  EXPECT_EQ(watched.rooms.back(), 0);
  EXPECT_EQ(watched.supervisor.state(), WorkerSupervisor::State::Starting) << "nobody was asked";
}

TEST(WorkerSupervisor, LoadsATaskAndEvaluates) {
  Watched watched(fakeWorker("ok"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  EXPECT_THAT(watched.loads[0], testing::IsOk());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[0]), 40e3);
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_EQ(watched.supervisor.replacements(), 0);
  watched.supervisor.stop();
  EXPECT_TRUE(waitFor([&] { return watched.stops == 1; }));
}

TEST(WorkerSupervisor, GoesOnWithTheEvaluationThatWasSentAhead) {
  Watched watched(fakeWorker("ok", {"--evaluate-ms", "20"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.send(40);
  EXPECT_TRUE(watched.supervisor.canTakeMore());
  watched.send(30);
  EXPECT_FALSE(watched.supervisor.canTakeMore());
  QObject::connect(&watched.supervisor, &WorkerSupervisor::evaluated, &watched.supervisor, [&] {
    if (watched.results.size() == 1) {
      EXPECT_TRUE(watched.supervisor.isBusy()) << "the second one does not wait for whoever hears of the first";
      watched.send(20);
    }
  });
  ASSERT_TRUE(waitFor([&] { return watched.results.size() == 3; }));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[0]), 40e3);
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_DOUBLE_EQ(timeOf(watched.results[2]), 20e3);
  EXPECT_FALSE(watched.supervisor.isBusy());
  EXPECT_THAT(watched.errors, ::testing::IsEmpty());
}

class SentAhead : public ::testing::TestWithParam<const char*> {};

// Whatever the worker dies of in the first evaluation, the second one was not begun.
TEST_P(SentAhead, IsEvaluatedByTheNextWorker) {
  const testing::TempDir folder;
  Watched watched(fakeWorker(GetParam(), {"--once", (folder / "done").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.send(40, 0.1);
  watched.send(30);
  ASSERT_TRUE(waitFor([&] { return watched.results.size() == 2; }));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_EQ(watched.supervisor.replacements(), 1);
  EXPECT_THAT(watched.errors, ::testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(BehindEveryEnd, SentAhead, ::testing::Values("crash", "hang", "poisoned", "wrong_request"));

TEST(WorkerSupervisor, ARefusedTaskIsAnErrorWithItsKindAndHint) {
  Watched watched(fakeWorker("refuse_task"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  EXPECT_THAT(watched.loads[0], testing::IsError(ErrorKind::Unsupported, "no such operator"));
  EXPECT_EQ(watched.loads[0].error().hint(), "try another");
}

TEST(WorkerSupervisor, AMissingWorkerFailsWithoutRestarts) {
  Watched watched({.program = "/nonexistent/swage-worker"});
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_EQ(watched.errors[0].kind(), ErrorKind::Environment);
  EXPECT_EQ(watched.supervisor.replacements(), 0);
}

TEST(WorkerSupervisor, AWorkerThatDiesAtStartIsRestartedThreeTimes) {
  Watched watched(fakeWorker("crash_before_hello"));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_EQ(watched.supervisor.replacements(), 3);
  EXPECT_EQ(watched.errors.size(), 1U);
}

TEST(WorkerSupervisor, ACrashWhileLoadingTheTaskIsAFailure) {
  Watched watched(fakeWorker("crash", {"--from", "0"}));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("loading the task into the worker"));
  EXPECT_TRUE(watched.loads.empty());
}

TEST(WorkerSupervisor, AKillWhileLoadingTheTaskIsNoFailure) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("killed", {"--from", "0", "--once", (folder / "killed").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  EXPECT_THAT(watched.loads[0], testing::IsOk());
  ASSERT_TRUE(watched.evaluate(40));
  EXPECT_EQ(watched.supervisor.replacements(), 1);
  EXPECT_THAT(watched.errors, ::testing::IsEmpty());
}

TEST(WorkerSupervisor, KillsWhileLoadingTheTaskEndSometime) {
  Watched watched(fakeWorker("killed", {"--from", "0"}));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_EQ(watched.supervisor.replacements(), 3);
  EXPECT_TRUE(watched.loads.empty());
}

TEST(WorkerSupervisor, ACrashIsTheCandidatesAndTheNextWorkerHasTheTask) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("crash", {"--once", (folder / "crashed").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  EXPECT_EQ(std::get<domain::Crashed>(watched.results[0].evaluation).signal, SIGSEGV);
  EXPECT_FALSE(watched.results[0].interrupted);
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_EQ(watched.supervisor.replacements(), 1);
  EXPECT_EQ(watched.loads.size(), 1U) << "loaded() is for the first load only";
  EXPECT_EQ(watched.devices.size(), 1U);
}

TEST(WorkerSupervisor, AHangIsATimeOutOfTheCandidate) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("hang", {"--once", (folder / "hung").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40, 0.05));
  EXPECT_DOUBLE_EQ(std::get<domain::TimedOut>(watched.results[0].evaluation).limitSeconds, 0.05);
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
}

TEST(WorkerSupervisor, APoisonedDeviceGetsANewWorkerAndKeepsTheResult) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("poisoned", {"--once", (folder / "poisoned").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[0]), 40e3);
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_EQ(watched.supervisor.replacements(), 1);
}

TEST(WorkerSupervisor, AnAnswerToAnotherRequestIsNotTaken) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("wrong_request", {"--once", (folder / "mixed").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  EXPECT_TRUE(std::holds_alternative<domain::Crashed>(watched.results[0].evaluation));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
}

TEST(WorkerSupervisor, GivesUpWhenEveryWorkerDiesInItsFirstEvaluation) {
  Watched watched(fakeWorker("crash"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(watched.evaluate(40));
  }
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("4 workers in a row"));
}

TEST(WorkerSupervisor, ASpareReplacesAPoisonedWorkerWithinHalfASecond) {
  const testing::TempDir folder;
  Watched watched(withSpare("poisoned", {"--once", (folder / "poisoned").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(waitFor([&] { return watched.supervisor.hasSpare(); }));
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  ASSERT_EQ(watched.replacementSeconds.size(), 1U);
  EXPECT_LT(watched.replacementSeconds[0], 0.5);
  EXPECT_TRUE(waitFor([&] { return watched.supervisor.hasSpare(); })) << "the next one";
}

TEST(WorkerSupervisor, ASpareThatIsNotReadyYetIsStillTheNextWorker) {
  const testing::TempDir folder;
  Watched watched(withSpare("crash", {"--once", (folder / "crashed").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  EXPECT_FALSE(watched.supervisor.hasSpare());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
  EXPECT_EQ(watched.supervisor.replacements(), 1);
}

TEST(WorkerSupervisor, WithoutASpareTheNextWorkerStartsFromScratch) {
  const testing::TempDir folder;
  WorkerSupervisor::Options options = withSpare("poisoned", {"--once", (folder / "poisoned").string()});
  options.spare = {};
  Watched watched(std::move(options));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_EQ(watched.replacementSeconds.size(), 1U);
  EXPECT_GT(watched.replacementSeconds[0], 0.7);
}

TEST(WorkerSupervisor, ASpareThatDiesCostsNothing) {
  WorkerSupervisor::Options options = Watched::optionsFor(fakeWorker("ok"));
  options.spare = fakeWorker("crash_before_hello");
  Watched watched(std::move(options));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_TRUE(watched.errors.empty());
  EXPECT_EQ(watched.supervisor.replacements(), 0);
}

TEST(WorkerSupervisor, StopEndsTheSpareToo) {
  Watched watched(withSpare("ok", {}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  watched.supervisor.stop();
  EXPECT_TRUE(waitFor([&] { return watched.stops == 1; }));
  EXPECT_FALSE(watched.supervisor.hasSpare());
}

TEST(WorkerSupervisor, ADeviceThatNoNewWorkerCanUseIsGivenUpAndTheCandidateIsNotBlamed) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("poisoned", {"--once", (folder / "poisoned").string(), "--then", "unusable"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_TRUE(watched.results[0].interrupted);
  EXPECT_EQ(watched.supervisor.replacements(), 2) << "two new workers may try";
  EXPECT_EQ(watched.errors[0].kind(), ErrorKind::Environment);
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("the device is given up"));
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("CUDA_ERROR_UNKNOWN (999)"));
  EXPECT_THAT(watched.errors[0].hint(), HasSubstr("Xid"));
}

TEST(WorkerSupervisor, AnotherDeviceInPlaceOfTheOldOneIsNotUsed) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("crash", {"--once", (folder / "crashed").string(), "--then", "other_device"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_TRUE(watched.results[0].interrupted);
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("the device fake-cpu is gone"));
}

TEST(WorkerSupervisor, AnotherDeviceFoundByTheSpareIsNotUsed) {
  const testing::TempDir folder;
  Watched watched(withSpare("crash", {"--once", (folder / "crashed").string(), "--then", "other_device"}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(waitFor([&] { return watched.supervisor.hasSpare(); }));
  ASSERT_TRUE(watched.evaluate(40));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("the device fake-cpu is gone"));
}

TEST(WorkerSupervisor, ASilentWorkerIsKilledLongBeforeTheLimitOfItsCandidate) {
  const testing::TempDir folder;
  WorkerSupervisor::Options options = Watched::optionsFor(fakeWorker("hang", {"--once", (folder / "hung").string()}));
  options.silence = std::chrono::milliseconds(100);
  Watched watched(std::move(options));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40, 600.0));
  EXPECT_TRUE(std::holds_alternative<domain::TimedOut>(watched.results[0].evaluation));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
}

TEST(WorkerSupervisor, HeartbeatsDoNotOutliveTheLimit) {
  const testing::TempDir folder;
  Watched watched(fakeWorker("beat_forever", {"--once", (folder / "hung").string()}));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40, 0.5));
  EXPECT_TRUE(std::holds_alternative<domain::TimedOut>(watched.results[0].evaluation));
  ASSERT_TRUE(watched.evaluate(30));
  EXPECT_DOUBLE_EQ(timeOf(watched.results[1]), 30e3);
}

// A process that waits inside the driver takes no SIGKILL; one that ignores the signal sent instead is like it.
TEST(WorkerSupervisor, AWorkerThatCannotBeKilledGivesItsDeviceUp) {
  WorkerSupervisor::Options options = Watched::optionsFor(fakeWorker("ignore_sigterm"));
  options.lastSignal = SIGTERM;
  options.endLimit = std::chrono::milliseconds(200);
  Watched watched(std::move(options));
  ASSERT_TRUE(watched.waitUntilLoaded());
  ASSERT_TRUE(watched.evaluate(40, 0.2));
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_TRUE(watched.results[0].interrupted);
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("hangs in the driver"));
  watched.supervisor.stop();
  EXPECT_TRUE(waitFor([&] { return watched.stops == 1; }));
}

TEST(WorkerSupervisor, StopDuringAnEvaluationMarksItInterrupted) {
  Watched watched(fakeWorker("hang"));
  ASSERT_TRUE(watched.waitUntilLoaded());
  wire::Evaluate message;
  message.plan = testing::planWithNumber(40);
  watched.supervisor.evaluate(message);
  watched.supervisor.kill();
  ASSERT_TRUE(waitFor([&] { return watched.stops > 0; }));
  ASSERT_EQ(watched.results.size(), 1U);
  EXPECT_TRUE(watched.results[0].interrupted);
}

}  // namespace
}  // namespace swage::process
