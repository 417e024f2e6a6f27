// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/cell.h"
#include "core/domain/launch_plan.h"

namespace swage::trust {

// The plan with `blocks` blocks of each launch, or a few more where a cluster needs them, for a tool that takes too
// long over all of them. Cooperative launches stay whole, because their blocks wait for each other. What the kernels
// leave unwritten in this way is zero, so that a later one finds no wild index there.
[[nodiscard]] domain::LaunchPlan firstBlocks(const domain::LaunchPlan& plan, unsigned blocks);

// Whether that makes sense: not where blocks wait for blocks that would be missing. Those of one cluster stay together.
[[nodiscard]] bool canBeCut(const domain::LaunchPlan& plan, const std::vector<domain::KernelFacts>& kernels);

}  // namespace swage::trust
