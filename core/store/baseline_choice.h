// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/baseline.h"

namespace swage::store {

// The baseline that candidates of a run are compared with: the fastest that worked and computes at least as exactly as
// eager does, whose accuracy is what candidates have to keep to. So a candidate of class fp32 is compared with
// baselines of class fp32; one that is more exact than eager still faces all that are as exact as eager, which only
// makes it harder. Without eager, all that worked. nullptr: none. Points into `baselines`.
[[nodiscard]] const domain::Baseline* fastestComparable(const std::vector<domain::Baseline>& baselines);

}  // namespace swage::store
