// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "core/base/random.h"

namespace swage::search {

// An index drawn with probability proportional to its weight. `weights` is not empty; weights are finite and not
// negative. All zero: uniform.
[[nodiscard]] std::size_t pickWeighted(std::span<const double> weights, Random& random);

}  // namespace swage::search
