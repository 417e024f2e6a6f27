// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/synth/region.h"

// A transposed convolution with stride s as s convolutions along each of its axes, one for each phase of the result's
// positions. With dilation d, where d and s have no common factor, position s * t + d * phase - delta meets only the
// elements s * j + phase of the window, at t - d * j of the input. Where d is a multiple of s, position s * t + phase -
// delta meets all elements of the window in phase 0, and none in the others. Without dilation, phases may be those of
// the results instead: position s * t + phase meets the elements s * j + phase - behind.
namespace swage::synth {

struct DenseRegion {
  Region region;               // no operand that is folded has a divisor; phases are Batch axes, the last ones
  std::vector<Bound> results;  // where positions of a phase are results: `stride` means nothing
};

// The region itself where it has no divisors. No value: it has some that no phases can be made of.
[[nodiscard]] std::optional<DenseRegion> denseRegion(const Region& region);

}  // namespace swage::synth
