// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/random_graph.h"

#include <algorithm>
#include <array>
#include <limits>

namespace swage::fuzz {
namespace {

constexpr std::array<std::int64_t, 16> kSizes{1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 64, 130};
constexpr std::int64_t kMaxElements = 6000;  // a compiler's second costs more than the run
constexpr double kEmptyShare = 0.03;

Shape randomShape(Random& random) {
  Shape shape(random.below(5));
  std::int64_t elements = 1;
  for (std::int64_t& size : shape) {
    size = random.pick(std::span<const std::int64_t>(kSizes));
    size = elements * size > kMaxElements ? 1 : size;
    elements *= size;
  }
  if (!shape.empty() && random.chance(kEmptyShare)) {
    shape[random.below(shape.size())] = 0;
  }
  return shape;
}

Draw drawFor(ScalarType type, Random& random) {
  if (domain::isFloating(type)) {
    constexpr std::array<Draw::Kind, 5> kinds{Draw::Kind::Normal, Draw::Kind::Normal, Draw::Kind::Normal,
                                              Draw::Kind::Positive, Draw::Kind::Wide};
    return {random.pick(std::span<const Draw::Kind>(kinds)), 0, 2};
  }
  if (type == ScalarType::Bool) {
    return {Draw::Kind::Integers, 0, 2};
  }
  return {Draw::Kind::Integers, type == ScalarType::UInt8 ? 0 : -5, 6};
}

}  // namespace

GraphDraft::GraphDraft(std::uint64_t seed) : m_random(seed), m_writer(m_random) {}

ScalarType GraphDraft::someType() {
  if (m_random.chance(0.8)) {
    return m_mainType;
  }
  constexpr std::array<ScalarType, 12> types{ScalarType::Float32, ScalarType::Float32,  ScalarType::Float64,
                                             ScalarType::Float16, ScalarType::BFloat16, ScalarType::Int64,
                                             ScalarType::Int64,   ScalarType::Int32,    ScalarType::Bool,
                                             ScalarType::Bool,    ScalarType::Int8,     ScalarType::UInt8};
  return m_random.pick(std::span<const ScalarType>(types));
}

// A shape that broadcasts to the given one: some sizes become 1, leading dimensions go.
Shape GraphDraft::shrunk(const Shape& shape) {
  Shape result = shape;
  if (m_random.chance(0.5)) {
    for (std::int64_t& size : result) {
      size = m_random.chance(0.3) ? 1 : size;
    }
    const std::size_t dropped = m_random.chance(0.5) ? m_random.below(result.size() + 1) : 0;
    result.erase(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
  return result;
}

void GraphDraft::begin() {
  constexpr std::array<ScalarType, 8> types{ScalarType::Float32, ScalarType::Float32,  ScalarType::Float32,
                                            ScalarType::Float32, ScalarType::BFloat16, ScalarType::Float16,
                                            ScalarType::Float64, ScalarType::Float32};
  m_mainType = m_random.pick(std::span<const ScalarType>(types));
  const Shape shape = randomShape(m_random);
  const std::size_t inputs = 1 + m_random.below(3);
  for (std::size_t i = 0; i < inputs; ++i) {
    const ScalarType type = i == 0 ? m_mainType : someType();
    keep(m_writer.input(i == 0 ? shape : shrunk(shape), type, drawFor(type, m_random), true));
  }
}

ValueId GraphDraft::any() {
  const std::size_t first = m_random.below(m_values.size());
  const std::size_t second = m_random.below(m_values.size());
  return m_values[std::max(first, second)];
}

std::optional<ValueId> GraphDraft::floating() {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const ValueId value = any();
    if (domain::isFloating(m_writer.dtype(value))) {
      return value;
    }
  }
  return std::nullopt;
}

ValueId GraphDraft::partner(ValueId other) {
  if (m_random.chance(0.1)) {
    return other;
  }
  for (int attempt = 0; attempt < 6; ++attempt) {
    const ValueId value = any();
    const auto joint = broadcast(m_writer.shape(value), m_writer.shape(other));
    if (joint && domain::contiguousTensor(ScalarType::Bool, *joint).elementCount() <= 4 * kMaxElements) {
      return value;
    }
  }
  const ScalarType type = someType();
  const ValueId made = m_writer.input(shrunk(m_writer.shape(other)), type, drawFor(type, m_random), true);
  keep(made);
  return made;
}

ValueId GraphDraft::mask(const Shape& shape) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    const ValueId value = any();
    if (m_writer.dtype(value) == ScalarType::Bool && broadcast(m_writer.shape(value), shape) == shape) {
      return value;
    }
  }
  return m_writer.input(shrunk(shape), ScalarType::Bool, {Draw::Kind::Integers, 0, 2}, true);
}

void GraphDraft::keep(const std::vector<ValueId>& values) {
  for (const ValueId value : values) {
    if (value.isValid()) {
      keep(value);
    }
  }
}

double GraphDraft::number() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 8> rare{0.0, -0.0, kInfinity, -kInfinity, 1e-5, 1e4, 3.0, 1e-30};
  constexpr std::array<double, 10> plain{1.0, -1.0, 0.5, 2.0, 3.0, 0.1, -2.5, 1.7, 0.25, -0.75};
  return m_random.pick(m_random.chance(0.1) ? std::span<const double>(rare) : std::span<const double>(plain));
}

void GraphDraft::chooseOutputs() {
  m_writer.output(m_values.back());
  for (const ValueId value : m_values) {
    if (m_random.chance(0.15)) {
      m_writer.output(value);  // also an input, and the last value a second time
    }
  }
}

bool addRandomNode(GraphDraft& draft) {
  const double choice = draft.random().unit();
  if (choice < 0.54) {
    return addPointwise(draft);
  }
  if (choice < 0.69) {
    return addReduction(draft);
  }
  if (choice < 0.77) {
    return addNormalisation(draft);
  }
  if (choice < 0.91) {
    return addNest(draft);
  }
  if (choice < 0.96) {
    return choice < 0.94 ? addLoss(draft) : addRewritable(draft);
  }
  return addForeign(draft);
}

}  // namespace swage::fuzz
