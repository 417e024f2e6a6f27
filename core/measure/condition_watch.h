// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/device/conditions.h"
#include "core/domain/evaluation.h"

namespace swage::measure {

// Seconds since some fixed moment.
using Clock = std::function<double()>;
// How the device is now; called between timed calls.
using ConditionProbe = std::function<device::ConditionSample()>;

// Looks at a device while something on it is being measured: often enough to know what the samples were taken under,
// seldom enough to cost nothing. Borrows both functions.
class ConditionWatch {
 public:
  ConditionWatch(const ConditionProbe& probe, const Clock& clock);

  // Asks the device unless it was asked a moment ago. `Throttled` speaks of every sample since the last answer.
  enum class Look : std::uint8_t { NotYet, Fine, Throttled };
  Look look();
  // Asks in any case.
  Look lookNow();

  // Medians and extremes of all answers; all zero when there was none.
  [[nodiscard]] domain::DeviceConditions summary() const;

 private:
  const ConditionProbe& m_probe;
  const Clock& m_clock;
  double m_lastLook = 0.0;
  std::vector<double> m_smClocks;
  std::vector<double> m_memoryClocks;
  int m_temperature = 0;
  double m_power = 0.0;
  std::set<std::string> m_reasons;
  std::vector<domain::ConditionLook> m_looks;
};

}  // namespace swage::measure
