// SPDX-License-Identifier: Apache-2.0
#include "core/domain/speedup.h"

#include <tuple>

namespace swage::domain {
namespace {

constexpr double kWidestHalf = 0.2;

double orMedian(double end, double median) {
  return end > 0.0 ? end : median;
}

}  // namespace

Speedup Speedup::ofTimes(const Times& slow, const Times& fast) {
  if (!(slow.medianNs > 0.0) || !(fast.medianNs > 0.0)) {
    return {};
  }
  return {slow.medianNs / fast.medianNs, orMedian(slow.lowNs, slow.medianNs) / orMedian(fast.highNs, fast.medianNs),
          orMedian(slow.highNs, slow.medianNs) / orMedian(fast.lowNs, fast.medianNs)};
}

bool Speedup::isUncertain() const {
  return isKnown() && (high - low) / 2.0 > kWidestHalf * value;
}

Speedup Speedup::times(const Speedup& other) const {
  if (!isKnown() || !other.isKnown()) {
    return {};
  }
  return {value * other.value, low * other.low, high * other.high};
}

bool ranksBefore(const Speedup& a, const Speedup& b) {
  return std::tuple(a.isKnown(), a.low, a.value) > std::tuple(b.isKnown(), b.low, b.value);
}

}  // namespace swage::domain
