// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace swage::device {

// While one lives, the calling thread and the first one of another process share a processor: a call that goes there
// and comes back need not wake another one, which takes longer and not always equally long. Other threads are not
// bound. Put back at the end. Without effect where the system does not allow it.
class OneProcessor {
 public:
  explicit OneProcessor(pid_t other);
  ~OneProcessor();
  // Somebody else has confined the other process to a processor, to which this one goes.
  [[nodiscard]] bool isOtherConfined() const { return m_isBound && !m_isOtherFree; }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  pid_t m_other;
  cpu_set_t m_own{};
  cpu_set_t m_others{};
  bool m_isOtherFree = false;
  bool m_isBound = false;
};

}  // namespace swage::device
