// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "core/verify/graph_program.h"
#include "core/verify/operator_policy.h"
#include "core/verify/torch_failure.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

using ::testing::HasSubstr;

const CallMode kNative;

// A graph of float32 vectors: `inputs` of them, then one value for each result of `nodes`, all of which are outputs.
domain::Graph graphOf(int inputs, int results, const std::string& nodes) {
  std::string values;
  std::string inputText;
  std::string outputText;
  for (int i = 0; i < inputs + results; ++i) {
    const std::string id = std::to_string(i);
    values += std::string(i > 0 ? "," : "") + R"({"dtype": "float32", "shape": [4], "strides": [1]})";
    std::string& list = i < inputs ? inputText : outputText;
    list += std::string(list.empty() ? "" : ",") + R"({"value": )" + id + R"(, "kind": "user", "name": ""})";
  }
  return testing::graphFromText(R"({"values": [)" + values + R"(], "inputs": [)" + inputText + R"(], "nodes": [)" +
                                nodes + R"(], "outputs": [)" + outputText + "]}");
}

std::string node(const std::string& op, const std::string& args, const std::string& outputs,
                 const std::string& kwargs = "{}") {
  return R"({"op": ")" + op + R"(", "args": )" + args + R"(, "kwargs": )" + kwargs + R"(, "outputs": )" + outputs +
         R"(, "where": "model.py:7 in forward"})";
}

std::vector<at::Tensor> runGraph(const domain::Graph& graph, const std::vector<at::Tensor>& inputs,
                                 GraphMode mode = GraphMode::Eager, const CallMode& call = kNative) {
  auto program = GraphProgram::bind(graph, mode, call);
  EXPECT_THAT(program, testing::IsOk());
  return program ? program->run(inputs, RunningStats::Fresh, Freed::Wiped) : std::vector<at::Tensor>();
}

TEST(Interpreter, CallsOperatorsWithTheirDefaults) {
  const auto graph = graphOf(1, 1, node("aten.softmax.int", R"([{"value": 0}, -1])", "[1]"));
  const at::Tensor x = at::randn({3, 4});
  EXPECT_TRUE(runGraph(graph, {x})[0].equal(at::softmax(x, -1)));
}

TEST(Interpreter, TakesOptionalTensorsThatAreNone) {
  const auto graph = graphOf(2, 1, node("aten.linear.default", R"([{"value": 0}, {"value": 1}, null])", "[2]"));
  const at::Tensor x = at::randn({3, 4});
  const at::Tensor w = at::randn({5, 4});
  EXPECT_TRUE(runGraph(graph, {x, w})[0].equal(at::linear(x, w)));
}

TEST(Interpreter, ComputesLossesOverIntegerTargets) {
  const auto graph = graphOf(2, 1, node("aten.cross_entropy_loss.default", R"([{"value": 0}, {"value": 1}])", "[2]"));
  const at::Tensor x = at::randn({3, 4});
  const at::Tensor target = at::arange(3);
  EXPECT_TRUE(runGraph(graph, {x, target})[0].equal(at::cross_entropy_loss(x, target)));
}

TEST(Interpreter, UnpacksTuplesAndSkipsUnusedResults) {
  const auto graph = graphOf(1, 1, node("aten.max.dim", R"([{"value": 0}, 1])", "[1, -1]"));
  const at::Tensor x = at::randn({3, 4});
  EXPECT_TRUE(runGraph(graph, {x})[0].equal(std::get<0>(x.max(1))));
}

TEST(Interpreter, UnpacksListsOfTensors) {
  const auto graph = graphOf(1, 2, node("aten.split.Tensor", R"([{"value": 0}, 2, 1])", "[1, 2]"));
  const at::Tensor x = at::randn({3, 4});
  const auto outputs = runGraph(graph, {x});
  EXPECT_TRUE(outputs[0].equal(x.narrow(1, 0, 2)));
  EXPECT_TRUE(outputs[1].equal(x.narrow(1, 2, 2)));
}

TEST(Interpreter, PassesListsOfTensors) {
  const auto graph = graphOf(2, 1, node("aten.cat.default", R"([[{"value": 0}, {"value": 1}], 0])", "[2]"));
  EXPECT_EQ(runGraph(graph, {at::ones({2}), at::zeros({3})})[0].sum().item<float>(), 2.0F);
}

TEST(Interpreter, RepeatsOneNumberForAFixedList) {
  const auto graph = graphOf(1, 1, node("aten.max_pool2d.default", R"([{"value": 0}, 2])", "[1]"));
  EXPECT_EQ(runGraph(graph, {at::randn({1, 1, 4, 4})})[0].sizes(), at::IntArrayRef({1, 1, 2, 2}));
}

