// SPDX-License-Identifier: Apache-2.0
#include "core/stats/stopping.h"

#include <algorithm>

#include "core/stats/robust.h"

namespace swage::stats {
namespace {

// A median needs this many even when one sample takes longer than the whole budget.
constexpr int kFewestSamples = 3;

}  // namespace

StoppingRule::Decision StoppingRule::decide(std::span<const double> samplesNs, double elapsedSeconds) const {
  const int count = static_cast<int>(samplesNs.size());
  if (count > 0 && count >= minSamples) {
    const Interval interval = medianInterval(samplesNs);
    if (interval.high - interval.low <= relativeWidth * median(samplesNs)) {
      return Decision::Precise;
    }
  }
  if (count >= maxSamples) {
    return Decision::SampleLimit;
  }
  if (elapsedSeconds >= budgetSeconds && count >= std::min(minSamples, kFewestSamples)) {
    return Decision::Budget;
  }
  return Decision::Continue;
}

std::string_view name(StoppingRule::Decision decision) {
  switch (decision) {
    case StoppingRule::Decision::Continue: return "continue";
    case StoppingRule::Decision::Precise: return "precise";
    case StoppingRule::Decision::SampleLimit: return "sample limit";
    case StoppingRule::Decision::Budget: return "time budget";
  }
  return "unknown";
}

}  // namespace swage::stats
