// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace swage::device {

// How many flushes of the cache in a row go before a timed call. One is enough for the cache, but the device must also
// be busy with them for as long as the host needs to issue the call: else it waits for the host between the launches,
// and the time of a call of many small kernels is that of the host. Two do for most calls. More are wanted in powers of
// two, because a call is about 1 % faster or slower after another number of them: processes should agree on it.
class FlushCount {
 public:
  // How long one flush takes the device. Until it is known, the fewest have to do.
  void setFlushNs(double ns) { m_flushNs = ns; }

  [[nodiscard]] int next() const {
    int count = kFewest;
    while (count < kMost && count * m_flushNs < kMargin * m_issuingNs) {
      count *= 2;
    }
    return m_flushNs > 0.0 ? count : kFewest;
  }
  // How long the host has just taken from the first flush to the end of the call. Calls that are timed in turns need
  // differently long, and the longest of the last ones counts: a flush too many only costs time.
  void add(double issuingNs) { m_issuingNs = std::max(issuingNs, kMemory * m_issuingNs); }

 private:
  static constexpr double kMargin = 1.25;
  static constexpr int kFewest = 2;
  static constexpr int kMost = 16;  // a millisecond on the fastest GPUs
  static constexpr double kMemory = 0.8;

  double m_flushNs = 0.0;
  double m_issuingNs = 0.0;
};

}  // namespace swage::device
