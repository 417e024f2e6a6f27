// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/domain/graph.h"

// Writes a random graph node by node, with the types PyTorch would give its values. Where a type is wrong after all,
// the worker refuses the graph, which is counted and harms nobody.
namespace swage::fuzz {

using domain::Argument;
using domain::ScalarType;
using domain::Shape;
using domain::ValueId;

[[nodiscard]] inline Argument arg(ValueId value) {
  return {value};
}
[[nodiscard]] inline Argument arg(double value) {
  return {value};
}
[[nodiscard]] inline Argument arg(bool value) {
  return {value};
}
[[nodiscard]] inline Argument arg(std::int64_t value) {
  return {value};
}
[[nodiscard]] inline Argument arg(ScalarType value) {
  return {value};
}
[[nodiscard]] inline Argument arg(std::string value) {
  return {std::move(value)};
}
[[nodiscard]] inline Argument noArg() {
  return {std::monostate()};
}
[[nodiscard]] Argument listArg(const std::vector<std::int64_t>& numbers);

using Arguments = std::vector<Argument>;
using Keywords = std::vector<std::pair<std::string, Argument>>;

[[nodiscard]] bool isIntegral(ScalarType type);  // without booleans
// As torch.promote_types has it.
[[nodiscard]] ScalarType promote(ScalarType a, ScalarType b);
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// What an input is filled with.
struct Draw {
  enum class Kind : std::uint8_t { Normal, Positive, Wide, Integers } kind = Kind::Normal;
  std::int64_t low = 0;  // Integers: in [low, high)
  std::int64_t high = 2;
};

class GraphWriter {
 public:
  explicit GraphWriter(Random& random) : m_random(random) {}

  ValueId input(const Shape& shape, ScalarType dtype, Draw draw, bool mayHaveStrides);
  // Results of the given types; strides are contiguous, or now and then another dense order.
  std::vector<ValueId> node(std::string op, Arguments arguments,
                            const std::vector<std::pair<Shape, ScalarType>>& results, Keywords keywords = {});
  ValueId call(std::string op, Arguments arguments, const Shape& shape, ScalarType dtype, Keywords keywords = {});
  // One result of exactly this type: a view.
  ValueId view(std::string op, Arguments arguments, domain::TensorType type);
  void dropResult(std::size_t index) { m_graph.nodes.back().outputs[index] = ValueId(); }
  void output(ValueId value);

  [[nodiscard]] const domain::TensorType& type(ValueId value) const { return m_graph.type(value); }
  [[nodiscard]] const Shape& shape(ValueId value) const { return type(value).shape; }
  [[nodiscard]] ScalarType dtype(ValueId value) const { return type(value).dtype; }
  // What elementwise arithmetic of two values gives: a tensor without dimensions only counts by its category.
  [[nodiscard]] ScalarType promoted(ValueId a, ValueId b) const;

  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }
  [[nodiscard]] const domain::Graph& generator() const { return m_generator; }

 private:
  ValueId add(domain::TensorType type);
  [[nodiscard]] domain::TensorType strided(ScalarType dtype, const Shape& shape);
  ValueId generated(std::string op, Arguments arguments, const Shape& shape, ScalarType dtype, bool isFactory);
  ValueId drawn(const Shape& shape, ScalarType dtype, Draw draw);

  Random& m_random;
  domain::Graph m_graph;
  domain::Graph m_generator;  // of the inputs
};

}  // namespace swage::fuzz
