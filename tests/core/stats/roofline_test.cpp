// SPDX-License-Identifier: Apache-2.0
#include "core/stats/roofline.h"

#include <gtest/gtest.h>

namespace swage::stats {
namespace {

using domain::Argument;
using domain::Graph;
using domain::ScalarType;
using domain::ValueId;

constexpr double kCopy = 4.0e12;

domain::DeviceInfo gpu() {
  domain::DeviceInfo info;
  info.kind = domain::DeviceKind::Cuda;
  info.computeCapability = 90;
  info.multiprocessors = 132;
  info.cacheBytes = 50'000'000;
  info.copyBytesPerSecond = kCopy;
  return info;
}

// Inputs first, then one node after the other, each with one result.
class Builder {
 public:
  ValueId input(domain::Shape shape, ScalarType type = ScalarType::Float32) {
    const ValueId id = value(std::move(shape), type);
    m_graph.inputs.push_back({id, domain::InputKind::User, "x"});
    return id;
  }
  ValueId node(const std::string& op, const std::vector<Argument>& args, domain::Shape shape,
               ScalarType type = ScalarType::Float32) {
    domain::Node node;
    node.op = op;
    node.args = args;
    node.outputs = {value(std::move(shape), type)};
    m_graph.nodes.push_back(node);
    return node.outputs[0];
  }
  Graph returning(ValueId id) {
    m_graph.outputs = {{id, domain::OutputKind::User, ""}};
    return m_graph;
  }

 private:
  ValueId value(domain::Shape shape, ScalarType type) {
    m_graph.values.push_back(domain::contiguousTensor(type, std::move(shape)));
    return ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
  }
  Graph m_graph;
};

Argument numbers(std::vector<std::int64_t> values) {
  domain::ArgumentList list;
  for (const std::int64_t number : values) {
    list.push_back(Argument{number});
  }
  return Argument{list};
}

TEST(Roofline, OfAPointwiseTaskIsItsTraffic) {
  Builder b;
  const ValueId x = b.input({25'000'000});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{x}}, {25'000'000}));
  const Roofline roof = roofline(graph, gpu());
  EXPECT_DOUBLE_EQ(roof.bytes, 200e6);
  EXPECT_DOUBLE_EQ(roof.operations, 0.0);
  EXPECT_DOUBLE_EQ(roof.roofNs, 200e6 / kCopy * 1e9);
  // What may stay in the L2 cache need not be written.
  EXPECT_DOUBLE_EQ(roof.floorNs, 150e6 / (1.2 * kCopy) * 1e9);
}

TEST(Roofline, OutputsThatFitIntoTheCacheCostNothingAtLeast) {
  Builder b;
  const ValueId x = b.input({1'000'000});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{x}}, {1'000'000}));
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).floorNs, 4e6 / (1.2 * kCopy) * 1e9);
}

TEST(Roofline, AnOperandOfWhichOnlyAPartIsReadDoesNotCount) {
  Builder b;
  const ValueId table = b.input({25'000'000});
  const ValueId part = b.node("aten.slice.Tensor", {Argument{table}}, {1'000'000});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{part}}, {1'000'000}));
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).floorNs, 0.0);
  EXPECT_GT(roofline(graph, gpu()).roofNs, 0.0);
}

TEST(Roofline, InputsBehindASumCount) {
  Builder b;
  const ValueId x = b.input({25'000'000});
  const ValueId twice = b.node("aten.mul.Tensor", {Argument{x}, Argument{2.0}}, {25'000'000});
  const Graph graph = b.returning(b.node("aten.sum.default", {Argument{twice}}, {}));
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).floorNs, 100e6 / (1.2 * kCopy) * 1e9);
}

TEST(Roofline, OfAProductIsItsOperations) {
  Builder b;
  const ValueId left = b.input({4096, 4096});
  const ValueId right = b.input({4096, 4096});
  const ValueId sum = b.node("aten.mm.default", {Argument{left}, Argument{right}}, {4096, 4096});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{sum}}, {4096, 4096}));
  const Roofline roof = roofline(graph, gpu());
  EXPECT_DOUBLE_EQ(roof.operations, 2.0 * 4096 * 4096 * 4096);
  const double peak = peakOperations(gpu(), ScalarType::Float32);
  EXPECT_NEAR(peak, 541e12, 1e12);  // the data sheet says 495, at the clock of the board that was measured
  EXPECT_DOUBLE_EQ(roof.roofNs, roof.operations / peak * 1e9);
  EXPECT_DOUBLE_EQ(roof.floorNs, roof.roofNs);
}

TEST(Roofline, AProductThatIsSummedUpCanBeRewritten) {
  Builder b;
  const ValueId left = b.input({4096, 4096});
  const ValueId right = b.input({4096, 4096});
  const ValueId all = b.node("aten.mm.default", {Argument{left}, Argument{right}}, {4096, 4096});
  const Graph graph = b.returning(b.node("aten.sum.dim_IntList", {Argument{all}, numbers({1})}, {4096}));
  const double traffic = 2 * 4096.0 * 4096.0 * 4.0 / (1.2 * kCopy) * 1e9;
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).floorNs, traffic);
}

