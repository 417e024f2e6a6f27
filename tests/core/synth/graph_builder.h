// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/domain/graph.h"

// A few lines of text for a small graph.
namespace swage::synth {

inline domain::Argument arg(domain::ValueId value) {
  return {value};
}
inline domain::Argument arg(double value) {
  return {value};
}
inline domain::Argument arg(bool value) {
  return {value};
}
inline domain::Argument arg(int value) {
  return {std::int64_t{value}};
}
inline domain::Argument noArg() {
  return {std::monostate()};
}
inline domain::Argument listArg(const std::vector<std::int64_t>& numbers) {
  domain::ArgumentList list;
  for (const std::int64_t number : numbers) {
    list.push_back({number});
  }
  return {std::move(list)};
}

class GraphBuilder {
 public:
  using ValueId = domain::ValueId;
  using Type = domain::ScalarType;

  ValueId input(domain::Shape shape, Type dtype = Type::Float32) {
    const ValueId id = value(std::move(shape), dtype);
    m_graph.inputs.push_back({id, domain::InputKind::User, "input" + std::to_string(m_graph.inputs.size())});
    return id;
  }

  // A node with one result for each type.
  std::vector<ValueId> node(std::string op, std::vector<domain::Argument> args,
                            const std::vector<std::pair<domain::Shape, Type>>& results) {
    domain::Node made;
    made.op = std::move(op);
    made.args = std::move(args);
    for (const auto& [shape, dtype] : results) {
      made.outputs.push_back(value(shape, dtype));
    }
    m_graph.nodes.push_back(made);
    return made.outputs;
  }
  ValueId call(std::string op, std::vector<domain::Argument> args, domain::Shape shape, Type dtype = Type::Float32) {
    return node(std::move(op), std::move(args), {{std::move(shape), dtype}}).front();
  }
  // A node whose result is like its first argument.
  ValueId like(std::string op, ValueId first, std::vector<domain::Argument> more = {}) {
    more.insert(more.begin(), arg(first));
    const domain::TensorType type = m_graph.type(first);
    return call(std::move(op), std::move(more), type.shape, type.dtype);
  }

  ValueId relu(ValueId x) { return like("aten.relu.default", x); }
  ValueId silu(ValueId x) { return like("aten.silu.default", x); }
  ValueId softmax(ValueId x, int dim) { return like("aten.softmax.int", x, {arg(dim)}); }
  ValueId add(ValueId x, ValueId y) { return like("aten.add.Tensor", x, {arg(y)}); }
  ValueId mul(ValueId x, ValueId y) { return like("aten.mul.Tensor", x, {arg(y)}); }
  ValueId mul(ValueId x, double y) { return like("aten.mul.Tensor", x, {arg(y)}); }

  void output(ValueId id) { m_graph.outputs.push_back({id, domain::OutputKind::User, {}}); }
  // Says that nobody reads a result of the last node.
  void dropResult(std::size_t index) { m_graph.nodes.back().outputs[index] = ValueId(); }

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }

 private:
  ValueId value(domain::Shape shape, Type dtype) {
    m_graph.values.push_back(domain::contiguousTensor(dtype, std::move(shape)));
    return ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
  }

  domain::Graph m_graph;
};

}  // namespace swage::synth
