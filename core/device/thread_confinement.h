// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace swage::device {

// While one lives, the calling thread and its OpenMP team share the processor that the calling thread is on; but no
// longer than `longest`, because threads that wait for one another by spinning make little progress so. What processors
// each of them may use is restored afterwards; threads that were started meanwhile get those of the calling thread.
// Nothing happens where the system does not allow it.
class ThreadConfinement {
 public:
  explicit ThreadConfinement(std::chrono::milliseconds longest);
  ~ThreadConfinement();
  ThreadConfinement(const ThreadConfinement&) = delete;
  ThreadConfinement& operator=(const ThreadConfinement&) = delete;

 private:
  struct Member {
    pid_t thread = 0;
    cpu_set_t allowed{};
    bool isKnown = false;
  };
  void restore();
  void freeNewThreads() const;

  std::vector<Member> m_members;    // the calling thread first
  std::set<pid_t> m_threadsBefore;  // of the process
  std::mutex m_mutex;
  bool m_isConfined = false;
  std::jthread m_timer;  // ends first: it uses the others
};

}  // namespace swage::device
