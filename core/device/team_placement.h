// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>
#include <sched.h>
#include <sys/rseq.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace swage::device {

// Which processors the threads of an OpenMP team are on. Only in a header, because swage-cell links nothing of Swage
// and does with its team what the worker does with PyTorch's: both are to be found in the same way by a call that is
// timed.

// Of the calling thread; -1: not known. Without a system call, and without the functions that a cell has no more.
[[nodiscard]] inline int processorHere() {
  if (__rseq_size == 0) {
    return -1;
  }
  const char* area = static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset;
  return static_cast<int>(reinterpret_cast<const volatile struct rseq*>(area)->cpu_id);
}

// Somebody has asked OpenMP to bind its threads (OMP_PROC_BIND): where they are is no business of ours.
[[nodiscard]] inline bool isTeamBound() {
  return omp_get_proc_bind() != omp_proc_bind_false;
}

// The calling thread goes to a processor, and may use all `allowed` ones from there on.
inline void goTo(int processor, const cpu_set_t& allowed) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(processor), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

// Where threads are, made where they are to be: each on a processor of its own, as far as there are enough; the first
// ones stay.
inline void spreadOver(const cpu_set_t& allowed, std::span<int> processors) {
  const auto isNumber = [](int processor) { return processor >= 0 && processor < CPU_SETSIZE; };
  cpu_set_t free = allowed;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const auto before = processors.first(i);
    if (isNumber(processors[i]) && std::find(before.begin(), before.end(), processors[i]) != before.end()) {
      processors[i] = -1;
    } else if (isNumber(processors[i])) {
      CPU_CLR(static_cast<unsigned>(processors[i]), &free);
    }
  }
  unsigned next = 0;
  for (int& processor : processors) {
    while (processor < 0 && next < CPU_SETSIZE && !CPU_ISSET(next, &free)) {
      ++next;
    }
    if (processor < 0 && next < CPU_SETSIZE) {
      processor = static_cast<int>(next++);
    }
  }
}

}  // namespace swage::device
