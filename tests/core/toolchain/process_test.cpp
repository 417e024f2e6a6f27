// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>

#include "core/toolchain/process_tree.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using testing::TempDir;

const Environment kEnvironment{{"PATH", "/usr/bin:/bin"}};

ProcessResult runShell(const std::string& script, const ProcessLimits& limits = {}) {
  auto result = runLimited({"/bin/sh", "-c", script}, kEnvironment, limits);
  EXPECT_THAT(result, IsOk());
  return result ? *result : ProcessResult{};
}

TEST(Process, GivesExitCodeAndBothOutputs) {
  const ProcessResult result = runShell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.end, ProcessEnd::Exited);
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
}

TEST(Process, GivesTheSignalThatEndedIt) {
  const ProcessResult result = runShell("kill -SEGV $$");
  EXPECT_EQ(result.end, ProcessEnd::Signalled);
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(Process, NamesAProgramThatCannotBeStarted) {
  EXPECT_THAT(runLimited({"/nowhere/program"}, kEnvironment, {}),
              IsError(ErrorKind::NotFound, HasSubstr("cannot start '/nowhere/program': No such file")));
}

TEST(Process, KillsWhatRunsTooLong) {
  ProcessLimits limits;
  limits.seconds = 0.2;
  const ProcessResult result = runShell("trap '' TERM INT; while :; do :; done", limits);
  EXPECT_EQ(result.end, ProcessEnd::TimedOut);
  EXPECT_LT(result.seconds, 5.0);
}

TEST(Process, KillsDescendantsWithTheLeader) {
  const TempDir folder;
  const std::string marker = (folder / "pid").string();
  ProcessLimits limits;
  limits.seconds = 1.0;
  const ProcessResult result = runShell("sleep 1000 & echo $! > " + marker + "; wait", limits);
  EXPECT_EQ(result.end, ProcessEnd::TimedOut);
  std::FILE* file = std::fopen(marker.c_str(), "r");
  ASSERT_NE(file, nullptr);
  int pid = 0;
  ASSERT_EQ(std::fscanf(file, "%d", &pid), 1);
  std::fclose(file);
  // Killed, and at most not yet reaped by init.
  for (int i = 0; i < 500 && ::kill(pid, 0) == 0 && treeUsage(pid).residentBytes > 0; ++i) {
    ::usleep(10000);
  }
  EXPECT_EQ(treeUsage(pid).residentBytes, 0);
}

TEST(Process, KillsWhatUsesTooMuchMemoryWhereverInTheTree) {
  ProcessLimits limits;
  limits.memoryBytes = std::int64_t{64} << 20;
  // tail keeps a line without end in memory.
  const ProcessResult result = runShell("(tail -n 1 /dev/zero) & wait", limits);
  EXPECT_EQ(result.end, ProcessEnd::MemoryExceeded);
  EXPECT_GT(result.peakBytes, limits.memoryBytes);
}

TEST(Process, KillsAForkBomb) {
  ProcessLimits limits;
  limits.processes = 20;
  const ProcessResult result = runShell("for i in $(seq 200); do sleep 30 & done; wait", limits);
  EXPECT_EQ(result.end, ProcessEnd::ProcessesExceeded);
}

TEST(Process, KillsAnOutputFloodAndKeepsHeadAndTail) {
  ProcessLimits limits;
  limits.outputBytes = 4 << 20;
  const ProcessResult result = runShell("echo first; yes", limits);
  EXPECT_EQ(result.end, ProcessEnd::OutputExceeded);
  EXPECT_LE(result.output.size(), 256U << 10U);
  EXPECT_THAT(result.output, HasSubstr("first\ny\n"));
  EXPECT_THAT(result.output, HasSubstr("bytes of output left out"));
}

TEST(Process, StopsAHugeFile) {
  const TempDir folder;
  ProcessLimits limits;
  limits.fileBytes = 1 << 20;
  const std::string path = (folder / "huge").string();
  const ProcessResult result = runShell("head -c 10G /dev/zero > " + path, limits);
  EXPECT_NE(result.exitCode, 0);
  EXPECT_LE(std::filesystem::file_size(path), std::uintmax_t{1} << 20);
}

TEST(Process, InheritsNoDescriptorAndNoEnvironment) {
  ::setenv("SWAGE_TEST_SECRET", "hidden", 1);
  const int open = ::open("/etc/passwd", O_RDONLY);  // without O_CLOEXEC, on purpose
  ASSERT_GE(open, 0);
  const int high = ::dup2(open, 200);
  const ProcessResult result = runShell("ls -l /proc/self/fd; env");
  ::close(open);
  ::close(high);
  ::unsetenv("SWAGE_TEST_SECRET");
  EXPECT_THAT(result.output, Not(HasSubstr("passwd")));
  EXPECT_THAT(result.output, Not(HasSubstr("hidden")));
  EXPECT_THAT(result.output, HasSubstr("PATH=/usr/bin:/bin"));
}

TEST(Process, DoesNotWaitForADescendantThatKeepsTheOutputOpen) {
  ProcessLimits limits;
  limits.seconds = 20.0;
  const ProcessResult result = runShell("sleep 1000 & echo done", limits);
  EXPECT_EQ(result.end, ProcessEnd::Exited);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_LT(result.seconds, 10.0);
}

TEST(Process, DescribesEveryLimit) {
  EXPECT_EQ(describeLimit(ProcessEnd::TimedOut, {}), "killed: it ran longer than 20 s");
  EXPECT_EQ(describeLimit(ProcessEnd::MemoryExceeded, {}), "killed: it used more than 2048 MiB of memory");
  EXPECT_EQ(describeLimit(ProcessEnd::Exited, {}), "");
}

TEST(ProcessTree, CountsOurselves) {
  const TreeUsage usage = treeUsage(::getpid());
  EXPECT_GE(usage.processes, 1);
  EXPECT_GT(usage.residentBytes, 1 << 20);
}

}  // namespace
}  // namespace swage::toolchain
