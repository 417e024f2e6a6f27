// SPDX-License-Identifier: Apache-2.0
#include "core/store/baseline_choice.h"

#include <algorithm>
#include <cmath>

namespace swage::store {
namespace {

bool hasWorked(const domain::Baseline& baseline) {
  return baseline.failure.empty() && std::isfinite(baseline.timing.medianNs) && baseline.timing.medianNs > 0.0;
}

}  // namespace

const domain::Baseline* fastestComparable(const std::vector<domain::Baseline>& baselines) {
  const auto eager = std::find_if(baselines.begin(), baselines.end(), [](const domain::Baseline& baseline) {
    return baseline.mode == "eager" && hasWorked(baseline);
  });
  const domain::Baseline* best = nullptr;
  for (const domain::Baseline& baseline : baselines) {
    // The classes are declared from the most exact on.
    const bool isComparable = hasWorked(baseline) && (eager == baselines.end() || baseline.accuracy <= eager->accuracy);
    if (isComparable && (best == nullptr || baseline.timing.medianNs < best->timing.medianNs)) {
      best = &baseline;
    }
  }
  return best;
}

}  // namespace swage::store
