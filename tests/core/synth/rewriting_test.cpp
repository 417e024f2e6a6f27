// SPDX-License-Identifier: Apache-2.0
#include "core/synth/rewriting/rewriting.h"

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/domain/aten.h"
#include "core/domain/checks.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/mean_of_linear.h"

// What each rule makes of a graph, as text. That both compute the same is asked by the fuzzer, which runs them.
namespace swage::synth {
namespace {

using domain::Rewrite;
using domain::ValueId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text(const domain::Argument& argument) {
  struct Writer {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(ValueId value) const { return fmt::format("v{}", value.value()); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return fmt::format("{:.3}", value); }
    std::string operator()(const domain::ArgumentList& list) const {
      std::vector<std::string> items;
      for (const domain::Argument& item : list) {
        items.push_back(text(item));
      }
      return fmt::format("[{}]", fmt::join(items, " "));
    }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(domain::ScalarType) const { return "type"; }
    std::string operator()(domain::DeviceArgument) const { return "device"; }
    std::string operator()(const domain::LayoutArgument&) const { return "layout"; }
    std::string operator()(const domain::MemoryFormatArgument&) const { return "format"; }
  };
  return std::visit(Writer{}, argument.value);
}

// "v3 [4, 1] = linear(v0, v5, v6)" for each node.
std::vector<std::string> lines(const domain::Graph& graph) {
  std::vector<std::string> found;
  for (const domain::Node& node : graph.nodes) {
    std::vector<std::string> arguments;
    for (const domain::Argument& argument : node.args) {
      arguments.push_back(text(argument));
    }
    for (const auto& [key, argument] : node.kwargs) {
      arguments.push_back(key + '=' + text(argument));
    }
    found.push_back(fmt::format("v{} {} = {}({})", node.outputs.front().value(), graph.type(node.outputs.front()).shape,
                                domain::atenName(node.op), fmt::join(arguments, ", ")));
  }
  return found;
}

// Those of rules that only choose who computes a convolution.
bool isChoice(const Rewrite& rewrite) {
  return rewrite.rule == "library convolution" || rewrite.rule.starts_with("channels last");
}

std::vector<std::string> rules(const domain::Graph& graph) {
  std::vector<std::string> names;
  for (const Rewrite& rewrite : findRewrites(graph)) {
    if (!isChoice(rewrite)) {
      names.push_back(fmt::format("{} v{}", rewrite.rule, rewrite.value.value()));
    }
  }
  return names;
}

// The graph after everything that can be rewritten was.
std::vector<std::string> rewrittenLines(const GraphBuilder& b) {
  const auto graph = rewritten(b.graph(), allRewrites(b.graph()));
  EXPECT_TRUE(graph.has_value());
  EXPECT_EQ(graph ? domain::findDefect(*graph) : "", "");
  return graph ? lines(*graph) : std::vector<std::string>();
}

TEST(ReduceBeforeProduct, TakesTheMeanOfWeightsBiasAndWhatIsAddedBetween) {
  EXPECT_THAT(
      rewrittenLines(meanOfLinear(true)),
      ElementsAre("v7 [1, 64] = mean(v1, [0], true)", "v8 [1] = mean(v2, [0], true)", "v9 [16, 1] = linear(v0, v7, v8)",
                  "v10 [1] = mean(v3, [0], true)", "v6 [16, 1] = sub(v9, v10)"));
  EXPECT_EQ(rewrittenLines(meanOfLinear(false)).back(), "v6 [16] = view(v11, [16])");
}

TEST(ReduceBeforeProduct, AddsWhatHasNoAxisOfItsOwnAsOftenAsItWasAdded) {
  GraphBuilder b;
  const auto x = b.input({16, 64});
  const auto weight = b.input({64, 32});
  const auto row = b.input({16, 1});
  const auto y = b.call("aten.mm.default", {arg(x), arg(weight)}, {16, 32});
  const auto moved = b.like("aten.add.Tensor", b.like("aten.add.Tensor", b.mul(y, 2.0), {arg(row)}), {arg(0.5)});
  b.output(b.call("aten.sum.dim_IntList", {arg(moved), listArg({-1}), arg(true)}, {16, 1}));
  EXPECT_THAT(rewrittenLines(b),
              ElementsAre("v8 [64, 1] = sum(v1, [1], true)", "v9 [16, 1] = mm(v0, v8)", "v10 [16, 1] = mul(v9, 2)",
                          "v11 [16, 1] = mul(v2, 32)", "v12 [16, 1] = add(v10, v11)", "v7 [16, 1] = add(v12, 16)"));
}

TEST(ReduceBeforeProduct, SumsRowsOfTheLeftOperand) {
  GraphBuilder b;
  const auto y = b.call("aten.bmm.default", {arg(b.input({4, 16, 64})), arg(b.input({4, 64, 32}))}, {4, 16, 32});
  b.output(b.call("aten.sum.dim_IntList", {arg(y), listArg({1}), arg(true)}, {4, 1, 32}));
  EXPECT_THAT(rewrittenLines(b), ElementsAre("v4 [4, 1, 64] = sum(v0, [1], true)", "v3 [4, 1, 32] = bmm(v4, v1)"));
}

TEST(ReduceBeforeProduct, LeavesAloneWhatIsNotLinearOrNeededElsewhere) {
  GraphBuilder active;
  const auto y = active.call("aten.mm.default", {arg(active.input({16, 64})), arg(active.input({64, 32}))}, {16, 32});
  active.output(active.call("aten.sum.dim_IntList", {arg(active.relu(y)), listArg({1}), arg(true)}, {16, 1}));
  EXPECT_THAT(rules(active.graph()), IsEmpty());

  GraphBuilder shared;
  const auto z = shared.call("aten.mm.default", {arg(shared.input({16, 64})), arg(shared.input({64, 32}))}, {16, 32});
  shared.output(z);
  shared.output(shared.call("aten.sum.dim_IntList", {arg(z), listArg({1}), arg(true)}, {16, 1}));
  EXPECT_THAT(rules(shared.graph()), IsEmpty());

  GraphBuilder batches;  // numbers independent products
  const auto w =
      batches.call("aten.bmm.default", {arg(batches.input({4, 16, 64})), arg(batches.input({4, 64, 32}))}, {4, 16, 32});
  batches.output(batches.call("aten.sum.dim_IntList", {arg(w), listArg({0}), arg(true)}, {1, 16, 32}));
  EXPECT_THAT(rules(batches.graph()), IsEmpty());
}

// avg_pool2d(conv2d(x)) with a square kernel.
GraphBuilder pooledConvolution(std::int64_t kernel, std::int64_t stride = 1) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 20, 20});
  const auto weight = b.input({16, 8, kernel, kernel});
  const auto bias = b.input({16});
  const std::int64_t size = (20 - kernel) / stride + 1;
  const auto y =
      b.call("aten.conv2d.default", {arg(x), arg(weight), arg(bias), listArg({stride, stride})}, {2, 16, size, size});
  b.output(b.call("aten.avg_pool2d.default", {arg(y), listArg({2, 2})}, {2, 16, size / 2, size / 2}));
  return b;
}

