// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/toolchain/job_directory.h"
#include "core/toolchain/process_tree.h"
#include "core/toolchain/sandbox.h"
#include "tests/compiler/test_toolchain.h"
#include "tests/support/result_matchers.h"

// What a program inside the sandbox cannot do, tried.
namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;

class Escape : public ::testing::Test {
 protected:
  void SetUp() override {
    SWAGE_NEEDS_SANDBOX();
    auto job = JobDirectory::create();
    ASSERT_THAT(job, IsOk());
    m_job.emplace(std::move(*job));
  }

  ProcessResult run(const std::vector<std::string>& program, const ProcessLimits& limits = {}) {
    SandboxSpec spec;
    spec.binds = {{m_job->in().string(), "/in", Access::ReadOnly}, {m_job->out().string(), "/out", Access::Writable}};
    spec.workingDirectory = "/out";
    auto result = runLimited(sandboxCommand(spec, program), outerEnvironment(spec), limits);
    EXPECT_THAT(result, IsOk());
    return result ? *result : ProcessResult{};
  }
  ProcessResult runShell(const std::string& script, const ProcessLimits& limits = {}) {
    return run({"/bin/sh", "-c", script}, limits);
  }
  // The script must say "refused" because the thing it tries did not work.
  void expectRefused(const std::string& attempt) {
    const ProcessResult result = runShell("if " + attempt + "; then echo worked; else echo refused; fi");
    EXPECT_EQ(result.end, ProcessEnd::Exited);
    EXPECT_THAT(result.output, HasSubstr("refused\n")) << attempt;
    EXPECT_THAT(result.output, Not(HasSubstr("worked\n"))) << attempt;
  }

  std::optional<JobDirectory> m_job;
};

TEST_F(Escape, ProgramsRunAtAll) {
  const ProcessResult result = runShell("echo fine; cat /proc/self/status > /out/status");
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.output, "fine\n");
  EXPECT_THAT(readUntrustedFile(m_job->out() / "status", 1 << 20), IsOk());
}

TEST_F(Escape, AccountsAndHomesAreNotThere) {
  expectRefused("cat /etc/passwd");
  expectRefused("cat /etc/shadow");
  expectRefused("ls /home /root /var");
}

TEST_F(Escape, AnIncludeOfAPrivateFileFails) {
  std::ofstream(m_job->in() / "source.cpp") << "#include \"/etc/passwd\"\n";
  const ProcessResult result = run({"/usr/bin/g++", "-fsyntax-only", "/in/source.cpp"});
  EXPECT_NE(result.exitCode, 0);
  EXPECT_THAT(result.output, HasSubstr("/etc/passwd: No such file"));
  EXPECT_THAT(result.output, Not(HasSubstr("root:")));
}

TEST_F(Escape, SecretsOfTheEnvironmentAreGone) {
  ::setenv("SWAGE_TEST_SECRET_KEY", "planted-secret", 1);
  const ProcessResult result = runShell("env; cat /proc/*/environ");
  ::unsetenv("SWAGE_TEST_SECRET_KEY");
  EXPECT_THAT(result.output, HasSubstr("HOME=/tmp"));
  EXPECT_THAT(result.output, Not(HasSubstr("planted-secret")));
}

TEST_F(Escape, TheNetworkOfTheHostIsUnreachable) {
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(server.get(), 4), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string connect = fmt::format("(exec 3<>/dev/tcp/127.0.0.1/{}) 2>/dev/null", ::ntohs(address.sin_port));
  // The attempt itself is sound: from outside the same line connects.
  const auto outside = runLimited({"/bin/bash", "-c", connect}, {{"PATH", "/usr/bin"}}, {});
  ASSERT_THAT(outside, IsOk());
  ASSERT_EQ(outside->exitCode, 0);
  EXPECT_NE(run({"/bin/bash", "-c", connect}).exitCode, 0);
}

TEST_F(Escape, OnlyTheOutputFolderCanBeWritten) {
  expectRefused("touch /usr/lib/planted");
  expectRefused("touch /in/planted");
  expectRefused("touch /planted /dev/planted");
  // Opened but not written: should the sandbox leak, this changes nothing.
  expectRefused("(: >> /proc/sys/kernel/core_pattern)");
  expectRefused("(: >> /proc/self/oom_score_adj)");
  EXPECT_EQ(runShell("echo x > /out/planted").exitCode, 0);
  EXPECT_TRUE(std::filesystem::exists(m_job->out() / "planted"));
}

