// SPDX-License-Identifier: Apache-2.0
#include "core/device/openmp_team.h"

#include <linux/futex.h>
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "core/device/team_placement.h"

namespace swage::device {
namespace {

// Nobody minds this signal where it is not handled, and of several there arrives one.
constexpr int kPauseSignal = SIGURG;
constexpr std::chrono::milliseconds kLongestArrival{20};

// A handler of signals finds nothing else.
std::atomic<std::uint32_t> g_isPaused{0};
std::atomic<int> g_standing{0};

void standStill(int /*signal*/) {
  const int error = errno;
  g_standing.fetch_add(1);
  while (g_isPaused.load() != 0) {
    ::syscall(SYS_futex, &g_isPaused, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
  }
  g_standing.fetch_sub(1);
  errno = error;
}

void handleSignal() {
  struct sigaction action {};
  action.sa_handler = standStill;
  action.sa_flags = SA_RESTART;
  ::sigaction(kPauseSignal, &action, nullptr);
}

// One that does not come is not waited for: it only makes what is timed meanwhile slower.
void awaitStanding(int wanted) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestArrival;
  while (g_standing.load() < wanted && std::chrono::steady_clock::now() < deadline) {
    ::sched_yield();
  }
}

}  // namespace

void OpenMpTeam::spread(const cpu_set_t& allowed) {
  resume();
  const auto size = static_cast<std::size_t>(omp_get_max_threads());
  const bool isPlaced = !isTeamBound();
  m_processors.assign(size, -1);
  m_threads.assign(size, 0);
#pragma omp parallel
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const int here = processorHere();
    m_processors[thread] = here;
    m_threads[thread] = ::gettid();
#pragma omp barrier
    if (isPlaced && thread == 0) {
      spreadOver(allowed, m_processors);
    }
#pragma omp barrier
    const int wanted = m_processors[thread];
    if (isPlaced && thread > 0 && wanted >= 0 && wanted != here) {
      goTo(wanted, allowed);
    }
  }
  m_threads.erase(m_threads.begin());
  std::erase(m_threads, 0);
}

void OpenMpTeam::pause(bool isAwaited) {
  if (m_isPaused || m_threads.empty()) {
    return;
  }
  handleSignal();
  g_isPaused.store(1);
  int sent = 0;
  for (const pid_t thread : m_threads) {
    sent += ::syscall(SYS_tgkill, ::getpid(), thread, kPauseSignal) == 0 ? 1 : 0;
  }
  if (isAwaited) {
    awaitStanding(sent);
  }
  m_isPaused = true;
}

void OpenMpTeam::resume() {
  if (!m_isPaused) {
    return;
  }
  g_isPaused.store(0);
  ::syscall(SYS_futex, &g_isPaused, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  m_isPaused = false;
}

}  // namespace swage::device
