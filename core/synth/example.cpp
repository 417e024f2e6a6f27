// SPDX-License-Identifier: Apache-2.0
#include "core/synth/example.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/synth/synthesizer.h"

namespace swage::synth {
namespace {

using domain::Argument;
using domain::Shape;
using domain::ValueId;

class Builder {
 public:
  explicit Builder(domain::ScalarType type = domain::ScalarType::Float32) : m_type(type) {}

  // `strides`: in elements; empty: row-major.
  ValueId input(std::string name, Shape shape, Shape strides = {}) {
    const ValueId id = value(std::move(shape));
    if (!strides.empty()) {
      m_graph.values.back().strides = std::move(strides);
    }
    m_graph.inputs.push_back({id, domain::InputKind::User, std::move(name)});
    return id;
  }
  ValueId call(std::string op, std::vector<Argument> args, Shape shape) {
    domain::Node node;
    node.op = std::move(op);
    node.args = std::move(args);
    node.outputs = {value(std::move(shape))};
    m_graph.nodes.push_back(node);
    return node.outputs.front();
  }
  Example finish(ValueId output, std::string text) {
    m_graph.outputs.push_back({output, domain::OutputKind::User, {}});
    return {std::move(m_graph), std::move(text)};
  }

 private:
  ValueId value(Shape shape) {
    m_graph.values.push_back(domain::contiguousTensor(m_type, std::move(shape)));
    return ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
  }

