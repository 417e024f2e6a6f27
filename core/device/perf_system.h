// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/device/profiler.h"

struct perf_event_attr;

namespace swage::device {

// What the Linux kernel offers to count and to sample events of threads (perf_event_open(2)). A class
// of its own so that tests can put something else in its place. Thread-safe.
class PerfSystem {
 public:
  PerfSystem() = default;
  virtual ~PerfSystem() = default;
  PerfSystem(const PerfSystem&) = delete;
  PerfSystem& operator=(const PerfSystem&) = delete;

  // A descriptor, or a negative errno. The event joins the group of `leader`; -1: it leads a group of its own.
  [[nodiscard]] virtual int open(const perf_event_attr& attributes, pid_t thread, int leader) = 0;
  // For all events of the group that `leader` leads.
  virtual void enable(int leader) = 0;
  virtual void disable(int leader) = 0;
  // Bytes read, or a negative errno.
  [[nodiscard]] virtual std::int64_t read(int fd, void* target, std::size_t bytes) = 0;
  // The ring buffer of a sampling event; nullptr: refused.
  [[nodiscard]] virtual void* map(int fd, std::size_t bytes) = 0;
  virtual void unmap(void* address, std::size_t bytes) = 0;
  virtual void close(int fd) = 0;

  // /proc/sys/kernel/perf_event_paranoid: from 3 on nobody but the superuser may count anything. No value: this system
  // does not say.
  [[nodiscard]] virtual std::optional<int> paranoid() const = 0;
  // /proc/sys/kernel/perf_event_max_sample_rate, samples a second of one processor.
  [[nodiscard]] virtual int maxSampleRate() const = 0;
};

[[nodiscard]] PerfSystem& linuxPerf();

// Why an event could not be opened, and what the user can do. `error` is a positive errno.
[[nodiscard]] ProfilerFailure perfFailure(int error, const std::optional<int>& paranoid);

// One event of one thread. Closed at destruction.
class PerfEventFd {
 public:
  PerfEventFd(PerfSystem& system, int fd) : m_system(&system), m_fd(fd) {}
  ~PerfEventFd() { reset(); }
  PerfEventFd(PerfEventFd&& other) noexcept : m_system(other.m_system), m_fd(other.m_fd) { other.m_fd = -1; }
  PerfEventFd& operator=(PerfEventFd&& other) noexcept {
    if (this != &other) {
      reset();
      m_system = other.m_system;
      m_fd = other.m_fd;
      other.m_fd = -1;
    }
    return *this;
  }
  PerfEventFd(const PerfEventFd&) = delete;
  PerfEventFd& operator=(const PerfEventFd&) = delete;

  [[nodiscard]] int get() const { return m_fd; }

 private:
  void reset() {
    if (m_fd >= 0) {
      m_system->close(m_fd);
    }
  }

  PerfSystem* m_system;
  int m_fd;
};

}  // namespace swage::device
