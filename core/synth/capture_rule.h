// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/graph.h"
#include "core/domain/launch_plan.h"
#include "core/synth/cost_model.h"

namespace swage::synth {

// Whether a plan is faster as one CUDA graph (LaunchPlan::isCaptured): it has many steps, and to launch them one by one
// takes the host longer than the device needs to move the plan's tensors once and to copy what goes in and out. A graph
// keeps the memory of its steps, so that large plans, which gain nothing, do without.
[[nodiscard]] bool isWorthCapturing(const domain::LaunchPlan& plan, const domain::Graph& graph,
                                    const DeviceRates& device);

}  // namespace swage::synth
