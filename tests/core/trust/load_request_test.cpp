// SPDX-License-Identifier: Apache-2.0
#include "core/trust/load_request.h"

#include <gtest/gtest.h>

#include "core/domain/graph.h"

namespace swage::trust {
namespace {

// One input and one output of `rows` times a megabyte.
domain::Graph graphOf(std::int64_t rows) {
  domain::Graph graph;
  graph.values.push_back(domain::contiguousTensor(domain::ScalarType::Float32, {rows, std::int64_t{1} << 18U}));
  graph.inputs.push_back({.value = domain::ValueId(0), .name = "x"});
  graph.outputs.push_back({.value = domain::ValueId(0), .name = ""});
  return graph;
}

TEST(CheckSeeds, AreMoreForASmallTaskOnAGpuAndNeverBelowFive) {
  EXPECT_EQ(checkSeedsFor(graphOf(100), domain::DeviceKind::Cuda), 16);
  EXPECT_EQ(checkSeedsFor(graphOf(129), domain::DeviceKind::Cuda), 5) << "258 MB";
  EXPECT_EQ(checkSeedsFor(graphOf(100), domain::DeviceKind::Cpu), 5);
}

TEST(LoadRequest, IsOfTheBundleWithTheSeedOfTheRun) {
  store::TaskBundle bundle;
  bundle.task.graph = graphOf(1);
  bundle.weights = "/bundle/weights.safetensors";
  const wire::LoadTask load = loadRequest(bundle, 7, domain::DeviceKind::Cuda);
  EXPECT_EQ(load.baseSeed, 7U);
  EXPECT_EQ(load.weightsPath, "/bundle/weights.safetensors");
  EXPECT_EQ(load.checkSeeds, 16);
  EXPECT_TRUE(load.adversarial);
  EXPECT_EQ(load.heldBackSeeds, 3);
}

}  // namespace
}  // namespace swage::trust
