// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/measure/paired.h"

namespace swage::measure {

// Collects the samples of one call. Samples stand once they are confirmed; until then they can be taken back.
class Series {
 public:
  explicit Series(const TimedCall& call) : m_call(call) {}

  [[nodiscard]] device::DeviceStatus sample();
  // The samples until now were warm-up.
  void discardAll();
  void confirm() { m_confirmed = m_ns.size(); }
  // Takes back what is not confirmed; it will be measured again.
  void takeBack();

  [[nodiscard]] const std::vector<double>& samples() const { return m_ns; }
  [[nodiscard]] domain::Timing summary(std::string reason) const;

 private:
  const TimedCall& m_call;
  std::vector<double> m_ns;
  std::vector<double> m_hostNs;
  std::size_t m_confirmed = 0;
  int m_discarded = 0;
  int m_repeated = 0;
};

}  // namespace swage::measure
