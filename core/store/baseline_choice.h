// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/baseline.h"
#include "core/domain/graph.h"

namespace swage::store {

// The baseline that candidates of a run are compared with: the fastest that worked and is as exact as PyTorch's default
// settings ask for on this task (domain::permittedAccuracy). How fast it is, is its ratio to the eager that was
// measured in turns with it. Without eager, all that worked count. nullptr: none. Points into `baselines`.
[[nodiscard]] const domain::Baseline* fastestComparable(const std::vector<domain::Baseline>& baselines,
                                                        const domain::Graph& graph);

}  // namespace swage::store