TEST(PoolBeforeConvolution, AveragesTheInputOfSinglePixels) {
  EXPECT_THAT(rules(pooledConvolution(1).graph()), ElementsAre("pool before convolution v4"));
  EXPECT_THAT(rewrittenLines(pooledConvolution(1)),
              ElementsAre("v5 [2, 8, 10, 10] = avg_pool2d(v0, [2 2])",
                          "v4 [2, 16, 10, 10] = conv2d(v5, v1, v2, [1 1], [0 0], [1 1], 1)"));
  EXPECT_THAT(rules(pooledConvolution(1, 2).graph()), IsEmpty());
}

TEST(PoolInConvolution, AveragesTheShiftedKernels) {
  EXPECT_THAT(rewrittenLines(pooledConvolution(3)),
              ElementsAre("v5 [16, 8, 5, 5] = constant_pad_nd(v1, [1 1 1 1], 0)",
                          "v6 [16, 8, 4, 4] = avg_pool2d(v5, [2 2], [1 1])",
                          "v4 [2, 16, 9, 9] = conv2d(v0, v6, v2, [2 2], [0 0], [1 1], 1)"));
}

TEST(MeanBeforeConvolution, SumsWhatEachElementOfTheKernelMeets) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 32, 20});
  const auto y =
      b.call("aten.conv2d.default", {arg(x), arg(b.input({16, 8, 3, 3})), noArg(), listArg({1, 1}), listArg({1, 1})},
             {2, 16, 32, 20});
  b.output(b.call("aten.mean.dim", {arg(y), listArg({2}), arg(true)}, {2, 16, 1, 20}));
  // The rows of the padded image that the first and the last row of the kernel meet lack one at an end.
  EXPECT_THAT(rewrittenLines(b),
              ElementsAre("v4 [2, 8, 1, 20] = sum(v0, [2], true)", "v5 [2, 8, 1, 20] = slice(v0, 2, 31, 32, 1)",
                          "v6 [2, 8, 1, 20] = sub(v4, v5)", "v7 [2, 8, 1, 20] = slice(v0, 2, 0, 1, 1)",
                          "v8 [2, 8, 1, 20] = sub(v4, v7)", "v9 [2, 8, 3, 20] = cat([v6 v4 v8], 2)",
                          "v10 [2, 8, 3, 20] = div(v9, 32)",
                          "v3 [2, 16, 1, 20] = conv2d(v10, v1, none, [1 1], [0 1], [1 1], 1)"));
}

