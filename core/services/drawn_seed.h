// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/services/types.h"

namespace swage::services {

// As RunSpec::seed: drawn at random when the run starts, and kept in its record. The inputs of all checks follow from a
// run's seed, so one that is the same every time lets a kernel carry a table of the results.
inline constexpr std::uint64_t kDrawnSeed = 0;

// What a search starts with that nobody has given a seed.
[[nodiscard]] inline RunSpec withDrawnSeed() {
  RunSpec spec;
  spec.seed = kDrawnSeed;
  return spec;
}

}  // namespace swage::services