TEST(Interpreter, ReadsKeywordsAndPlaceholders) {
  const auto graph =
      graphOf(0, 1,
              node("aten.full.default", "[[2, 3], 1.5]", "[0]",
                   R"({"dtype": {"dtype": "float64"}, "device": {"device": true}, "layout": {"layout": "strided"}})"));
  const at::Tensor made = runGraph(graph, {})[0];
  EXPECT_EQ(made.scalar_type(), at::kDouble);
  EXPECT_EQ(made.sum().item<double>(), 9.0);
}

TEST(Interpreter, WidensExplicitAndDefaultTypesForTheReference) {
  const auto graph =
      graphOf(1, 3,
              node("aten._to_copy.default", R"([{"value": 0}])", "[1]", R"({"dtype": {"dtype": "float32"}})") + "," +
                  node("aten.arange.default", "[3]", "[2]", R"({"dtype": {"dtype": "int64"}})") + "," +
                  node("aten.full.default", "[[2], 1.5]", "[3]"));
  const CallMode wide{c10::Device(c10::kCPU), at::kDouble};
  const auto outputs = runGraph(graph, {at::ones({2}, at::kDouble)}, GraphMode::Reference, wide);
  EXPECT_EQ(outputs[0].scalar_type(), at::kDouble);
  EXPECT_EQ(outputs[1].scalar_type(), at::kLong);
  EXPECT_EQ(outputs[2].scalar_type(), at::kDouble);
  EXPECT_EQ(at::ones({1}).scalar_type(), at::kFloat) << "the default type must be restored";
}

std::string batchNorm(const std::string& outputs) {
  return node("aten._native_batch_norm_legit_functional.default",
              R"([{"value": 0}, {"value": 1}, {"value": 2}, {"value": 3}, {"value": 4}, true, 0.1, 1e-5])", outputs);
}

struct BatchNormInputs {
  std::vector<at::Tensor> all = {at::randn({4, 3, 5}), at::randn({3}), at::randn({3}), at::zeros({3}), at::ones({3})};
  at::Tensor mean = at::zeros({3});
  at::Tensor var = at::ones({3});
  at::Tensor expected = at::batch_norm(all[0], all[1], all[2], mean, var, true, 0.1, 1e-5, true);
};

TEST(Interpreter, RunsTrainingBatchNormAsAModuleWould) {
  const BatchNormInputs inputs;
  const auto outputs = runGraph(graphOf(5, 3, batchNorm("[5, -1, -1, 6, 7]")), inputs.all);
  EXPECT_TRUE(outputs[0].equal(inputs.expected));
  EXPECT_TRUE(outputs[1].equal(inputs.mean));
  EXPECT_TRUE(outputs[2].equal(inputs.var));
  EXPECT_TRUE(inputs.all[3].equal(at::zeros({3}))) << "the buffer it was given must not change";
}

TEST(Interpreter, ComputesBatchNormTheSameWayForTheReference) {
  const BatchNormInputs inputs;
  const auto outputs = runGraph(graphOf(5, 3, batchNorm("[5, -1, -1, 6, 7]")), inputs.all, GraphMode::Reference);
  EXPECT_TRUE(outputs[0].allclose(inputs.expected));
  EXPECT_TRUE(outputs[1].allclose(inputs.mean));
  EXPECT_TRUE(outputs[2].allclose(inputs.var));
}

TEST(Interpreter, KeepsTheFunctionalBatchNormWhenItsSavedValuesAreUsed) {
  const BatchNormInputs inputs;
  const auto outputs = runGraph(graphOf(5, 5, batchNorm("[5, 6, 7, 8, 9]")), inputs.all);
  EXPECT_TRUE(outputs[1].allclose(inputs.all[0].mean(at::IntArrayRef{0, 2})));
}

TEST(Interpreter, NamesAnOperatorThatPyTorchLacks) {
  const auto graph = graphOf(1, 1, node("aten.no_such_thing.default", R"([{"value": 0}])", "[1]"));
  EXPECT_THAT(GraphProgram::bind(graph, GraphMode::Eager, kNative),
              testing::IsError(ErrorKind::Unsupported, HasSubstr("no operator 'aten.no_such_thing.default'")));
}

TEST(Interpreter, NamesTheArgumentThatDoesNotFit) {
  const auto graph = graphOf(1, 1, node("aten.softmax.int", R"([{"value": 0}])", "[1]"));
  EXPECT_THAT(GraphProgram::bind(graph, GraphMode::Eager, kNative),
              testing::IsError(ErrorKind::InvalidInput,
                               HasSubstr("aten.softmax.int (model.py:7 in forward): argument 'dim' of type int")));
}

