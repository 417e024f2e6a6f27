// SPDX-License-Identifier: Apache-2.0
#include "core/process/child_process.h"

#include <gmock/gmock.h>

#include <signal.h>
#include <unistd.h>

#include <optional>

#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using ::testing::HasSubstr;
using testing::waitFor;

struct Watched {
  explicit Watched(const LaunchCommand& command) {
    QObject::connect(&child, &ChildProcess::output, &child, [this](const QByteArray& bytes) { output += bytes; });
    QObject::connect(&child, &ChildProcess::ended, &child, [this](const ChildEnd& e) {
      ++ends;
      end = e;
    });
    child.start(command);
  }
  [[nodiscard]] bool waitForEnd() {
    return waitFor([this] { return ends > 0; });
  }

  ChildProcess child{"test"};
  QByteArray output;
  int ends = 0;
  ChildEnd end;
};

LaunchCommand shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}, .environment = {{"SWAGE_TEST_VALUE", "seen"}}};
}

TEST(ChildProcess, ReportsOutputExitCodeAndEnvironment) {
  Watched watched(shell("printf '%s' \"$SWAGE_TEST_VALUE\"; echo trouble >&2; exit 7"));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.output.toStdString(), "seen");
  EXPECT_EQ(watched.end.kind, ChildEnd::Kind::Exited);
  EXPECT_EQ(watched.end.exitCode, 7);
  EXPECT_EQ(watched.end.lastLines, "trouble\n");
  EXPECT_FALSE(watched.end.byUs);
}

TEST(ChildProcess, ReportsAMissingProgramOnceAndNotFromWithinStart) {
  Watched watched({.program = "/nonexistent/program"});
  EXPECT_EQ(watched.ends, 0);
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.end.kind, ChildEnd::Kind::FailedToStart);
  EXPECT_THAT(watched.end.detail, HasSubstr("/nonexistent/program"));
  EXPECT_EQ(watched.ends, 1);
}

TEST(ChildProcess, NamesTheSignalThatEndedIt) {
  Watched watched(shell("kill -ABRT $$"));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.end.kind, ChildEnd::Kind::Signalled);
  EXPECT_EQ(watched.end.signal, SIGABRT);
}

TEST(ChildProcess, StopEndsAChildThatReadsItsInputWithoutASignal) {
  Watched watched(shell("cat; exit 5"));
  watched.child.stop(std::chrono::seconds(20));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.end.exitCode, 5);
  EXPECT_TRUE(watched.end.byUs);
}

TEST(ChildProcess, StopEscalatesToKillWhenTermIsIgnored) {
  Watched watched(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
  ASSERT_TRUE(waitFor([&] { return watched.output.contains("ready"); }));
  watched.child.stop(std::chrono::milliseconds(20));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_EQ(watched.end.signal, SIGKILL);
}

TEST(ChildProcess, KillTakesTheWholeGroup) {
  Watched watched(shell("sleep 1000 & echo $!; wait"));
  ASSERT_TRUE(waitFor([&] { return watched.output.contains('\n'); }));
  const pid_t grandchild = watched.output.trimmed().toInt();
  ASSERT_EQ(::kill(grandchild, 0), 0);
  watched.child.kill();
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_TRUE(waitFor([&] { return ::kill(grandchild, 0) != 0; }));
}

TEST(ChildProcess, WhatTheLeaderLeavesBehindDiesWithIt) {
  Watched watched(shell("sleep 1000 >/dev/null 2>&1 & echo $!"));
  ASSERT_TRUE(watched.waitForEnd());
  const pid_t grandchild = watched.output.trimmed().toInt();
  EXPECT_TRUE(waitFor([&] { return ::kill(grandchild, 0) != 0; }));
}

TEST(ChildProcess, DestroyingARunningChildKillsIt) {
  auto watched = std::make_unique<Watched>(shell("echo $$; exec sleep 1000"));
  ASSERT_TRUE(waitFor([&] { return watched->output.contains('\n'); }));
  const pid_t child = watched->output.trimmed().toInt();
  watched.reset();
  EXPECT_TRUE(waitFor([&] { return ::kill(child, 0) != 0; }));
}

TEST(ChildProcess, KeepsOnlyTheEndOfAFloodOfErrors) {
  Watched watched(shell("i=0; while [ $i -lt 500 ]; do echo line $i >&2; i=$((i+1)); done"));
  ASSERT_TRUE(watched.waitForEnd());
  EXPECT_THAT(watched.end.lastLines, HasSubstr("line 499\n"));
  EXPECT_LT(watched.end.lastLines.size(), 300U);
}

}  // namespace
}  // namespace swage::process
