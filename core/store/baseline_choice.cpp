// SPDX-License-Identifier: Apache-2.0
#include "core/store/baseline_choice.h"

#include <algorithm>

namespace swage::store {
namespace {

// Against eager, or by its own clock where there is no eager to compare with.
double slowness(const domain::Baseline& baseline, const std::vector<domain::Baseline>& all, bool hasEager) {
  return hasEager ? domain::eagerAgainst(baseline, all).value : baseline.timing.medianNs;
}

}  // namespace

const domain::Baseline* fastestComparable(const std::vector<domain::Baseline>& baselines, const domain::Graph& graph) {
  const auto eager = std::find_if(baselines.begin(), baselines.end(), [](const domain::Baseline& baseline) {
    return baseline.mode == "eager" && domain::hasWorked(baseline);
  });
  const bool hasEager = eager != baselines.end();
  const domain::Baseline* best = nullptr;
  for (const domain::Baseline& baseline : baselines) {
    const bool isComparable = domain::hasWorked(baseline) &&
                              (!hasEager || baseline.accuracy <= domain::permittedAccuracy(graph, eager->accuracy));
    if (isComparable &&
        (best == nullptr || slowness(baseline, baselines, hasEager) < slowness(*best, baselines, hasEager))) {
      best = &baseline;
    }
  }
  return best;
}

}  // namespace swage::store
