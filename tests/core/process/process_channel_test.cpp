// SPDX-License-Identifier: Apache-2.0
#include "core/process/process_channel.h"

#include <gmock/gmock.h>

#include <signal.h>

#include <vector>

#include <fmt/format.h>

#include "tests/core/process/fakes.h"
#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using ::testing::ElementsAre;
using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::waitFor;
using State = ProcessChannel::State;

struct Watched {
  explicit Watched(LaunchCommand command, std::chrono::milliseconds startLimit = std::chrono::seconds(20))
      : channel({.command = std::move(command),
                 .name = "fake",
                 .handshake = ChannelOptions::Handshake::HelloThenWorkerReady,
                 .startLimit = startLimit,
                 .stopGrace = std::chrono::milliseconds(50)}) {
    QObject::connect(&channel, &ProcessChannel::stateChanged, &channel,
                     [this](State state) { states.push_back(state); });
    QObject::connect(&channel, &ProcessChannel::jobFinished, &channel, [this](const JobOutcome& o) {
      outcomes.push_back(o);
      EXPECT_TRUE(ends.empty()) << "a job ended after its program";
    });
    QObject::connect(&channel, &ProcessChannel::stageChanged, &channel,
                     [this](const std::string& stage) { stages.push_back(stage); });
    QObject::connect(&channel, &ProcessChannel::died, &channel, [this](const ChannelEnd& e) { ends.push_back(e); });
    channel.start();
  }
  [[nodiscard]] bool waitUntilReady() {
    return waitFor([this] { return channel.state() == State::Ready; });
  }
  [[nodiscard]] bool waitForJob() {
    return waitFor([this] { return !outcomes.empty(); });
  }
  [[nodiscard]] bool waitForEnd() {
    return waitFor([this] { return !ends.empty(); });
  }
  void submit(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    wire::Evaluate evaluate;
    evaluate.request = 4;
    evaluate.plan = testing::planWithNumber(50);
    channel.submit(evaluate, limit);
  }
  [[nodiscard]] JobLost lost() const { return std::get<JobLost>(outcomes.at(0)); }

  ProcessChannel channel;
  std::vector<State> states;
  std::vector<JobOutcome> outcomes;
  std::vector<std::string> stages;
  std::vector<ChannelEnd> ends;
};

TEST(ProcessChannel, GoesThroughAWholeLife) {
  Watched watched(fakeWorker("ok"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForJob());
  const auto& evaluated = std::get<wire::Evaluated>(std::get<wire::Message>(watched.outcomes[0]));
  EXPECT_EQ(evaluated.request, 4U);
  watched.channel.stop();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.states,
              ElementsAre(State::Starting, State::Ready, State::Busy, State::Ready, State::Stopping, State::Dead));
  EXPECT_TRUE(watched.ends[0].expected);
  EXPECT_EQ(watched.ends[0].child.exitCode, 0);
}

TEST(ProcessChannel, HeartbeatsTellTheStage) {
  Watched watched(fakeWorker("slow"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForJob());
  EXPECT_THAT(watched.stages, ElementsAre("time", "time", "time"));
}

TEST(ProcessChannel, AMissingProgramDiesWithoutBeingReady) {
  Watched watched({.program = "/nonexistent/worker"});
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.states, ElementsAre(State::Starting, State::Dead));
  EXPECT_THAT(watched.ends[0].detail, HasSubstr("/nonexistent/worker"));
  EXPECT_FALSE(watched.ends[0].wasReady);
}

TEST(ProcessChannel, CrashBeforeHelloIsADeathWithoutBeingReady) {
  Watched watched(fakeWorker("crash_before_hello"));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_FALSE(watched.ends[0].wasReady);
  EXPECT_EQ(watched.ends[0].child.signal, SIGSEGV);
}

