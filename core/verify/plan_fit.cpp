// SPDX-License-Identifier: Apache-2.0
#include "core/verify/plan_fit.h"

#include <fmt/format.h>

namespace swage::verify {

std::string findMisfit(const domain::LaunchPlan& plan, const domain::Graph& graph) {
  if (plan.inputs.size() != graph.inputs.size() || plan.outputs.size() != graph.outputs.size()) {
    return fmt::format("the plan has {} inputs and {} outputs, the task {} and {}", plan.inputs.size(),
                       plan.outputs.size(), graph.inputs.size(), graph.outputs.size());
  }
  const auto bufferType = [&](domain::ValueId id) { return plan.buffers[static_cast<std::size_t>(id.value())]; };
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (bufferType(plan.inputs[i]) != graph.type(graph.inputs[i].value)) {
      return fmt::format("input {} of the plan has another type than that of the task", i);
    }
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const domain::TensorType planned = bufferType(plan.outputs[i]);
    const domain::TensorType& wanted = graph.type(graph.outputs[i].value);
    if (planned.dtype != wanted.dtype || planned.shape != wanted.shape) {
      return fmt::format("output {} of the plan has another type than that of the task", i);
    }
  }
  return {};
}

}  // namespace swage::verify
