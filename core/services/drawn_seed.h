// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace swage::services {

// As RunSpec::seed: drawn at random when the run starts, and kept in its record. The inputs of all checks follow from a
// run's seed, so one that is the same every time lets a kernel carry a table of the results.
inline constexpr std::uint64_t kDrawnSeed = 0;

}  // namespace swage::services
