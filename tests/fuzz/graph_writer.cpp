// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graph_writer.h"

#include <algorithm>
#include <numeric>

namespace swage::fuzz {
namespace {

int category(ScalarType type) {
  if (domain::isFloating(type)) {
    return 2;
  }
  return type == ScalarType::Bool ? 0 : 1;
}

// Dense in another order of the dimensions.
Shape permutedStrides(const Shape& shape, Random& random) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (const std::size_t dim : order) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(shape[dim], 1);
  }
  return strides;
}

}  // namespace

Argument listArg(const std::vector<std::int64_t>& numbers) {
  domain::ArgumentList list;
  for (const std::int64_t number : numbers) {
    list.push_back({number});
  }
  return {std::move(list)};
}

bool isIntegral(ScalarType type) {
  return category(type) == 1;
}

ScalarType promote(ScalarType a, ScalarType b) {
  if (a == b) {
    return a;
  }
  if (category(a) != category(b)) {
    return category(a) > category(b) ? a : b;
  }
  if (category(a) == 2) {
    const bool halves = domain::byteSize(a) == 2 && domain::byteSize(b) == 2;
    return halves
               ? ScalarType::Float32
               : std::max(a, b, [](ScalarType x, ScalarType y) { return domain::byteSize(x) < domain::byteSize(y); });
  }
  if (domain::byteSize(a) == domain::byteSize(b)) {
    return ScalarType::Int16;  // uint8 and int8
  }
  return domain::byteSize(a) > domain::byteSize(b) ? a : b;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t skip = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[i + skip];
    if (size == 1) {
      size = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != size) {
      return std::nullopt;
    }
  }
  return result;
}

ScalarType GraphWriter::promoted(ValueId a, ValueId b) const {
  const bool aIsScalar = shape(a).empty();
  const bool bIsScalar = shape(b).empty();
  if (aIsScalar == bIsScalar) {
    return promote(dtype(a), dtype(b));
  }
  const ScalarType scalar = aIsScalar ? dtype(a) : dtype(b);
  const ScalarType tensor = aIsScalar ? dtype(b) : dtype(a);
  return category(scalar) > category(tensor) ? scalar : tensor;
}

ValueId GraphWriter::add(domain::TensorType type) {
  m_graph.values.push_back(std::move(type));
  return ValueId(static_cast<std::int32_t>(m_graph.values.size()) - 1);
}

domain::TensorType GraphWriter::strided(ScalarType dtype, const Shape& shape) {
  domain::TensorType type = domain::contiguousTensor(dtype, shape);
  if (shape.size() > 1 && m_random.chance(0.1)) {
    type.strides = permutedStrides(shape, m_random);
  }
  return type;
}

ValueId GraphWriter::input(const Shape& shape, ScalarType dtype, Draw draw, bool mayHaveStrides) {
  domain::TensorType type = domain::contiguousTensor(dtype, shape);
  const double choice = m_random.unit();
  if (mayHaveStrides && choice < 0.2) {
    type.strides = permutedStrides(shape, m_random);
  } else if (mayHaveStrides && choice < 0.3) {
    for (std::int64_t& stride : type.strides) {  // as expand() leaves it
      stride = m_random.chance(0.5) ? 0 : stride;
    }
  } else if (mayHaveStrides && choice < 0.4) {
    const std::int64_t factor = m_random.chance(0.5) ? 2 : 3;  // as a slice of something larger
    std::transform(type.strides.begin(), type.strides.end(), type.strides.begin(),
                   [factor](std::int64_t stride) { return stride * factor; });
  }
  const ValueId value = add(std::move(type));
  m_graph.inputs.push_back({value, domain::InputKind::User, "input" + std::to_string(m_graph.inputs.size())});
  m_generator.outputs.push_back({drawn(shape, dtype, draw), domain::OutputKind::User, {}});
  return value;
}

ValueId GraphWriter::drawn(const Shape& shape, ScalarType dtype, Draw draw) {
  const Argument sizes = listArg(shape);
  if (draw.kind == Draw::Kind::Integers || !domain::isFloating(dtype)) {
    return generated("aten.randint.low", {arg(draw.low), arg(draw.high), sizes}, shape, dtype, true);
  }
  if (draw.kind == Draw::Kind::Positive) {
    const ValueId unit = generated("aten.rand.default", {sizes}, shape, dtype, true);
    return generated("aten.add.Tensor", {arg(unit), arg(0.25)}, shape, dtype, false);
  }
  const ValueId normal = generated("aten.randn.default", {sizes}, shape, dtype, true);
  return draw.kind == Draw::Kind::Normal ? normal
                                         : generated("aten.mul.Tensor", {arg(normal), arg(8.0)}, shape, dtype, false);
}

ValueId GraphWriter::generated(std::string op, Arguments arguments, const Shape& shape, ScalarType dtype,
                               bool isFactory) {
  m_generator.values.push_back(domain::contiguousTensor(dtype, shape));
  const ValueId value(static_cast<std::int32_t>(m_generator.values.size()) - 1);
  domain::Node node{std::move(op), std::move(arguments), {}, {value}, {}};
  if (isFactory) {
    node.kwargs = {{"dtype", arg(dtype)}, {"device", {domain::DeviceArgument()}}};
  }
  m_generator.nodes.push_back(std::move(node));
  return value;
}

std::vector<ValueId> GraphWriter::node(std::string op, Arguments arguments,
                                       const std::vector<std::pair<Shape, ScalarType>>& results, Keywords keywords) {
  domain::Node made{std::move(op), std::move(arguments), std::move(keywords), {}, {}};
  for (const auto& [shape, dtype] : results) {
    made.outputs.push_back(add(strided(dtype, shape)));
  }
  m_graph.nodes.push_back(made);
  return made.outputs;
}

ValueId GraphWriter::call(std::string op, Arguments arguments, const Shape& shape, ScalarType dtype,
                          Keywords keywords) {
  return node(std::move(op), std::move(arguments), {{shape, dtype}}, std::move(keywords)).front();
}

ValueId GraphWriter::view(std::string op, Arguments arguments, domain::TensorType type) {
  const ValueId value = add(std::move(type));
  m_graph.nodes.push_back({std::move(op), std::move(arguments), {}, {value}, {}});
  return value;
}

void GraphWriter::output(ValueId value) {
  m_graph.outputs.push_back({value, domain::OutputKind::User, {}});
}

}  // namespace swage::fuzz