  domain::ScalarType m_type;
  domain::Graph m_graph;
};

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

Example map() {
  Builder b;
  const Shape shape{4096, 1024};
  const ValueId x = b.input("x", shape);
  const ValueId y = b.input("y", shape);
  const ValueId gate = b.call("aten.silu.default", {{x}}, shape);
  return b.finish(b.call("aten.mul.Tensor", {{gate}, {y}}, shape), "silu(x) * y, float32[4096, 1024]");
}

Example softmax(const Shape& shape, std::int64_t dim) {
  Builder b;
  const ValueId x = b.input("x", shape);
  return b.finish(b.call("aten.softmax.int", {{x}, number(dim)}, shape),
                  fmt::format("softmax over {} of float32{}",
                              dim + 1 == static_cast<std::int64_t>(shape.size()) ? "the last dimension"
                                                                                 : fmt::format("dimension {}", dim),
                              shape));
}

// The shape of a row that suits a pattern.
Example row(const std::string& id) {
  static const std::map<std::string, Shape> shapes{
      {"row_warp", {4096, 512}},  {"row_cluster", {256, 32768}},    {"row_split", {4, 1048576}},
      {"row_gang", {4, 1048576}}, {"row_resident", {4096, 262144}}, {"split", {4, 1048576}},
  };
  const auto found = shapes.find(id);
  return softmax(found == shapes.end() ? Shape{1024, 4096} : found->second, 1);
}

Example linear() {
  Builder b;
  const ValueId x = b.input("x", {1024, 512});
  const ValueId weight = b.input("weight", {2048, 512});
  const ValueId bias = b.input("bias", {2048});
  const ValueId product = b.call("aten.linear.default", {{x}, {weight}, {bias}}, {1024, 2048});
  return b.finish(b.call("aten.relu.default", {{product}}, {1024, 2048}),
                  "relu(x @ weight.T + bias), float32[1024, 512] by float32[2048, 512]");
}

Example pooling() {
  Builder b;
  const ValueId x = b.input("x", {16, 64, 112, 112});
  return b.finish(
      b.call("aten.max_pool2d.default", {{x}, numbers({3, 3}), numbers({2, 2}), numbers({1, 1})}, {16, 64, 56, 56}),
      "max_pool2d(x, 3, stride 2, padding 1), float32[16, 64, 112, 112]");
}

Example recurrent() {
  Builder b;
  const ValueId x = b.input("x", {256, 8, 128});
  const ValueId h0 = b.input("h0", {1, 8, 256});
  const ValueId inputWeight = b.input("weight_ih", {768, 128});
  const ValueId hiddenWeight = b.input("weight_hh", {768, 256});
  const ValueId inputBias = b.input("bias_ih", {768});
  const ValueId hiddenBias = b.input("bias_hh", {768});
  const Argument weights{domain::ArgumentList{{inputWeight}, {hiddenWeight}, {inputBias}, {hiddenBias}}};
  return b.finish(b.call("aten.gru.input", {{x}, {h0}, weights, {true}, number(1), {0.0}, {false}, {false}, {false}},
                         {256, 8, 256}),
                  "a GRU of 256 units, 256 steps of 8 sequences, float32[256, 8, 128]");
}

Example convolution() {
  Builder b;
  const Shape result{16, 128, 56, 56};
  const ValueId x = b.input("x", {16, 64, 56, 56});
  const ValueId weight = b.input("weight", {128, 64, 3, 3});
  const ValueId bias = b.input("bias", {128});
  const ValueId sums = b.call("aten.conv2d.default", {{x}, {weight}, {bias}, numbers({1, 1}), numbers({1, 1})}, result);
  return b.finish(b.call("aten.relu.default", {{sums}}, result),
                  "relu(conv2d(x, weight, bias, padding 1)), float32[16, 64, 56, 56] by float32[128, 64, 3, 3]");
}

Example concatenation() {
  Builder b;
  const ValueId x = b.input("x", {64, 128, 256});
  const ValueId y = b.input("y", {64, 256, 256});
  const Argument both{domain::ArgumentList{{x}, {y}}};
  return b.finish(b.call("aten.cat.default", {both, number(1)}, {64, 384, 256}),
                  "cat(x, y) along dimension 1, float32[64, 128, 256] and float32[64, 256, 256]");
}

Example channelsLast() {
  Builder b;
  const Shape shape{16, 64, 56, 56};
  const ValueId x = b.input("x", shape, {200704, 1, 3584, 64});
  return b.finish(b.call("aten.clone.default", {{x}}, shape),
                  "x.contiguous(), float32[16, 64, 56, 56] with channels last");
}

// Of the type that suits a pattern.
Example attention(const std::string& id) {
  const bool isShort = id == "attention_wgmma";
  Builder b(isShort ? domain::ScalarType::Float16 : domain::ScalarType::Float32);
  const Shape shape{4, 16, 1024, 64};
  const ValueId x = b.input("x", shape);
  const ValueId keys = b.input("keys", shape);
  const ValueId values = b.input("values", shape);
  return b.finish(
      b.call("aten.scaled_dot_product_attention.default", {{x}, {keys}, {values}, {std::monostate()}, {0.0}, {true}},
             shape),
      fmt::format("causal attention of x over keys and values, {}[4, 16, 1024, 64]", isShort ? "float16" : "float32"));
}

// Along the dimension that suits a pattern.
Example cumulativeSum(const std::string& id) {
  const std::int64_t dim = id == "scan_tiles" || id == "scan_columns" ? 0 : 1;
  const Shape shape = id == "scan_chain" ? Shape{4, 1048576} : Shape{1024, 4096};
  Builder b;
  const ValueId x = b.input("x", shape);
  return b.finish(b.call("aten.cumsum.default", {{x}, number(dim)}, shape),
                  fmt::format("cumsum over dimension {} of float32{}", dim, shape));
}

}  // namespace

Example exampleOf(const patterns::Pattern& pattern) {
  static const std::map<std::string_view, std::function<Example()>> families{{"map", map},
                                                                             {"column",
                                                                              [] {
                                                                                return softmax({16, 512, 1024}, 1);
                                                                              }},
                                                                             {"contract", linear},
                                                                             {"window", pooling},
                                                                             {"convolution", convolution},
                                                                             {"turned", channelsLast},
                                                                             {"gather", concatenation},
                                                                             {"recurrence", recurrent}};
  if (pattern.family == "scan") {
    return cumulativeSum(pattern.id);
  }
  if (pattern.family == "attention") {
    return attention(pattern.id);
  }
  const auto found = families.find(pattern.family);
  return found == families.end() ? row(pattern.id) : found->second();
}

domain::DeviceInfo exampleDevice(domain::Language language) {
  domain::DeviceInfo device;
  device.kind = domain::factsOf(language).device;
  if (device.kind == domain::DeviceKind::Cpu) {
    device.architecture = "x86-64-v3";
    device.multiprocessors = 8;
    device.threads = 8;
    return device;
  }
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  return device;
}

Result<domain::Program> exampleProgram(const patterns::Pattern& pattern, const patterns::Catalogue& catalogue) {
  SWAGE_TRY_ASSIGN(const std::unique_ptr<Synthesizer> synthesizer,
                   Synthesizer::create(exampleOf(pattern).graph, exampleDevice(pattern.language), catalogue));
  const std::vector<domain::Genome> seeds = synthesizer->seeds();
  const auto found = std::find_if(seeds.begin(), seeds.end(), [&](const domain::Genome& genome) {
    // A family whose patterns do not compute the example alone has them last.
    return !genome.regions.empty() && genome.regions.back().pattern == pattern.id &&
           (genome.regions.size() == 1 || pattern.family == "recurrence");
  });
  if (found == seeds.end()) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}' does not fit its example", pattern.id));
  }
  return synthesizer->realise(*found);
}

}  // namespace swage::synth
