// SPDX-License-Identifier: Apache-2.0
#include "core/device/perf_system.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/system_message.h"

namespace swage::device {
namespace {

constexpr int kUsualSampleRate = 1000;
constexpr int kParanoidFrom = 3;  // Debian's and Android's value for: nobody may count anything

std::optional<int> numberIn(const char* path) {
  const auto text = readTextFile(path);
  int value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

class LinuxPerf final : public PerfSystem {
 public:
  int open(const perf_event_attr& attributes, pid_t thread, int leader) override {
    const long fd = ::syscall(SYS_perf_event_open, &attributes, thread, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : static_cast<int>(fd);
  }
  void enable(int leader) override { ::ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP); }
  void disable(int leader) override { ::ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP); }
  std::int64_t read(int fd, void* target, std::size_t bytes) override {
    const ssize_t got = ::read(fd, target, bytes);
    return got < 0 ? -errno : got;
  }
  void* map(int fd, std::size_t bytes) override {
    void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return address == MAP_FAILED ? nullptr : address;
  }
  void unmap(void* address, std::size_t bytes) override { ::munmap(address, bytes); }
  void close(int fd) override { ::close(fd); }
  std::optional<int> paranoid() const override { return numberIn("/proc/sys/kernel/perf_event_paranoid"); }
  int maxSampleRate() const override {
    return numberIn("/proc/sys/kernel/perf_event_max_sample_rate").value_or(kUsualSampleRate);
  }
};

}  // namespace

PerfSystem& linuxPerf() {
  static LinuxPerf system;
  return system;
}

ProfilerFailure perfFailure(int error, const std::optional<int>& paranoid) {
  switch (error) {
    case EACCES:
    case EPERM:
      if (paranoid && *paranoid >= kParanoidFrom) {
        return {fmt::format("counters are forbidden: /proc/sys/kernel/perf_event_paranoid is {}", *paranoid),
                "Allow them with `sudo sysctl kernel.perf_event_paranoid=2`"};
      }
      return {"counters are forbidden to this process, as in most containers",
              "Start the container with `--cap-add PERFMON` or a seccomp profile that allows perf_event_open"};
    case ENOSYS:
      return {"this Linux kernel cannot count (it was built without perf events, or a sandbox hides them)", ""};
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      return {"no hardware counters: the processor's are not visible here, as in most virtual machines",
              "Profile on the host or on a machine of its own, or let the virtual machine have a PMU"};
    case EMFILE:
    case ENFILE: return {"too many open files to count every thread", "Raise the limit with `ulimit -n`"};
    default: return {fmt::format("hardware counters cannot be opened: {}", systemMessage(error)), ""};
  }
}

}  // namespace swage::device
