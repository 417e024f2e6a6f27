// SPDX-License-Identifier: Apache-2.0
#include "core/trust/first_blocks.h"

#include <algorithm>
#include <set>
#include <variant>

namespace swage::trust {
namespace {

void cut(domain::KernelStep& step, unsigned blocks) {
  if (step.cooperative || step.grid.x * step.grid.y * step.grid.z <= blocks) {
    return;
  }
  step.grid.y = step.cluster.y;
  step.grid.z = step.cluster.z;
  const unsigned across = step.cluster.x * step.cluster.y * step.cluster.z;
  const unsigned clusters = (blocks + across - 1) / across;
  step.grid.x = std::min(step.grid.x, clusters * step.cluster.x);
}

}  // namespace

domain::LaunchPlan firstBlocks(const domain::LaunchPlan& plan, unsigned blocks) {
  domain::LaunchPlan cutPlan = plan;
  cutPlan.steps.clear();
  const std::set<domain::ValueId> inputs(plan.inputs.begin(), plan.inputs.end());
  for (const domain::ValueId buffer : domain::buffersOfKernels(plan)) {
    if (!inputs.contains(buffer)) {
      cutPlan.steps.emplace_back(domain::ZeroStep{buffer});
    }
  }
  for (domain::PlanStep step : plan.steps) {
    if (auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      cut(*kernel, blocks);
    }
    cutPlan.steps.push_back(std::move(step));
  }
  return cutPlan;
}

bool canBeCut(const domain::LaunchPlan& plan, const std::vector<domain::KernelFacts>& kernels) {
  return std::none_of(kernels.begin(), kernels.end(), [&plan](const domain::KernelFacts& kernel) {
    return kernel.interBlock && std::any_of(plan.steps.begin(), plan.steps.end(), [&kernel](const auto& step) {
             const auto* launch = std::get_if<domain::KernelStep>(&step);
             return launch != nullptr && launch->entry == kernel.entry && launch->cluster == domain::Dim3{};
           });
  });
}

}  // namespace swage::trust
