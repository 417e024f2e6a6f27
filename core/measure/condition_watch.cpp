// SPDX-License-Identifier: Apache-2.0
#include "core/measure/condition_watch.h"

#include <algorithm>
#include <cmath>

#include "core/stats/robust.h"

namespace swage::measure {
namespace {

// The management library refreshes its numbers about that often, and an answer takes a fraction of a millisecond.
constexpr double kSecondsBetweenLooks = 0.02;

int medianOf(const std::vector<double>& values) {
  return values.empty() ? 0 : static_cast<int>(std::lround(stats::median(values)));
}

}  // namespace

ConditionWatch::ConditionWatch(const ConditionProbe& probe, const Clock& clock)
    : m_probe(probe), m_clock(clock), m_lastLook(clock()) {}

ConditionWatch::Look ConditionWatch::look() {
  return m_clock() - m_lastLook >= kSecondsBetweenLooks ? lookNow() : Look::NotYet;
}

ConditionWatch::Look ConditionWatch::lookNow() {
  m_lastLook = m_clock();
  const device::ConditionSample sample = m_probe ? m_probe() : device::ConditionSample();
  if (!sample.known) {
    return Look::Fine;
  }
  if (sample.smClockMhz > 0) {
    m_smClocks.push_back(sample.smClockMhz);
  }
  if (sample.memoryClockMhz > 0) {
    m_memoryClocks.push_back(sample.memoryClockMhz);
  }
  m_looks.push_back({sample.smClockMhz, sample.temperatureCelsius, sample.throttled});
  m_temperature = std::max(m_temperature, sample.temperatureCelsius);
  m_power = std::max(m_power, sample.powerWatts);
  m_reasons.insert(sample.reasons.begin(), sample.reasons.end());
  return sample.throttled ? Look::Throttled : Look::Fine;
}

domain::DeviceConditions ConditionWatch::summary() const {
  domain::DeviceConditions conditions;
  conditions.smClockMhz = medianOf(m_smClocks);
  conditions.lowestSmClockMhz =
      m_smClocks.empty() ? 0 : static_cast<int>(*std::min_element(m_smClocks.begin(), m_smClocks.end()));
  conditions.memoryClockMhz = medianOf(m_memoryClocks);
  conditions.temperatureCelsius = m_temperature;
  conditions.powerWatts = m_power;
  conditions.throttleReasons.assign(m_reasons.begin(), m_reasons.end());
  conditions.looks = stats::thinned(m_looks, domain::kKeptSamples);
  return conditions;
}

}  // namespace swage::measure
