// SPDX-License-Identifier: Apache-2.0
#include "core/device/one_processor.h"

namespace swage::device {

OneProcessor::OneProcessor() {
  const int here = ::sched_getcpu();
  if (::sched_getaffinity(0, sizeof m_allowed, &m_allowed) != 0 || here < 0 || here >= CPU_SETSIZE) {
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(here), &one);
  m_isBound = ::sched_setaffinity(0, sizeof one, &one) == 0;
}

OneProcessor::~OneProcessor() {
  if (m_isBound) {
    static_cast<void>(::sched_setaffinity(0, sizeof m_allowed, &m_allowed));
  }
}

}  // namespace swage::device
