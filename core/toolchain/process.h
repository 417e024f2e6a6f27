// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace swage::toolchain {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct ProcessLimits {
  double seconds = 20.0;                                   // wall clock
  std::int64_t memoryBytes = std::int64_t{2} << 30;        // resident, of the process and its descendants
  std::int64_t fileBytes = std::int64_t{256} << 20;        // of one written file
  std::int64_t outputBytes = std::int64_t{64} << 20;       // printed
  std::int64_t keptOutputBytes = std::int64_t{256} << 10;  // of what is printed, head and tail
  int processes = 64;
};

enum class ProcessEnd : std::uint8_t {
  Exited,
  Signalled,
  TimedOut,
  MemoryExceeded,
  OutputExceeded,
  ProcessesExceeded,
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::Exited;
  int exitCode = 0;    // of Exited
  int signal = 0;      // of Signalled
  std::string output;  // standard output and error together, head and tail
  double seconds = 0.0;
  std::int64_t peakBytes = 0;  // as often as it was looked at
};

// One child process in its own process group. It inherits no file descriptor but the three streams given, no
// environment but the one given, and dies with us. The destructor kills the whole group and reaps the child.
// Used from one thread.
class LimitedChild {
 public:
  // Descriptors the child gets as 0, 1 and 2; -1 is /dev/null. They stay the caller's.
  struct Streams {
    int input = -1;
    int output = -1;
    int error = -1;
  };
  enum class CpuLimit : bool { None, FromSeconds };

  // Fails with NotFound when the program cannot be executed, with Environment when no process can be made.
  [[nodiscard]] static Result<LimitedChild> start(const std::vector<std::string>& command,
                                                  const Environment& environment, const Streams& streams,
                                                  const ProcessLimits& limits, CpuLimit cpuLimit);
  ~LimitedChild();
  LimitedChild(LimitedChild&& other) noexcept;
  LimitedChild& operator=(LimitedChild&& other) noexcept;
  LimitedChild(const LimitedChild&) = delete;
  LimitedChild& operator=(const LimitedChild&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  // Readable when the child has ended.
  [[nodiscard]] int endDescriptor() const { return m_pidFd.get(); }
  // Kills the group, waits for the child and returns its wait status. The object is empty afterwards.
  int killAndReap();

 private:
  LimitedChild(pid_t pid, Fd pidFd) : m_pid(pid), m_pidFd(std::move(pidFd)) {}

  pid_t m_pid = -1;
  Fd m_pidFd;
};

// Watches a running child against its limits.
class LimitWatch {
 public:
  LimitWatch(pid_t pid, const ProcessLimits& limits);

  // Which limit is exceeded now, if one is. Looks at memory at most every 50 ms.
  [[nodiscard]] std::optional<ProcessEnd> exceeded();
  [[nodiscard]] double seconds() const;
  [[nodiscard]] std::int64_t peakBytes() const { return m_peakBytes; }

 private:
  using Clock = std::chrono::steady_clock;

  pid_t m_pid;
  ProcessLimits m_limits;
  Clock::time_point m_start;
  Clock::time_point m_nextLook;
  std::int64_t m_peakBytes = 0;
};

// Runs a command to its end or to the first limit it meets. An Error is ours: the command could not be started.
[[nodiscard]] Result<ProcessResult> runLimited(const std::vector<std::string>& command, const Environment& environment,
                                               const ProcessLimits& limits);

// "killed: it used more than 2048 MiB of memory"; empty for Exited and Signalled.
[[nodiscard]] std::string describeLimit(ProcessEnd end, const ProcessLimits& limits);

struct Pipe {
  Fd read;
  Fd write;
};
[[nodiscard]] Result<Pipe> openPipe();

}  // namespace swage::toolchain