TEST(MeanBeforeConvolution, TurnsTheSumsRoundForATransposedOne) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 32, 20});
  const auto y =
      b.call("aten.conv_transpose2d.input",
             {arg(x), arg(b.input({8, 16, 3, 3})), noArg(), listArg({2, 1}), listArg({1, 1})}, {2, 16, 63, 20});
  b.output(b.call("aten.mean.dim", {arg(y), listArg({2}), arg(true)}, {2, 16, 1, 20}));
  const std::vector<std::string> made = rewrittenLines(b);
  // Input 0 meets the first element of the kernel outside of the result, the last input the last element.
  EXPECT_THAT(made, ::testing::Contains("v5 [2, 8, 1, 20] = slice(v0, 2, 0, 1, 1)"));
  EXPECT_EQ(made.back(), "v3 [2, 16, 1, 20] = conv_transpose2d(v10, v1, none, [1 1], [2 1], [0 0], 1, [1 1])");
}

// relu(conv2d(x)) after each of the rules that leave convolutions to PyTorch.
std::vector<std::string> leftToPyTorch(const std::string& rule, domain::Graph* made = nullptr) {
  GraphBuilder b;
  const auto y = b.call(
      "aten.conv2d.default",
      {arg(b.input({2, 8, 20, 20})), arg(b.input({16, 8, 3, 3})), arg(b.input({16})), listArg({2, 2}), listArg({1, 1})},
      {2, 16, 10, 10});
  b.output(b.relu(y));
  const auto graph = rewritten(b.graph(), allRewrites(b.graph(), rule));
  EXPECT_TRUE(graph.has_value());
  EXPECT_EQ(graph ? domain::findDefect(*graph) : "", "");
  if (made != nullptr && graph) {
    *made = *graph;
  }
  return graph ? lines(*graph) : std::vector<std::string>();
}

TEST(LibraryConvolution, AddsTheBiasAfterwards) {
  EXPECT_THAT(leftToPyTorch("library convolution"),
              ElementsAre("v5 [2, 16, 10, 10] = convolution(v0, v1, none, [2 2], [1 1], [1 1], false, [0 0], 1)",
                          "v6 [16, 1, 1] = view(v2, [16 1 1])", "v3 [2, 16, 10, 10] = add(v5, v6)",
                          "v4 [2, 16, 10, 10] = relu(v3)"));
}

