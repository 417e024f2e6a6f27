// SPDX-License-Identifier: Apache-2.0
#include "core/device/thread_confinement.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>

namespace swage::device {
namespace {

std::set<pid_t> threadsOf(pid_t process) {
  std::set<pid_t> threads;
  std::error_code failure;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.insert(thread);
  }
  return threads;
}

}  // namespace

ThreadConfinement::ThreadConfinement(pid_t process, std::chrono::milliseconds longest, const cpu_set_t& usual)
    : m_process(process), m_usual(usual) {
  cpu_set_t one;
  CPU_ZERO(&one);
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) {
    return;
  }
  CPU_SET(static_cast<unsigned>(here), &one);
  for (const pid_t thread : threadsOf(process)) {
    Member member{thread, {}};
    if (::sched_getaffinity(thread, sizeof member.allowed, &member.allowed) == 0 &&
        ::sched_setaffinity(thread, sizeof one, &one) == 0) {
      m_members.push_back(member);
    }
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
    static_cast<void>(::sched_setaffinity(member.thread, sizeof member.allowed, &member.allowed));
  }
  freeNewThreads();
}

// A team that is larger than those before starts threads, which inherit what the one that starts them may use.
void ThreadConfinement::freeNewThreads() const {
  for (const pid_t thread : threadsOf(m_process)) {
    const bool isNew = std::none_of(m_members.begin(), m_members.end(),
                                    [thread](const Member& member) { return member.thread == thread; });
    if (isNew && !m_members.empty()) {
      static_cast<void>(::sched_setaffinity(thread, sizeof m_usual, &m_usual));
    }
  }
}

}  // namespace swage::device
