// SPDX-License-Identifier: Apache-2.0
#include "core/synth/example_graphs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;

Argument number(std::int64_t value) {
  return {value};
}

Argument numbers(const Shape& values) {
  domain::ArgumentList list;
  for (const std::int64_t value : values) {
    list.push_back({value});
  }
  return {std::move(list)};
}

Example softmax(const Shape& shape, std::int64_t dim) {
  ExampleBuilder b;
  const ValueId x = b.input("x", shape);
  return b.finish(b.call("aten.softmax.int", {{x}, number(dim)}, shape),
                  fmt::format("softmax over {} of float32{}",
                              dim + 1 == static_cast<std::int64_t>(shape.size()) ? "the last dimension"
                                                                                 : fmt::format("dimension {}", dim),
                              shape));
}

}  // namespace

ValueId ExampleBuilder::input(std::string name, Shape shape, Shape strides) {
  const ValueId id = value(std::move(shape));
  if (!strides.empty()) {
    m_graph.values.back().strides = std::move(strides);
  }
  m_graph.inputs.push_back({id, domain::InputKind::User, std::move(name)});
  return id;
}

ValueId ExampleBuilder::call(std::string op, std::vector<Argument> args, Shape shape) {
  domain::Node node;
  node.op = std::move(op);
  node.args = std::move(args);
  node.outputs = {value(std::move(shape))};
  m_graph.nodes.push_back(node);
  return node.outputs.front();
}

Example ExampleBuilder::finish(ValueId output, std::string text) {
  m_graph.outputs.push_back({output, domain::OutputKind::User, {}});
  return {std::move(m_graph), std::move(text)};
}

ValueId ExampleBuilder::value(Shape shape) {
  m_graph.values.push_back(domain::contiguousTensor(m_type, std::move(shape)));
  return ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
}

namespace examples {

Example map() {
  ExampleBuilder b;
  const Shape shape{4096, 1024};
  const ValueId x = b.input("x", shape);
  const ValueId y = b.input("y", shape);
  const ValueId gate = b.call("aten.silu.default", {{x}}, shape);
  return b.finish(b.call("aten.mul.Tensor", {{gate}, {y}}, shape), "silu(x) * y, float32[4096, 1024]");
}

Example rows(const Shape& shape) {
  return softmax(shape, 1);
}

Example columns() {
  return softmax({16, 512, 1024}, 1);
}

Example linear() {
  ExampleBuilder b;
  const ValueId x = b.input("x", {1024, 512});
  const ValueId weight = b.input("weight", {2048, 512});
  const ValueId bias = b.input("bias", {2048});
  const ValueId product = b.call("aten.linear.default", {{x}, {weight}, {bias}}, {1024, 2048});
  return b.finish(b.call("aten.relu.default", {{product}}, {1024, 2048}),
                  "relu(x @ weight.T + bias), float32[1024, 512] by float32[2048, 512]");
}

Example pooling() {
  ExampleBuilder b;
  const ValueId x = b.input("x", {16, 64, 112, 112});
  return b.finish(
      b.call("aten.max_pool2d.default", {{x}, numbers({3, 3}), numbers({2, 2}), numbers({1, 1})}, {16, 64, 56, 56}),
      "max_pool2d(x, 3, stride 2, padding 1), float32[16, 64, 112, 112]");
}

Example recurrent() {
  ExampleBuilder b;
  const ValueId x = b.input("x", {256, 8, 128});
  const ValueId h0 = b.input("h0", {1, 8, 256});
  const ValueId inputWeight = b.input("weight_ih", {768, 128});
  const ValueId hiddenWeight = b.input("weight_hh", {768, 256});
  const ValueId inputBias = b.input("bias_ih", {768});
  const ValueId hiddenBias = b.input("bias_hh", {768});
  const Argument weights{domain::ArgumentList{{inputWeight}, {hiddenWeight}, {inputBias}, {hiddenBias}}};
  Example example =
      b.finish(b.call("aten.gru.input", {{x}, {h0}, weights, {true}, number(1), {0.0}, {false}, {false}, {false}},
                      {256, 8, 256}),
               "a GRU of 256 units, 256 steps of 8 sequences, float32[256, 8, 128]");
  example.isOneRegion = false;  // the products of the inputs are one of their own
  return example;
}

Example convolution() {
  ExampleBuilder b;
  const Shape result{16, 128, 56, 56};
  const ValueId x = b.input("x", {16, 64, 56, 56});
  const ValueId weight = b.input("weight", {128, 64, 3, 3});
  const ValueId bias = b.input("bias", {128});
  const ValueId sums = b.call("aten.conv2d.default", {{x}, {weight}, {bias}, numbers({1, 1}), numbers({1, 1})}, result);
  return b.finish(b.call("aten.relu.default", {{sums}}, result),
                  "relu(conv2d(x, weight, bias, padding 1)), float32[16, 64, 56, 56] by float32[128, 64, 3, 3]");
}

Example concatenation() {
  ExampleBuilder b;
  const ValueId x = b.input("x", {64, 128, 256});
  const ValueId y = b.input("y", {64, 256, 256});
  const Argument both{domain::ArgumentList{{x}, {y}}};
  return b.finish(b.call("aten.cat.default", {both, number(1)}, {64, 384, 256}),
                  "cat(x, y) along dimension 1, float32[64, 128, 256] and float32[64, 256, 256]");
}

Example channelsLast() {
  ExampleBuilder b;
  const Shape shape{16, 64, 56, 56};
  const ValueId x = b.input("x", shape, {200704, 1, 3584, 64});
  return b.finish(b.call("aten.clone.default", {{x}}, shape),
                  "x.contiguous(), float32[16, 64, 56, 56] with channels last");
}

Example attention(domain::ScalarType type) {
  ExampleBuilder b(type);
  const Shape shape{4, 16, 1024, 64};
  const ValueId x = b.input("x", shape);
  const ValueId keys = b.input("keys", shape);
  const ValueId values = b.input("values", shape);
  return b.finish(b.call("aten.scaled_dot_product_attention.default",
                         {{x}, {keys}, {values}, {std::monostate()}, {0.0}, {true}}, shape),
                  fmt::format("causal attention of x over keys and values, {}[4, 16, 1024, 64]", domain::name(type)));
}

Example cumulativeSum(const Shape& shape, std::int64_t dim) {
  ExampleBuilder b;
  const ValueId x = b.input("x", shape);
  return b.finish(b.call("aten.cumsum.default", {{x}, number(dim)}, shape),
                  fmt::format("cumsum over dimension {} of float32{}", dim, shape));
}

}  // namespace examples
}  // namespace swage::synth
