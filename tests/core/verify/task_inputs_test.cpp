// SPDX-License-Identifier: Apache-2.0
#include "core/verify/task_inputs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/device/cpu_device.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"

namespace swage::verify {
namespace {

// x and y of 4 elements, made by `nodes` from a tensor of 8 that is value 0.
std::vector<at::Tensor> drawn(std::string_view nodes, std::string_view outputs) {
  domain::Task task;
  task.graph = testing::graphFromText(R"({
    "values": [{"dtype": "float32", "shape": [4], "strides": [1]}, {"dtype": "float32", "shape": [4], "strides": [1]}],
    "inputs": [{"value": 0, "kind": "user", "name": "x"}, {"value": 1, "kind": "user", "name": "y"}],
    "nodes": [], "outputs": []})");
  task.inputGenerator = testing::graphFromText(fmt::format(R"({{
    "values": [{{"dtype": "float32", "shape": [8], "strides": [1]}},
               {{"dtype": "float32", "shape": [4], "strides": [1]}},
               {{"dtype": "float32", "shape": [4], "strides": [1]}}],
    "inputs": [],
    "nodes": [{{"op": "aten.randn.default", "args": [[8]],
                "kwargs": {{"device": {{"device": true}}, "dtype": {{"dtype": "float32"}}}},
                "outputs": [0], "where": ""}}, {}],
    "outputs": [{}]}})",
                                                           nodes, outputs));
  auto inputs = TaskInputs::load(task, "", c10::Device(c10::kCPU));
  EXPECT_THAT(inputs, testing::IsOk());
  return inputs ? inputs->draw(7) : std::vector<at::Tensor>();
}

void expectMemoryOfTheirOwn(const std::vector<at::Tensor>& inputs) {
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_NE(inputs[0].storage().data(), inputs[1].storage().data());
  for (const at::Tensor& input : inputs) {
    EXPECT_EQ(input.storage_offset(), 0);
    EXPECT_EQ(input.storage().nbytes(), input.nbytes());
  }
}

constexpr const char* kBothHalves = R"(
  {"op": "aten.slice.Tensor", "args": [{"value": 0}, 0, 0, 4], "kwargs": {}, "outputs": [1], "where": ""},
  {"op": "aten.slice.Tensor", "args": [{"value": 0}, 0, 4, 8], "kwargs": {}, "outputs": [2], "where": ""})";

TEST(TaskInputs, HaveMemoryOfTheirOwnWhenTheyAreViewsOfOneTensor) {
  const auto inputs = drawn(kBothHalves, R"({"value": 1, "kind": "user", "name": ""},
                                            {"value": 2, "kind": "user", "name": ""})");
  ASSERT_NO_FATAL_FAILURE(expectMemoryOfTheirOwn(inputs));
  EXPECT_FALSE(inputs[0].equal(inputs[1]));
}

TEST(TaskInputs, HaveMemoryOfTheirOwnWhenTheyAreOneTensor) {
  const auto inputs = drawn(kBothHalves, R"({"value": 2, "kind": "user", "name": ""},
                                            {"value": 2, "kind": "user", "name": ""})");
  ASSERT_NO_FATAL_FAILURE(expectMemoryOfTheirOwn(inputs));
  EXPECT_TRUE(inputs[0].equal(inputs[1]));
}

// As expand() makes them.
TEST(TaskInputs, MayHaveADimensionWithoutAStride) {
  domain::Task task = testing::pointwiseTask({4, 3}, "aten.relu.default");
  task.graph.values[0].strides = {1, 0};
  task.inputGenerator = testing::graphFromText(R"({
    "values": [{"dtype": "float32", "shape": [4, 1], "strides": [1, 1]},
               {"dtype": "float32", "shape": [4, 3], "strides": [1, 0]}],
    "inputs": [],
    "nodes": [{"op": "aten.randn.default", "args": [[4, 1]],
               "kwargs": {"device": {"device": true}, "dtype": {"dtype": "float32"}}, "outputs": [0], "where": ""},
              {"op": "aten.expand.default", "args": [{"value": 0}, [4, 3]], "kwargs": {}, "outputs": [1],
               "where": ""}],
    "outputs": [{"value": 1, "kind": "user", "name": ""}]})");
  auto inputs = TaskInputs::load(task, "", c10::Device(c10::kCPU));
  ASSERT_THAT(inputs, testing::IsOk());
  const std::vector<at::Tensor> made = inputs->draw(7);
  EXPECT_EQ(made.at(0).strides(), at::IntArrayRef({1, 0}));
  const auto device = device::CpuDevice::create(1);
  WorkingInputs working(task.graph, *device, c10::Device(c10::kCPU));
  working.fill(made, 0);
  EXPECT_TRUE(working.tensors()[0].equal(made.at(0)));
}

TEST(TaskInputs, AreTheSameForTheSameSeed) {
  constexpr const char* kOutputs = R"({"value": 1, "kind": "user", "name": ""},
                                      {"value": 2, "kind": "user", "name": ""})";
  const auto inputs = drawn(kBothHalves, kOutputs);
  const auto again = drawn(kBothHalves, kOutputs);
  ASSERT_EQ(inputs.size(), 2U);
  ASSERT_EQ(again.size(), 2U);
  EXPECT_TRUE(inputs[1].equal(again[1]));
}

}  // namespace
}  // namespace swage::verify
