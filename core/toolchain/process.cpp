// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>

#include <fmt/format.h>

#include "core/base/system_message.h"
#include "core/toolchain/capped_log.h"
#include "core/toolchain/process_tree.h"

namespace swage::toolchain {
namespace {

constexpr std::chrono::milliseconds kLookInterval{50};

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// All that the child needs between fork and exec, prepared before the fork: only async-signal-safe calls follow it.
struct ExecPlan {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::array<int, 3> streams{-1, -1, -1};
  std::array<std::pair<__rlimit_resource_t, rlimit>, 4> limits{};
  int failure = -1;  // the child writes errno here when it cannot execute
  pid_t parent = 0;
};

ExecPlan makePlan(const std::vector<std::string>& command, const Environment& environment, const ProcessLimits& limits,
                  LimitedChild::CpuLimit cpuLimit) {
  ExecPlan plan;
  plan.command = command;
  for (const auto& [name, value] : environment) {
    plan.environment.push_back(fmt::format("{}={}", name, value));
  }
  plan.argv = pointersTo(plan.command);
  plan.envp = pointersTo(plan.environment);
  const auto fileBytes = static_cast<rlim_t>(limits.fileBytes);
  // A second line of defence for the case that we die before the child does.
  const rlim_t cpu =
      cpuLimit == LimitedChild::CpuLimit::None ? RLIM_INFINITY : static_cast<rlim_t>(std::ceil(limits.seconds)) + 5;
  plan.limits = {{{RLIMIT_CORE, {0, 0}},
                  {RLIMIT_FSIZE, {fileBytes, fileBytes}},
                  {RLIMIT_NOFILE, {256, 256}},
                  {RLIMIT_CPU, {cpu, cpu}}}};
  plan.parent = ::getpid();
  return plan;
}

[[noreturn]] void failChild(const ExecPlan& plan) {
  const int code = errno;
  // Nobody can be told when this write fails; the exit code still says that something went wrong.
  [[maybe_unused]] const ssize_t written = ::write(plan.failure, &code, sizeof code);
  ::_exit(127);
}

[[noreturn]] void becomeProgram(ExecPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) {
    ::_exit(127);
  }
  for (int target = 0; target < 3; ++target) {
    int& source = plan.streams[static_cast<std::size_t>(target)];
    if (source < 0) {
      source = ::open("/dev/null", target == 0 ? O_RDONLY : O_WRONLY);
    }
    // Above 2 first, so that no dup2 below overwrites a stream that is still needed.
    source = ::fcntl(source, F_DUPFD, 10);
    if (source < 0) {
      failChild(plan);
    }
  }
  for (int target = 0; target < 3; ++target) {
    if (::dup2(plan.streams[static_cast<std::size_t>(target)], target) < 0) {
      failChild(plan);
    }
  }
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto& [resource, limit] : plan.limits) {
    ::setrlimit(resource, &limit);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // NOLINT(concurrency-mt-unsafe): the child has one thread
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::execvpe(plan.argv[0], plan.argv.data(), plan.envp.data());
  failChild(plan);
}

Error cannotStart(const std::string& program, int code) {
  const ErrorKind kind =
      code == ENOENT || code == EACCES || code == ENOTDIR ? ErrorKind::NotFound : ErrorKind::Environment;
  return Error(kind, fmt::format("cannot start '{}': {}", program, systemMessage(code)));
}

// By number: the header of Debian 12 declares the function without C linkage.
int openPidFd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

// Reads what is there, but not for ever: a child that prints faster than we read must still meet its limits.
void drain(int fd, CappedLog& log) {
  std::array<char, 65536> buffer{};
  for (int reads = 0; reads < 16; ++reads) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) {
      return;
    }
    log.append({buffer.data(), static_cast<std::size_t>(count)});
  }
}

// What the loop of runLimited ended with: a limit, or nothing when the child ended by itself.
std::optional<ProcessEnd> watchToEnd(const LimitedChild& child, int output, const ProcessLimits& limits,
                                     LimitWatch& watch, CappedLog& log) {
  std::array<pollfd, 2> polled{{{child.endDescriptor(), POLLIN, 0}, {output, POLLIN, 0}}};
  for (;;) {
    ::poll(polled.data(), polled.size(), static_cast<int>(kLookInterval.count()));
    if (polled[1].revents != 0) {
      drain(output, log);
      if ((polled[1].revents & POLLHUP) != 0) {
        polled[1].fd = -1;
      }
    }
    if (log.totalBytes() > static_cast<std::size_t>(limits.outputBytes)) {
      return ProcessEnd::OutputExceeded;
    }
    if (polled[0].revents != 0) {
      return std::nullopt;
    }
    if (const auto limit = watch.exceeded()) {
      return limit;
    }
  }
}

void describeStatus(int status, ProcessResult& result) {
  if (WIFSIGNALED(status)) {
    result.end = ProcessEnd::Signalled;
    result.signal = WTERMSIG(status);
  } else {
    result.exitCode = WEXITSTATUS(status);
  }
}

}  // namespace

