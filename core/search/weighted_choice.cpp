// SPDX-License-Identifier: Apache-2.0
#include "core/search/weighted_choice.h"

#include <numeric>

namespace swage::search {

std::size_t pickWeighted(std::span<const double> weights, Random& random) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0.0)) {
    return random.below(weights.size());
  }
  double left = random.unit() * sum;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) {
      continue;
    }
    last = i;
    left -= weights[i];
    if (left < 0.0) {
      return i;
    }
  }
  return last;  // rounding left a little over
}

}  // namespace swage::search
