// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/synth/region.h"

namespace swage::synth {

// What is worth a variable as soon as the results of stage `ready` are known (-1: before the first stage): loads that a
// group has one of, and values of a group that its elements or later stages use.
[[nodiscard]] std::vector<int> groupValues(const Region& region, int ready);

}  // namespace swage::synth
