// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/domain/graph.h"
#include "core/domain/launch_plan.h"

namespace swage::verify {

// Why the plan does not take and give what the task's graph takes and gives; empty when it does.
[[nodiscard]] std::string findMisfit(const domain::LaunchPlan& plan, const domain::Graph& graph);

}  // namespace swage::verify
