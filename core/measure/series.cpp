// SPDX-License-Identifier: Apache-2.0
#include "core/measure/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/stats/robust.h"

namespace swage::measure {
namespace {

constexpr std::size_t kFewestComparedCalls = 5;

// What the host saw, for the call of the median. A host is interrupted, on a machine that is busy in most calls even;
// but work that goes on beside the timed one does so in every call, because every call has to give the right result. So
// it is the least that the host's clock showed beyond the device's.
double hostTime(const std::vector<double>& ns, const std::vector<double>& hostNs, double medianNs) {
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < ns.size(); ++i) {
    if (hostNs[i] <= 0.0) {
      return 0.0;
    }
    least = std::min(least, hostNs[i] - ns[i]);
  }
  return ns.size() >= kFewestComparedCalls ? std::max(medianNs + least, 1.0) : 0.0;
}

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
  timing.hostMedianNs = hostTime(m_ns, m_hostNs, timing.medianNs);
  timing.sequenceNs = stats::thinned(m_ns, domain::kKeptSamples);
  for (double& ns : timing.sequenceNs) {
    ns = std::round(ns);  // no clock is finer, and a record keeps thousands of them
  }
  return timing;
}

}  // namespace swage::measure