Result<Pipe> openPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error(ErrorKind::Environment, fmt::format("cannot open a pipe: {}", systemMessage(errno)));
  }
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<LimitedChild> LimitedChild::start(const std::vector<std::string>& command, const Environment& environment,
                                         const Streams& streams, const ProcessLimits& limits, CpuLimit cpuLimit) {
  ExecPlan plan = makePlan(command, environment, limits, cpuLimit);
  plan.streams = {streams.input, streams.output, streams.error};
  SWAGE_TRY_ASSIGN(Pipe failure, openPipe());
  plan.failure = failure.write.get();

  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error(ErrorKind::Environment,
                 fmt::format("cannot make a process for '{}': {}", command.front(), systemMessage(errno)));
  }
  if (pid == 0) {
    becomeProgram(plan);
  }
  ::setpgid(pid, pid);  // in both, so that the group exists whoever comes first
  LimitedChild child(pid, Fd(openPidFd(pid)));
  failure.write.reset();
  int code = 0;
  ssize_t count = 0;
  do {
    count = ::read(failure.read.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof code) {
    return cannotStart(command.front(), code);
  }
  if (!child.m_pidFd.isOpen()) {
    return Error(ErrorKind::Environment, "cannot watch a child process: this needs Linux 5.3 or later");
  }
  return child;
}

LimitedChild::~LimitedChild() {
  killAndReap();
}

LimitedChild::LimitedChild(LimitedChild&& other) noexcept
    : m_pid(std::exchange(other.m_pid, -1)), m_pidFd(std::move(other.m_pidFd)) {}

LimitedChild& LimitedChild::operator=(LimitedChild&& other) noexcept {
  if (this != &other) {
    killAndReap();
    m_pid = std::exchange(other.m_pid, -1);
    m_pidFd = std::move(other.m_pidFd);
  }
  return *this;
}

int LimitedChild::killAndReap() {
  if (m_pid < 0) {
    return 0;
  }
  // Before it is reaped the child's id still names its group, also when the child itself has ended.
  ::kill(-m_pid, SIGKILL);
  int status = 0;
  while (::waitpid(m_pid, &status, 0) < 0 && errno == EINTR) {
  }
  m_pid = -1;
  m_pidFd.reset();
  return status;
}

LimitWatch::LimitWatch(pid_t pid, const ProcessLimits& limits)
    : m_pid(pid), m_limits(limits), m_start(Clock::now()), m_nextLook(m_start) {}

double LimitWatch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - m_start).count();
}

std::optional<ProcessEnd> LimitWatch::exceeded() {
  if (seconds() > m_limits.seconds) {
    return ProcessEnd::TimedOut;
  }
  if (Clock::now() < m_nextLook) {
    return std::nullopt;
  }
  m_nextLook = Clock::now() + kLookInterval;
  const TreeUsage usage = treeUsage(m_pid);
  m_peakBytes = std::max(m_peakBytes, usage.residentBytes);
  if (usage.residentBytes > m_limits.memoryBytes) {
    return ProcessEnd::MemoryExceeded;
  }
  if (usage.processes > m_limits.processes) {
    return ProcessEnd::ProcessesExceeded;
  }
  return std::nullopt;
}

Result<ProcessResult> runLimited(const std::vector<std::string>& command, const Environment& environment,
                                 const ProcessLimits& limits) {
  SWAGE_TRY_ASSIGN(Pipe output, openPipe());
  SWAGE_TRY_ASSIGN(LimitedChild child,
                   LimitedChild::start(command, environment, {-1, output.write.get(), output.write.get()}, limits,
                                       LimitedChild::CpuLimit::FromSeconds));
  output.write.reset();
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);

  LimitWatch watch(child.pid(), limits);
  CappedLog log(static_cast<std::size_t>(limits.keptOutputBytes));
  const auto limit = watchToEnd(child, output.read.get(), limits, watch, log);
  ProcessResult result;
  result.seconds = watch.seconds();
  result.peakBytes = watch.peakBytes();
  const int status = child.killAndReap();
  if (limit) {
    result.end = *limit;
  } else {
    describeStatus(status, result);
    drain(output.read.get(), log);
  }
  result.output = log.text();
  return result;
}

std::string describeLimit(ProcessEnd end, const ProcessLimits& limits) {
  switch (end) {
    case ProcessEnd::Exited:
    case ProcessEnd::Signalled: return {};
    case ProcessEnd::TimedOut: return fmt::format("killed: it ran longer than {:g} s", limits.seconds);
    case ProcessEnd::MemoryExceeded:
      return fmt::format("killed: it used more than {} MiB of memory", limits.memoryBytes >> 20);
    case ProcessEnd::OutputExceeded:
      return fmt::format("killed: it printed more than {} MiB", limits.outputBytes >> 20);
    case ProcessEnd::ProcessesExceeded:
      return fmt::format("killed: it started more than {} processes", limits.processes);
  }
  return {};
}

}  // namespace swage::toolchain