TEST(LibraryConvolution, HasItsChannelsLastBetweenTwoCopies) {
  domain::Graph graph;
  EXPECT_THAT(leftToPyTorch("channels last", &graph),
              ElementsAre("v5 [2, 8, 20, 20] = clone(v0, memory_format=format)",
                          "v6 [16, 8, 3, 3] = clone(v1, memory_format=format)",
                          "v7 [2, 16, 10, 10] = convolution(v5, v6, none, [2 2], [1 1], [1 1], false, [0 0], 1)",
                          "v8 [16, 1, 1] = view(v2, [16 1 1])", "v9 [2, 16, 10, 10] = add(v7, v8)",
                          "v3 [2, 16, 10, 10] = clone(v9, memory_format=format)", "v4 [2, 16, 10, 10] = relu(v3)"));
  EXPECT_THAT(graph.type(ValueId(5)).strides, ElementsAre(3200, 1, 160, 8));
  EXPECT_THAT(graph.type(ValueId(7)).strides, ElementsAre(1600, 1, 160, 16));
  EXPECT_TRUE(graph.type(ValueId(3)).isContiguous());
}

TEST(LibraryConvolution, IsSearchedByCudnnOnItsDevicesOnly) {
  EXPECT_THAT(leftToPyTorch("channels last, searched"),
              ::testing::Contains("v7 [2, 16, 10, 10] = cudnn_convolution(v5, v6, [1 1], [2 2], [1 1], 1, true, false, "
                                  "true)"));
  EXPECT_TRUE(isForDevice("channels last, searched", domain::DeviceKind::Cuda));
  EXPECT_FALSE(isForDevice("channels last, searched", domain::DeviceKind::Cpu));
  EXPECT_TRUE(isForDevice("channels last", domain::DeviceKind::Cpu));
  EXPECT_FALSE(isForDevice("channels last", domain::DeviceKind::Cuda));
  EXPECT_TRUE(isForDevice("library convolution", domain::DeviceKind::Cuda));
}

TEST(LibraryConvolution, IsNoneOfTheRulesThatSaveWork) {
  GraphBuilder b;
  b.output(b.call("aten.conv1d.default", {arg(b.input({2, 8, 20})), arg(b.input({16, 8, 3}))}, {2, 16, 18}));
  EXPECT_THAT(allRewrites(b.graph()), IsEmpty());
  EXPECT_EQ(findRewrites(b.graph()).size(), 1U);  // there is no other order of one dimension
}

TEST(MeanOfNormalised, ComputesAGroupNormFromTheMomentsOfChannels) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 20, 20});
  const auto y = b.like("aten.group_norm.default", x, {arg(4), arg(b.input({8})), arg(b.input({8})), arg(1e-5)});
  b.output(b.call("aten.mean.dim", {arg(y), listArg({2, 3}), arg(false)}, {2, 8}));
  EXPECT_THAT(
      rewrittenLines(b),
      ElementsAre("v5 [2, 8] = mean(v0, [2 3], false)", "v6 [2, 8] = var(v0, [2 3], correction=0)",
                  "v7 [2, 4, 2] = view(v5, [2 4 2])", "v8 [2, 4, 1] = mean(v7, [2], true)",
                  "v9 [2, 4, 2] = sub(v7, v8)", "v10 [2, 4, 2] = view(v6, [2 4 2])", "v11 [2, 4, 2] = mul(v9, v9)",
                  "v12 [2, 4, 2] = add(v10, v11)", "v13 [2, 4, 1] = mean(v12, [2], true)",
                  "v14 [2, 4, 1] = add(v13, 1e-05)", "v15 [2, 4, 1] = rsqrt(v14)", "v16 [2, 4, 2] = mul(v9, v15)",
                  "v17 [2, 8] = view(v16, [2 8])", "v18 [2, 8] = mul(v17, v1)", "v4 [2, 8] = add(v18, v2)"));
}

