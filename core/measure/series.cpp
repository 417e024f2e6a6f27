// SPDX-License-Identifier: Apache-2.0
#include "core/measure/series.h"

#include <algorithm>
#include <utility>

#include "core/stats/robust.h"

namespace swage::measure {
namespace {

// A host that is interrupted once must not look like a device that goes on in secret.
constexpr std::size_t kFewestComparedCalls = 5;

}  // namespace

device::DeviceStatus Series::sample() {
  device::DeviceResult<device::CallTime> time = m_call();
  if (!time) {
    return std::move(time).error();
  }
  m_ns.push_back(time->ns);
  m_hostNs.push_back(time->hostNs);
  return {};
}

void Series::discardAll() {
  m_discarded += static_cast<int>(m_ns.size());
  m_ns.clear();
  m_hostNs.clear();
  m_confirmed = 0;
}

void Series::takeBack() {
  m_repeated += static_cast<int>(m_ns.size() - m_confirmed);
  m_ns.resize(m_confirmed);
  m_hostNs.resize(m_confirmed);
}

domain::Timing Series::summary(std::string reason) const {
  domain::Timing timing = stats::summarise(m_ns, m_discarded, std::move(reason));
  timing.repeated = m_repeated;
  const bool isCompared = m_hostNs.size() >= kFewestComparedCalls &&
                          std::all_of(m_hostNs.begin(), m_hostNs.end(), [](double ns) { return ns > 0.0; });
  timing.hostMedianNs = isCompared ? stats::median(m_hostNs) : 0.0;
  return timing;
}

}  // namespace swage::measure
