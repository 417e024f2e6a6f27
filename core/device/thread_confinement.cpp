// SPDX-License-Identifier: Apache-2.0
#include "core/device/thread_confinement.h"

#include <omp.h>
#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <stop_token>
#include <string>
#include <system_error>

namespace swage::device {
namespace {

std::set<pid_t> threadsOfProcess() {
  std::set<pid_t> threads;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failure)) {
    const std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.insert(thread);
  }
  return threads;
}

}  // namespace

ThreadConfinement::ThreadConfinement(std::chrono::milliseconds longest)
    : m_members(static_cast<std::size_t>(omp_get_max_threads())), m_threadsBefore(threadsOfProcess()) {
  cpu_set_t one;
  CPU_ZERO(&one);
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) {
    return;
  }
  CPU_SET(static_cast<unsigned>(here), &one);
#pragma omp parallel
  {
    Member& member = m_members[static_cast<std::size_t>(omp_get_thread_num())];
    member.thread = ::gettid();
    member.isKnown = ::sched_getaffinity(member.thread, sizeof member.allowed, &member.allowed) == 0 &&
                     ::sched_setaffinity(member.thread, sizeof one, &one) == 0;
  }
  m_isConfined = true;
  m_timer = std::jthread([this, longest](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, longest, [] { return false; });
    restore();
  });
}

ThreadConfinement::~ThreadConfinement() {
  restore();
}

void ThreadConfinement::restore() {
  const std::lock_guard lock(m_mutex);
  if (!m_isConfined) {
    return;
  }
  m_isConfined = false;
  for (const Member& member : m_members) {
    if (member.isKnown) {
      static_cast<void>(::sched_setaffinity(member.thread, sizeof member.allowed, &member.allowed));
    }
  }
  freeNewThreads();
}

// A team that is larger than those before starts threads, which inherit what the one that starts them may use.
void ThreadConfinement::freeNewThreads() const {
  const Member& caller = m_members.front();
  for (const pid_t thread : threadsOfProcess()) {
    if (caller.isKnown && !m_threadsBefore.contains(thread)) {
      static_cast<void>(::sched_setaffinity(thread, sizeof caller.allowed, &caller.allowed));
    }
  }
}

}  // namespace swage::device