TEST(Interpreter, RefusesArgumentsThatTheOperatorDoesNotTake) {
  const auto graph = graphOf(1, 1, node("aten.relu.default", R"([{"value": 0}])", "[1]", R"({"inplace": true})"));
  EXPECT_THAT(GraphProgram::bind(graph, GraphMode::Eager, kNative),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("does not take")));
}

TEST(Interpreter, ReportsAnOperatorThatFailsWithoutItsStack) {
  const auto graph = graphOf(2, 1, node("aten.mm.default", R"([{"value": 0}, {"value": 1}])", "[2]"));
  auto program = GraphProgram::bind(graph, GraphMode::Eager, kNative);
  ASSERT_THAT(program, testing::IsOk());
  const std::vector<at::Tensor> inputs = {at::ones({2, 3}), at::ones({4, 5})};
  const auto failure = attempt([&] { (void)program->run(inputs, RunningStats::Fresh, Freed::Wiped); });
  ASSERT_TRUE(failure.has_value());
  EXPECT_THAT(failure->message, HasSubstr("mat1 and mat2"));
  EXPECT_THAT(failure->message, ::testing::Not(HasSubstr("frame #")));
  EXPECT_FALSE(failure->poisoned);
}

TEST(PeakIntermediateBytes, CountsWhatIsAliveTogether) {
  // Three values of 16 bytes in a chain; the middle one dies with the last node.
  const auto graph = testing::graphFromText(
      R"({"values": [{"dtype": "float32", "shape": [4], "strides": [1]}, {"dtype": "float32", "shape": [4], "strides": [1]},
                     {"dtype": "float32", "shape": [4], "strides": [1]}, {"dtype": "float32", "shape": [4], "strides": [1]}],
          "inputs": [{"value": 0, "kind": "user", "name": "x"}],
          "nodes": [{"op": "aten.relu.default", "args": [{"value": 0}], "kwargs": {}, "outputs": [1], "where": ""},
                    {"op": "aten.exp.default", "args": [{"value": 1}], "kwargs": {}, "outputs": [2], "where": ""},
                    {"op": "aten.neg.default", "args": [{"value": 2}], "kwargs": {}, "outputs": [3], "where": ""}],
          "outputs": [{"value": 3, "kind": "user", "name": ""}]})");
  EXPECT_EQ(peakIntermediateBytes(graph), 32);
}

std::string whyForbiddenOperator(const std::string& op, const std::set<std::string>& task) {
  return whyForbidden(domain::Node{.op = op, .args = {}, .kwargs = {}, .outputs = {}, .where = {}}, task);
}

TEST(OperatorPolicy, AllowsTheTasksOwnAndPureOperators) {
  EXPECT_EQ(whyForbiddenOperator("aten.linear.default", {}), "");
  EXPECT_EQ(whyForbiddenOperator("aten.cdist.default", {}),
            "it is neither part of the task nor on the list of allowed operators");
  EXPECT_EQ(whyForbiddenOperator("aten.cdist.default", {"aten.cdist.default"}), "");
}

TEST(OperatorPolicy, AllowsAttentionWithDropoutOnlyWhereTheTaskHasIt) {
  domain::Node call{.op = "aten.scaled_dot_product_attention.default",
                    .args = {{domain::ValueId(0)}, {domain::ValueId(1)}, {domain::ValueId(2)}, {}, {0.5}},
                    .kwargs = {},
                    .outputs = {},
                    .where = {}};
  EXPECT_EQ(whyForbidden(call, {call.op}), "");
  EXPECT_THAT(whyForbidden(call, {}), HasSubstr("random"));
  call.args.back() = {0.0};
  EXPECT_EQ(whyForbidden(call, {}), "");
  call.args.resize(3);
  EXPECT_EQ(whyForbidden(call, {}), "");
  call.kwargs = {{"dropout_p", {0.1}}};
  EXPECT_THAT(whyForbidden(call, {}), HasSubstr("random"));
}

TEST(OperatorPolicy, ForbidsMutationAndOtherNamespacesWhateverTheTaskSays) {
  const std::set<std::string> task = {"aten.add_.Tensor", "aten.relu.out", "prim.Print.default"};
  EXPECT_THAT(whyForbiddenOperator("aten.add_.Tensor", task), HasSubstr("changes its arguments"));
  EXPECT_THAT(whyForbiddenOperator("aten.relu.out", task), HasSubstr("changes its arguments"));
  EXPECT_THAT(whyForbiddenOperator("prim.Print.default", task), HasSubstr("aten namespace"));
  EXPECT_THAT(whyForbiddenOperator("aten.from_file.default", {}), HasSubstr("neither part of the task"));
}

}  // namespace
}  // namespace swage::verify
