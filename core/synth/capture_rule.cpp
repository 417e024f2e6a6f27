// SPDX-License-Identifier: Apache-2.0
#include "core/synth/capture_rule.h"

#include <set>

namespace swage::synth {
namespace {

// Of fewer, the first launch alone is most of what a call costs the host, and a graph has a first launch as well.
constexpr int kFewestLaunches = 8;
// What the host takes to launch a kernel or to call an operator, at least. Eager takes 2.1 ms for the ninety operators
// of ResNet-18 on an H200 (KernelBench 3/9), whose kernels take 0.6 ms.
constexpr double kHostSeconds = 5e-6;

std::set<domain::ValueId> usedBuffers(const domain::LaunchPlan& plan) {
  const std::vector<domain::ValueId> ofKernels = domain::buffersOfKernels(plan);
  std::set<domain::ValueId> used(ofKernels.begin(), ofKernels.end());
  for (const domain::PlanStep& step : plan.steps) {
    if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
      for (const domain::ValueId id : domain::inputsOf(aten->node)) {
        used.insert(id);
      }
      used.insert(aten->node.outputs.begin(), aten->node.outputs.end());
    }
  }
  used.erase(domain::ValueId());
  return used;
}

// Whether elements share memory, as expand() leaves them: such a tensor cannot be copied to.
bool overlaps(const domain::TensorType& type) {
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.strides[i] == 0 && type.shape[i] > 1) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool isWorthCapturing(const domain::LaunchPlan& plan, const domain::Graph& graph, const DeviceRates& device) {
  const int launches = plan.launchCount();
  if (launches < kFewestLaunches || device.bytesPerSecond <= 0.0) {
    return false;
  }
  const auto bytesOf = [&plan](domain::ValueId id) {
    return static_cast<double>(plan.buffers[static_cast<std::size_t>(id.value())].byteCount());
  };
  double bytes = 0.0;
  for (const domain::ValueId id : usedBuffers(plan)) {
    bytes += bytesOf(id);
  }
  for (const domain::GraphInput& input : graph.inputs) {
    if (input.kind == domain::InputKind::User && overlaps(graph.type(input.value))) {
      return false;
    }
    bytes += input.kind == domain::InputKind::User ? 2.0 * bytesOf(input.value) : 0.0;
  }
  for (const domain::ValueId id : plan.outputs) {
    bytes += 2.0 * bytesOf(id);
  }
  return bytes / device.bytesPerSecond < launches * kHostSeconds;
}

}  // namespace swage::synth
