// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

namespace swage::device {

// While one lives, the calling thread stays on the processor that it is on. What it may use is put back at the end.
// Threads that it starts meanwhile stay there, too. Without effect where the system does not allow it.
class OneProcessor {
 public:
  OneProcessor();
  ~OneProcessor();
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

  // What the thread might use before.
  [[nodiscard]] const cpu_set_t& allowed() const { return m_allowed; }

 private:
  cpu_set_t m_allowed{};
  bool m_isBound = false;
};

}  // namespace swage::device
