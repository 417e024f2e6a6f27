// SPDX-License-Identifier: Apache-2.0
#include "core/trust/load_request.h"

#include "core/trust/trust.h"

namespace swage::trust {
namespace {

constexpr int kFewestSeeds = 5;
constexpr int kSeedsOfASmallTask = 16;
constexpr std::int64_t kSmallTaskBytes = std::int64_t{256} << 20U;

std::int64_t bytesInAndOut(const domain::Graph& graph) {
  std::int64_t bytes = 0;
  for (const domain::GraphInput& input : graph.inputs) {
    bytes += graph.type(input.value).byteCount();
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    bytes += graph.type(output.value).byteCount();
  }
  return bytes;
}

}  // namespace

int checkSeedsFor(const domain::Graph& graph, domain::DeviceKind target) {
  const bool isSmall = target == domain::DeviceKind::Cuda && bytesInAndOut(graph) <= kSmallTaskBytes;
  return isSmall ? kSeedsOfASmallTask : kFewestSeeds;
}

wire::LoadTask loadRequest(const store::TaskBundle& bundle, std::uint64_t seed, domain::DeviceKind target) {
  wire::LoadTask load;
  load.task = bundle.task;
  load.weightsPath = bundle.weights.string();
  load.baseSeed = seed;
  load.checkSeeds = checkSeedsFor(load.task.graph, target);
  load.adversarial = true;
  load.heldBackSeeds = kHeldBackSeeds;
  return load;
}

}  // namespace swage::trust