GraphBuilder meanOfBatchNorm(bool statisticsAreRead) {
  GraphBuilder b;
  const auto x = b.input({2, 8, 20, 20});
  const auto results = b.node("aten._native_batch_norm_legit_functional.default",
                              {arg(x), arg(b.input({8})), arg(b.input({8})), arg(b.input({8})), arg(b.input({8})),
                               arg(true), arg(0.1), arg(1e-5)},
                              {{{2, 8, 20, 20}, domain::ScalarType::Float32},
                               {{8}, domain::ScalarType::Float32},
                               {{8}, domain::ScalarType::Float32},
                               {{8}, domain::ScalarType::Float32},
                               {{8}, domain::ScalarType::Float32}});
  b.dropResult(1);
  b.dropResult(2);
  b.output(b.call("aten.adaptive_avg_pool2d.default", {arg(results[0]), listArg({1, 1})}, {2, 8, 1, 1}));
  b.output(results[3]);
  b.output(statisticsAreRead ? b.relu(results[4]) : results[4]);
  return b;
}

TEST(MeanOfNormalised, KeepsTheStatisticsOfABatch) {
  const auto graph = rewritten(meanOfBatchNorm(false).graph(), allRewrites(meanOfBatchNorm(false).graph()));
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(domain::findDefect(*graph), "");
  EXPECT_EQ(graph->outputs, meanOfBatchNorm(false).graph().outputs);
  for (const std::string& line : lines(*graph)) {
    EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("batch_norm")));
  }
  EXPECT_THAT(rules(meanOfBatchNorm(true).graph()), IsEmpty());
}

TEST(FoldBatchNorm, ScalesWeightsAndBias) {
  GraphBuilder b;
  const auto y =
      b.call("aten.linear.default", {arg(b.input({16, 64})), arg(b.input({32, 64})), arg(b.input({32}))}, {16, 32});
  b.output(b.node("aten._native_batch_norm_legit_no_training.default",
                  {arg(y), arg(b.input({32})), arg(b.input({32})), arg(b.input({32})), arg(b.input({32})), arg(0.1),
                   arg(1e-3)},
                  {{{16, 32}, domain::ScalarType::Float32}})
               .front());
  EXPECT_THAT(rewrittenLines(b),
              ElementsAre("v9 [32] = add(v7, 0.001)", "v10 [32] = rsqrt(v9)", "v11 [32] = mul(v4, v10)",
                          "v12 [32, 1] = view(v11, [32 1])", "v13 [32, 64] = mul(v1, v12)", "v14 [32] = sub(v2, v6)",
                          "v15 [32] = mul(v14, v11)", "v16 [32] = add(v15, v5)", "v8 [16, 32] = linear(v0, v13, v16)"));
}

GraphBuilder twoLinear(std::int64_t rows) {
  GraphBuilder b;
  const auto y =
      b.call("aten.linear.default", {arg(b.input({rows, 8})), arg(b.input({64, 8})), arg(b.input({64}))}, {rows, 64});
  b.output(b.call("aten.linear.default", {arg(y), arg(b.input({4, 64})), arg(b.input({4}))}, {rows, 4}));
  return b;
}

TEST(JoinLinear, MultipliesTheWeightsWhereThatIsLess) {
  EXPECT_THAT(rewrittenLines(twoLinear(100)),
              ElementsAre("v7 [4, 8] = mm(v4, v1)", "v8 [4] = linear(v2, v4, v5)", "v6 [100, 4] = linear(v0, v7, v8)"));
  EXPECT_THAT(rules(twoLinear(2).graph()), IsEmpty());
  // A genome made at another size still fits.
  EXPECT_TRUE(rewritten(twoLinear(2).graph(), allRewrites(twoLinear(100).graph())).has_value());
}

TEST(DiagonalProduct, IsAScaleOfRowsOrColumns) {
  for (const bool isLeft : {true, false}) {
    GraphBuilder b;
    const auto diagonal = b.call("aten.diag.default", {arg(b.input({32}))}, {32, 32});
    const auto matrix = b.input({32, 32});
    b.output(b.call("aten.mm.default", {arg(isLeft ? diagonal : matrix), arg(isLeft ? matrix : diagonal)}, {32, 32}));
    const auto made = rewrittenLines(b);
    EXPECT_EQ(made.back(), isLeft ? "v3 [32, 32] = mul(v2, v4)" : "v3 [32, 32] = mul(v2, v0)");
  }
}

