// SPDX-License-Identifier: Apache-2.0
#include "core/device/one_processor.h"

namespace swage::device {

OneProcessor::OneProcessor(pid_t other) : m_other(other) {
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof m_own, &m_own) != 0 ||
      ::sched_getaffinity(other, sizeof m_others, &m_others) != 0) {
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(here), &one);
  m_isOtherFree = CPU_COUNT(&m_others) > 1;  // else somebody has confined it, and this process follows
  m_isBound = ::sched_setaffinity(0, sizeof one, m_isOtherFree ? &one : &m_others) == 0;
  if (m_isOtherFree) {
    static_cast<void>(::sched_setaffinity(other, sizeof one, &one));
  }
}

OneProcessor::~OneProcessor() {
  if (!m_isBound) {
    return;
  }
  static_cast<void>(::sched_setaffinity(0, sizeof m_own, &m_own));
  if (m_isOtherFree) {
    static_cast<void>(::sched_setaffinity(m_other, sizeof m_others, &m_others));
  }
}

}  // namespace swage::device
