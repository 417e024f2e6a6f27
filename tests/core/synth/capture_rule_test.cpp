// SPDX-License-Identifier: Apache-2.0
// Which plans are launched as one CUDA graph.
#include "core/synth/capture_rule.h"

#include <gtest/gtest.h>

#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/measured_device.h"

namespace swage::synth {
namespace {

// So many operators one after the other, each of a plan's steps.
domain::Graph chainOf(int operators, std::int64_t elements) {
  GraphBuilder graph;
  domain::ValueId value = graph.input({elements});
  for (int i = 0; i < operators; ++i) {
    value = graph.silu(value);
  }
  graph.output(value);
  return graph.graph();
}

domain::LaunchPlan planOf(const domain::Graph& graph) {
  domain::LaunchPlan plan{.buffers = graph.values, .inputs = {}, .outputs = {}, .steps = {}};
  plan.inputs.push_back(graph.inputs.front().value);
  plan.outputs.push_back(graph.outputs.front().value);
  for (const domain::Node& node : graph.nodes) {
    plan.steps.emplace_back(domain::AtenStep{node});
  }
  return plan;
}

bool isCaptured(const domain::Graph& graph) {
  return isWorthCapturing(planOf(graph), graph, DeviceRates::of(measuredDevice()));
}

TEST(CaptureRule, TakesPlansOfManySmallSteps) {
  EXPECT_TRUE(isCaptured(chainOf(20, 4096)));
}

TEST(CaptureRule, LeavesPlansOfAFewSteps) {
  EXPECT_FALSE(isCaptured(chainOf(7, 4096)));
  EXPECT_TRUE(isCaptured(chainOf(8, 4096)));
}

TEST(CaptureRule, LeavesPlansThatTakeLongerThanTheirLaunches) {
  EXPECT_TRUE(isCaptured(chainOf(20, std::int64_t{1} << 20)));
  EXPECT_FALSE(isCaptured(chainOf(20, std::int64_t{1} << 24)));
}

TEST(CaptureRule, LeavesArgumentsWhoseElementsShareMemory) {
  domain::Graph graph = chainOf(20, 4096);
  graph.values[0].shape = {64, 64};
  graph.values[0].strides = {0, 1};
  EXPECT_FALSE(isCaptured(graph));
}

TEST(CaptureRule, IsForCudaAlone) {
  const auto catalogue = patterns::Catalogue::load(SWAGE_TEST_PATTERNS);
  ASSERT_TRUE(catalogue);
  domain::DeviceInfo device = measuredDevice();
  for (const domain::DeviceKind kind : {domain::DeviceKind::Cuda, domain::DeviceKind::Cpu}) {
    device.kind = kind;
    const auto synthesizer = Synthesizer::create(chainOf(20, 4096), device, *catalogue);
    ASSERT_TRUE(synthesizer);
    const bool isCuda = kind == domain::DeviceKind::Cuda;
    const auto program = (*synthesizer)->realise({});
    ASSERT_TRUE(program);
    EXPECT_EQ(program->plan.isCaptured, isCuda);
    const std::vector<domain::Genome> seeds = (*synthesizer)->seeds();
    ASSERT_FALSE(seeds.empty());
    EXPECT_EQ(seeds.front().regions.empty(), isCuda) << "PyTorch's own operators are a candidate as a CUDA graph";
    const domain::Cell operators{domain::DataMovement::Direct, domain::Arithmetic::Scalar,
                                 domain::Decomposition::SeveralLaunches};
    if (isCuda) {
      EXPECT_TRUE((*synthesizer)->reachableCells()[static_cast<std::size_t>(operators.index())]);
    }
  }
}

}  // namespace
}  // namespace swage::synth