TEST(SkipTriangle, MultipliesEachStripAsFarAsItIsKept) {
  GraphBuilder b;
  const auto y = b.call("aten.matmul.default", {arg(b.input({64, 16})), arg(b.input({16, 64}))}, {64, 64});
  b.output(b.like("aten.tril.default", y));
  const auto made = rewrittenLines(b);
  EXPECT_EQ(made[0], "v4 [8, 16] = slice(v0, 0, 0, 8)");
  EXPECT_EQ(made[1], "v5 [16, 8] = slice(v1, 1, 0, 8)");
  EXPECT_EQ(made[2], "v6 [8, 8] = mm(v4, v5)");
  EXPECT_EQ(made[3], "v7 [8, 64] = constant_pad_nd(v6, [0 56], 0)");
  EXPECT_EQ(made.back(), "v3 [64, 64] = tril(v36)");
}

TEST(AxisOfOne, IsLeftOut) {
  GraphBuilder b;
  const auto x = b.input({16, 1});
  b.output(b.call("aten.logsumexp.default", {arg(b.relu(x)), listArg({1}), arg(true)}, {16, 1}));
  b.output(b.softmax(b.relu(x), 1));
  // What is not finite stays so: the softmax is no constant.
  EXPECT_THAT(rewrittenLines(b), ElementsAre("v1 [16, 1] = relu(v0)", "v3 [16, 1] = relu(v0)",
                                             "v5 [16, 1] = sub(v3, v3)", "v4 [16, 1] = add(v5, 1)"));
}

TEST(AxisOfOne, NeverHandsOutAnInput) {
  GraphBuilder b;
  b.output(b.call("aten.amax.default", {arg(b.input({16, 1})), listArg({1}), arg(true)}, {16, 1}));
  EXPECT_THAT(rewrittenLines(b), ElementsAre("v2 [16, 1] = clone(v0)"));
}

TEST(DoubleTranspose, IsLeftOut) {
  GraphBuilder b;
  const auto x = b.relu(b.input({16, 4}));
  const auto turned = b.call("aten.transpose.int", {arg(x), arg(0), arg(-1)}, {4, 16});
  b.output(b.relu(b.call("aten.t.default", {arg(turned)}, {16, 4})));
  EXPECT_THAT(rewrittenLines(b), ElementsAre("v1 [16, 4] = relu(v0)", "v4 [16, 4] = relu(v1)"));
}

TEST(ZerosInFront, AreReadAcrossTheEdge) {
  GraphBuilder b;
  const auto x = b.input({6, 9});
  const auto first = b.call("aten.slice.Tensor", {arg(x), arg(1), arg(0), arg(1)}, {6, 1});
  const auto zeros = b.like("aten.zeros_like.default", first);
  const domain::Argument both{domain::ArgumentList{arg(zeros), arg(x)}};
  const auto joined = b.call("aten.cat.default", {both, arg(1)}, {6, 10});
  const auto cut = b.call("aten.slice.Tensor", {arg(joined), arg(0), arg(0), arg(-1)}, {5, 10});
  b.output(b.like("aten.cumsum.default", cut, {arg(1)}));
  EXPECT_THAT(rules(b.graph()), ElementsAre("zeros in front v5"));
  EXPECT_THAT(rewrittenLines(b),
              ElementsAre("v6 [5, 9] = slice(v0, 0, 0, 5)", "v7 [5, 10] = constant_pad_nd(v6, [1 0], 0)",
                          "v5 [5, 10] = cumsum(v7, 1)"));
}

TEST(Rewriting, RefusesWhatDoesNotFit) {
  const domain::Graph graph = meanOfLinear(true).graph();
  EXPECT_FALSE(rewritten(graph, {{"reduce before product", ValueId(4), {}}}).has_value());
  EXPECT_FALSE(rewritten(graph, {{"no such rule", ValueId(6), {}}}).has_value());
  EXPECT_FALSE(rewritten(graph, {{"reduce before product", ValueId(100), {}}}).has_value());
  EXPECT_EQ(rewritten(graph, {}), graph);
}

}  // namespace
}  // namespace swage::synth