TEST_F(Escape, TheTemporaryFolderIsPrivateAndBounded) {
  EXPECT_EQ(runShell("echo x > /tmp/swage-planted-by-a-test").exitCode, 0);
  EXPECT_FALSE(std::filesystem::exists("/tmp/swage-planted-by-a-test"));
  ProcessLimits limits;
  limits.fileBytes = std::int64_t{4} << 30;
  EXPECT_NE(runShell("head -c 600M /dev/zero > /tmp/large", limits).exitCode, 0);
}

TEST_F(Escape, AFileOfTenGigabytesIsCutAtTheLimit) {
  ProcessLimits limits;
  limits.fileBytes = 1 << 20;
  EXPECT_NE(runShell("head -c 10G /dev/zero > /out/huge", limits).exitCode, 0);
  EXPECT_LE(std::filesystem::file_size(m_job->out() / "huge"), std::uintmax_t{1} << 20);
}

TEST_F(Escape, ALinkInTheOutputIsNotFollowedByTheHost) {
  ASSERT_EQ(runShell("ln -s /etc/passwd /out/kernel.so").exitCode, 0);
  EXPECT_FALSE(readUntrustedFile(m_job->out() / "kernel.so", 1 << 20).has_value());
}

TEST_F(Escape, NoDescriptorOfOursIsOpenInside) {
  const int plain = ::open("/etc/hostname", O_RDONLY);  // inheritable, on purpose
  ASSERT_GE(plain, 0);
  const int high = ::dup2(plain, 251);
  // Numbers and targets apart: a target such as pipe:[12510] may hold any digits.
  const ProcessResult numbers = runShell("ls -1 /proc/self/fd");
  const ProcessResult targets = runShell("ls -l /proc/self/fd");
  ::close(plain);
  ::close(high);
  EXPECT_THAT("\n" + numbers.output, Not(HasSubstr("\n251\n")));
  EXPECT_THAT("\n" + numbers.output, HasSubstr("\n0\n"));
  EXPECT_THAT(targets.output, Not(HasSubstr("hostname")));
}

TEST_F(Escape, OtherProcessesCannotBeSeenOrSignalled) {
  expectRefused(fmt::format("kill -0 {}", ::getpid()));
  const ProcessResult result = runShell("ls -d /proc/[0-9]* | wc -l");
  EXPECT_LE(std::atoi(result.output.c_str()), 6);
}

TEST_F(Escape, PrivilegesCannotBeWonBack) {
  expectRefused("unshare --user true");
  expectRefused("mount -t tmpfs none /out");
  const ProcessResult result = runShell("grep CapEff /proc/self/status");
  EXPECT_EQ(result.output, "CapEff:\t0000000000000000\n");
}

// The bomb is bounded, so that a sandbox that lets it through does not take the machine down.
TEST_F(Escape, AForkBombIsStoppedWithEverythingItMade) {
  ProcessLimits limits;
  limits.processes = 30;
  const ProcessResult result = runShell("i=0; while [ $i -lt 2000 ]; do sleep 100 & i=$((i+1)); done; wait", limits);
  // By us, or before that by the kernel.
  const bool refusedByKernel = result.exitCode != 0 && result.output.find("fork") != std::string::npos;
  EXPECT_TRUE(result.end == ProcessEnd::ProcessesExceeded || refusedByKernel) << result.output;
  // They die with the process namespace; give the kernel a moment.
  int left = 1000;
  for (int i = 0; i < 500 && left > 1; ++i) {
    left = treeUsage(::getpid()).processes;
    ::usleep(10000);
  }
  EXPECT_EQ(left, 1);
}

TEST_F(Escape, AProgramThatLeavesItsGroupDiesWithTheSandbox) {
  const std::filesystem::path pipe = m_job->out() / "alive";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.isOpen());
  ProcessLimits limits;
  limits.seconds = 1.0;
  const ProcessResult result = runShell("setsid sh -c 'exec 3> /out/alive; sleep 100' & sleep 100", limits);
  EXPECT_EQ(result.end, ProcessEnd::TimedOut);
  // The pipe hangs up when who held its other end is dead, and only then.
  pollfd polled{reader.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 10000), 1);
  EXPECT_NE(polled.revents & POLLHUP, 0);
}

TEST_F(Escape, MemoryInsideCountsAgainstTheLimit) {
  ProcessLimits limits;
  limits.memoryBytes = std::int64_t{100} << 20;
  EXPECT_EQ(runShell("tail -n 1 /dev/zero", limits).end, ProcessEnd::MemoryExceeded);
}

}  // namespace
}  // namespace swage::toolchain
