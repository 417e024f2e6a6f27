// SPDX-License-Identifier: Apache-2.0
#include "core/stats/agreement.h"

#include <fmt/format.h>

namespace swage::stats {
namespace {

constexpr double kShare = 0.15;
constexpr double kHostSlackNs = 100e3;
constexpr double kActivitySlackNs = 10e3;

bool isLonger(double otherNs, double eventsNs, double slackNs) {
  return otherNs > (1.0 + kShare) * eventsNs + slackNs;
}

std::string microseconds(double ns) {
  return ns > 0.0 ? fmt::format("{:.1f} us", ns * 1e-3) : "not compared";
}

}  // namespace

bool isDoubtful(const domain::Timing& timing) {
  return timing.stopReason == kThrottled || timing.stopReason == kNoisy;
}

double relativeWidth(const domain::Timing& timing) {
  return timing.medianNs > 0.0 ? (timing.highNs - timing.lowNs) / timing.medianNs : 0.0;
}

std::optional<std::string> findDisagreement(const domain::Timing& timing) {
  const double events = timing.medianNs;
  if (!isLonger(timing.hostMedianNs, events, kHostSlackNs) &&
      !isLonger(timing.activityMedianNs, events, kActivitySlackNs)) {
    return std::nullopt;
  }
  return fmt::format("{}: {}, host clock: {}, activity of all streams: {}",
                     timing.clock.empty() ? "timed" : timing.clock, microseconds(events),
                     microseconds(timing.hostMedianNs), microseconds(timing.activityMedianNs));
}

}  // namespace swage::stats
