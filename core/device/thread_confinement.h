// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace swage::device {

// While one lives, all threads of a process share the processor that the calling thread is on; but no longer than
// `longest`, because threads that wait for one another by spinning make little progress so. What processors each of
// them may use is restored afterwards; threads that were started meanwhile get `usual`.
// Nothing happens where the system does not allow it.
class ThreadConfinement {
 public:
  ThreadConfinement(pid_t process, std::chrono::milliseconds longest, const cpu_set_t& usual);
  ~ThreadConfinement();
  ThreadConfinement(const ThreadConfinement&) = delete;
  ThreadConfinement& operator=(const ThreadConfinement&) = delete;

 private:
  struct Member {
    pid_t thread = 0;
    cpu_set_t allowed{};
  };
  void restore();
  void freeNewThreads() const;

  pid_t m_process;
  cpu_set_t m_usual;
  std::vector<Member> m_members;
  std::mutex m_mutex;
  bool m_isConfined = false;
  std::jthread m_timer;  // ends first: it uses the others
};

}  // namespace swage::device
