// SPDX-License-Identifier: Apache-2.0
#include "core/device/perf_counters.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>

namespace swage::device {
namespace {

constexpr std::size_t kHead = 3;  // number of values, enabled, running

perf_event_attr attributesOf(const PerfEvent& event, bool isLeader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = isLeader ? 1 : 0;  // members follow their leader
  attributes.exclude_kernel = 1;           // what an unprivileged user may count
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

}  // namespace

ProfilerResult<PerfCounters> PerfCounters::open(PerfSystem& system, PerfEventSet events,
                                                const std::vector<pid_t>& threads) {
  PerfCounters counters(system, events.size());
  for (const pid_t thread : threads) {
    const int error = counters.openThread(events, thread);
    if (error == ESRCH) {
      continue;  // the thread has ended since it was listed
    }
    if (error != 0) {
      return tl::make_unexpected(perfFailure(error, system.paranoid()));
    }
  }
  if (counters.m_threads.empty()) {
    return tl::make_unexpected(ProfilerFailure{"there is no thread to count", ""});
  }
  return counters;
}

// The first thread finds out which events there are; the others have the same. 0, or a positive errno.
int PerfCounters::openThread(PerfEventSet events, pid_t id) {
  Thread thread;
  const bool isFirst = m_threads.empty();
  std::vector<std::size_t> opened;
  int firstError = ENOENT;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!isFirst && std::find(m_opened.begin(), m_opened.end(), i) == m_opened.end()) {
      continue;
    }
    const bool isLeader = thread.events.empty();
    const int fd = m_system->open(attributesOf(events[i], isLeader), id, isLeader ? -1 : thread.events.front().get());
    if (fd < 0) {
      firstError = opened.empty() ? -fd : firstError;
      const bool isMissing = fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV || fd == -EINVAL;
      if (isFirst && isMissing) {
        continue;
      }
      return -fd;
    }
    thread.events.emplace_back(*m_system, fd);
    opened.push_back(i);
  }
  if (opened.empty()) {
    return firstError;
  }
  if (isFirst) {
    m_opened = std::move(opened);
  }
  m_threads.push_back(std::move(thread));
  return 0;
}

// The calling thread's counters begin last, because they would count the others' beginning.
void PerfCounters::start() {
  for (Thread& thread : m_threads) {
    thread.last = read(thread).value_or(Reading());
  }
  for (auto thread = m_threads.rbegin(); thread != m_threads.rend(); ++thread) {
    m_system->enable(thread->events.front().get());
  }
}

std::vector<std::optional<double>> PerfCounters::stop() {
  for (const Thread& thread : m_threads) {
    m_system->disable(thread.events.front().get());
  }
  std::vector<std::optional<double>> sums(m_events);
  for (Thread& thread : m_threads) {
    const auto now = read(thread);
    if (!now || now->values.size() != m_opened.size()) {
      continue;
    }
    thread.last.values.resize(m_opened.size());
    const std::uint64_t enabled = now->enabledNs - thread.last.enabledNs;
    const std::uint64_t running = now->runningNs - thread.last.runningNs;
    if (running == 0 && enabled > 0) {
      continue;
    }
    const double scale = running > 0 ? static_cast<double>(enabled) / static_cast<double>(running) : 1.0;
    for (std::size_t i = 0; i < m_opened.size(); ++i) {
      const auto counted = static_cast<double>(now->values[i] - thread.last.values[i]) * scale;
      std::optional<double>& sum = sums[m_opened[i]];
      sum = sum.value_or(0.0) + counted;
    }
  }
  return sums;
}

std::optional<PerfCounters::Reading> PerfCounters::read(const Thread& thread) const {
  std::vector<std::uint64_t> words(kHead + m_opened.size());
  const auto bytes = static_cast<std::int64_t>(words.size() * sizeof words[0]);
  if (m_system->read(thread.events.front().get(), words.data(), static_cast<std::size_t>(bytes)) != bytes ||
      words[0] != m_opened.size()) {
    return std::nullopt;
  }
  return Reading{words[1], words[2], {words.begin() + kHead, words.end()}};
}

}  // namespace swage::device