TEST(ProcessChannel, AnotherProtocolVersionEndsTheConnection) {
  Watched watched(fakeWorker("bad_version"));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.ends[0].detail, HasSubstr(fmt::format("this program speaks {}", wire::kProtocolVersion)));
  EXPECT_THAT(watched.states, ElementsAre(State::Starting, State::Stopping, State::Dead));
}

TEST(ProcessChannel, AProgramThatIsSilentAtStartIsKilled) {
  Watched watched({.program = "/bin/sleep", .arguments = {"1000"}}, std::chrono::milliseconds(50));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.ends[0].detail, HasSubstr("was not ready"));
  EXPECT_EQ(watched.ends[0].child.signal, SIGKILL);
}

TEST(ProcessChannel, ACrashLosesTheJobOnce) {
  Watched watched(fakeWorker("crash"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForEnd());
  ASSERT_EQ(watched.outcomes.size(), 1U);
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::Died);
  EXPECT_EQ(watched.lost().signal, SIGSEGV);
  EXPECT_THAT(watched.states, ElementsAre(State::Starting, State::Ready, State::Busy, State::Dead));
}

TEST(ProcessChannel, AnExitDuringAJobLosesIt) {
  Watched watched(fakeWorker("exit_3"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.lost().detail, HasSubstr("exited with code 3"));
}

TEST(ProcessChannel, AJobThatHangsIsKilledAtItsLimit) {
  Watched watched(fakeWorker("hang"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit(std::chrono::milliseconds(50));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::TimedOut);
  EXPECT_DOUBLE_EQ(watched.lost().limitSeconds, 0.05);
  EXPECT_EQ(watched.ends[0].child.signal, SIGKILL);
}

class BadStream : public ::testing::TestWithParam<const char*> {};

TEST_P(BadStream, IsAProtocolErrorAndTheProgramIsKilled) {
  Watched watched(fakeWorker(GetParam()));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForEnd());
  ASSERT_EQ(watched.outcomes.size(), 1U);
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::Protocol);
}

INSTANTIATE_TEST_SUITE_P(ProcessChannel, BadStream,
                         ::testing::Values("garbage_frame", "huge_length", "noisy_stdout", "stdout_flood"));

class Flood : public ::testing::TestWithParam<const char*> {};

TEST_P(Flood, IsDrainedAndTheAnswerArrives) {
  Watched watched(fakeWorker(GetParam()));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForJob());
  EXPECT_TRUE(std::holds_alternative<wire::Message>(watched.outcomes[0]));
}

INSTANTIATE_TEST_SUITE_P(ProcessChannel, Flood, ::testing::Values("stderr_flood", "heartbeat_flood"));

TEST(ProcessChannel, HalfAnAnswerIsADeath) {
  Watched watched(fakeWorker("half_frame"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::Died);
}

TEST(ProcessChannel, StopDuringAJobLosesItAsStopped) {
  Watched watched(fakeWorker("ignore_sigterm"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  watched.channel.stop();
  ASSERT_TRUE(watched.waitForEnd());
  ASSERT_EQ(watched.outcomes.size(), 1U);
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::Stopped);
  EXPECT_EQ(watched.ends[0].child.signal, SIGKILL);
}

TEST(ProcessChannel, KillEndsItAtOnce) {
  Watched watched(fakeWorker("hang"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  watched.channel.kill();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_TRUE(watched.ends[0].expected);
  EXPECT_EQ(watched.lost().reason, JobLost::Reason::Stopped);
}

TEST(ProcessChannel, AGrandchildThatHoldsThePipesDoesNotHideTheCrash) {
  Watched watched(fakeWorker("grandchild"));
  ASSERT_TRUE(watched.waitUntilReady());
  watched.submit();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.lost().signal, SIGSEGV);
  int grandchild = 0;
  ASSERT_EQ(std::sscanf(watched.ends[0].child.lastLines.c_str(), "grandchild %d", &grandchild), 1);
  EXPECT_TRUE(waitFor([&] { return ::kill(grandchild, 0) != 0; }));
}

}  // namespace
}  // namespace swage::process