TEST(Roofline, AProductWithADiagonalIsNoProduct) {
  Builder b;
  const ValueId diagonal = b.input({4096});
  const ValueId right = b.input({4096, 4096});
  const ValueId left = b.node("aten.diag_embed.default", {Argument{diagonal}}, {4096, 4096});
  const Graph graph = b.returning(b.node("aten.mm.default", {Argument{left}, Argument{right}}, {4096, 4096}));
  EXPECT_LT(roofline(graph, gpu()).floorNs, roofline(graph, gpu()).roofNs / 2);
}

TEST(Roofline, TheAddendOfAProductIsNotItsDepth) {
  Builder b;
  const ValueId bias = b.input({512});
  const ValueId left = b.input({64, 4096});
  const ValueId right = b.input({4096, 512});
  const Graph graph =
      b.returning(b.node("aten.addmm.default", {Argument{bias}, Argument{left}, Argument{right}}, {64, 512}));
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).operations, 2.0 * 64 * 512 * 4096);
}

TEST(Roofline, AConvolutionMayUseATransform) {
  Builder b;
  const ValueId x = b.input({64, 1024, 8, 8});
  const ValueId weight = b.input({1024, 1024, 3, 3});
  const Graph graph = b.returning(b.node("aten.conv2d.default",
                                         {Argument{x}, Argument{weight}, Argument{}, numbers({1, 1}), numbers({1, 1})},
                                         {64, 1024, 8, 8}));
  const Roofline roof = roofline(graph, gpu());
  EXPECT_DOUBLE_EQ(roof.operations, 2.0 * 64 * 1024 * 8 * 8 * 1024 * 9);
  EXPECT_NEAR(roof.floorNs, roof.roofNs / 9.0, 1.0);
}

TEST(Roofline, AStridedConvolutionMayLeaveInputsUnread) {
  Builder b;
  const ValueId x = b.input({16, 4, 1024, 1024});
  const ValueId weight = b.input({4, 4, 1, 1});
  const Graph graph = b.returning(
      b.node("aten.conv2d.default", {Argument{x}, Argument{weight}, Argument{}, numbers({2, 2})}, {16, 4, 512, 512}));
  const double written = 16.0 * 4 * 512 * 512 * 4 - 50e6;
  EXPECT_NEAR(roofline(graph, gpu()).floorNs, (written + 64) / (1.2 * kCopy) * 1e9, 1.0);
}

TEST(Roofline, OfAnAttentionCountsScoresAndTheirUse) {
  Builder b;
  const ValueId q = b.input({2, 8, 1024, 64}, ScalarType::BFloat16);
  const ValueId k = b.input({2, 8, 1024, 64}, ScalarType::BFloat16);
  const ValueId v = b.input({2, 8, 1024, 64}, ScalarType::BFloat16);
  const Graph graph =
      b.returning(b.node("aten.scaled_dot_product_attention.default", {Argument{q}, Argument{k}, Argument{v}},
                         {2, 8, 1024, 64}, ScalarType::BFloat16));
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).operations, 4.0 * 2 * 8 * 1024 * 1024 * 64);
}

TEST(Roofline, ACpuKeepsFourCachesAndHasNoPeak) {
  domain::DeviceInfo cpu;
  cpu.cacheBytes = 10'000'000;
  cpu.copyBytesPerSecond = 10e9;
  Builder b;
  const ValueId x = b.input({25'000'000});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{x}}, {25'000'000}));
  EXPECT_DOUBLE_EQ(roofline(graph, cpu).floorNs, 160e6 / 20e9 * 1e9);
  EXPECT_DOUBLE_EQ(peakOperations(cpu, ScalarType::Float32), 0.0);
}

TEST(Roofline, OfADeviceWithoutABandwidthIsNotKnown) {
  Builder b;
  const ValueId x = b.input({25'000'000});
  const Graph graph = b.returning(b.node("aten.relu.default", {Argument{x}}, {25'000'000}));
  EXPECT_DOUBLE_EQ(roofline(graph, {}).roofNs, 0.0);
  EXPECT_DOUBLE_EQ(roofline(graph, {}).floorNs, 0.0);
}

TEST(Roofline, AnExpandedInputIsStoredOnce) {
  Builder b;
  const ValueId x = b.input({1024, 25'000});
  Graph graph = b.returning(b.node("aten.relu.default", {Argument{x}}, {1024, 25'000}));
  graph.values[0].strides = {0, 1};
  EXPECT_DOUBLE_EQ(roofline(graph, gpu()).bytes, 25'000 * 4.0 + 1024 * 25'000 * 4.0);
}

}  // namespace
}  // namespace swage::stats
