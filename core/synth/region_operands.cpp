// SPDX-License-Identifier: Apache-2.0
// How the tensors of a region are addressed.
#include <algorithm>

#include "core/base/assert.h"
#include "core/synth/region_builder.h"
#include "core/synth/sizes.h"

namespace swage::synth {

Operand RegionBuilder::operandOn(domain::ValueId value, const Frame& frame) const {
  const domain::TensorType& tensor = type(value);
  Operand operand{value, tensor.dtype, std::vector<std::int64_t>(m_program.axes.size(), 0)};
  const std::size_t skip = frame.size() - tensor.shape.size();
  for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    if (tensor.shape[dim] == 1) {
      continue;
    }
    std::int64_t stride = tensor.strides[dim];
    const std::vector<int>& axes = frame[dim + skip];
    for (auto place = axes.rbegin(); place != axes.rend(); ++place) {
      const std::size_t axis = asIndex(axisOf(*place));
      const std::int64_t extent = m_program.axes[axis].extent;
      operand.strides[axis] = *place < 0 ? -stride : stride;
      operand.offset += *place < 0 ? stride * (extent - 1) : 0;
      stride *= extent;
    }
  }
  return operand;
}

Operand RegionBuilder::placed(Operand operand) const {
  if (const auto place = m_places.find(operand.value); place != m_places.end()) {
    operand.value = place->second.whole;
    operand.offset += place->second.offset;
  }
  return operand;
}

int RegionBuilder::operandFor(Operand operand) {
  operand = placed(std::move(operand));
  const auto known = std::find(m_program.operands.begin(), m_program.operands.end(), operand);
  const auto position = static_cast<int>(known - m_program.operands.begin());
  if (known == m_program.operands.end()) {
    m_program.operands.push_back(std::move(operand));
  }
  return position;
}

std::optional<int> RegionBuilder::read(domain::ValueId value, const Frame& frame) {
  const domain::Shape& shape = type(value).shape;
  if (shape.size() > frame.size()) {
    return std::nullopt;
  }
  const std::size_t skip = frame.size() - shape.size();
  if (const auto found = m_defined.find(value); found != m_defined.end()) {
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      if (shape[dim] != 1 && found->second.frame[dim] != frame[dim + skip]) {
        return std::nullopt;  // the value lies on other axes than the result: a transposition in disguise
      }
    }
    return found->second.prim;
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] != 1 && !fits(shape[dim], frame, dim + skip)) {
      return std::nullopt;
    }
  }
  Prim load;
  load.kind = Prim::Kind::Load;
  load.type = computeType(type(value).dtype);
  load.operand = operandFor(operandOn(value, frame));
  return add(load);
}

std::optional<int> RegionBuilder::readAt(domain::ValueId value, const std::vector<Coordinate>& coordinates,
                                         double fill) {
  if (m_defined.count(value) != 0) {
    return std::nullopt;  // it would have to be computed anew for every element that reads it
  }
  const domain::TensorType& tensor = type(value);
  SWAGE_ASSERT(coordinates.size() == tensor.shape.size());
  Operand operand{value, tensor.dtype, std::vector<std::int64_t>(m_program.axes.size(), 0)};
  operand.fill = fill;
  for (std::size_t dim = 0; dim < coordinates.size(); ++dim) {
    const Coordinate& coordinate = coordinates[dim];
    Bound bound{std::vector<std::int64_t>(m_program.axes.size(), 0), coordinate.offset, coordinate.divisor,
                tensor.shape[dim], tensor.strides[dim]};
    for (const Coordinate::Term& term : coordinate.terms) {
      bound.factors[asIndex(term.axis)] += term.factor;
    }
    if (coordinate.checked) {
      operand.bounds.push_back(std::move(bound));
      continue;
    }
    SWAGE_ASSERT(coordinate.divisor == 1);
    operand.offset += coordinate.offset * bound.stride;
    for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
      operand.strides[axis] += bound.factors[axis] * bound.stride;
    }
  }
  Prim load;
  load.kind = Prim::Kind::Load;
  load.type = computeType(tensor.dtype);
  load.operand = operandFor(std::move(operand));
  return add(load);
}

int RegionBuilder::tensor(domain::ValueId value, bool isOutput) {
  Operand operand{value, type(value).dtype, std::vector<std::int64_t>(m_program.axes.size(), 0)};
  operand.output = isOutput;
  return operandFor(std::move(operand));
}

}  // namespace swage::synth
