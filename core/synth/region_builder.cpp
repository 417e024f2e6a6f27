// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region_builder.h"

#include <algorithm>
#include <cmath>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

bool contains(const std::vector<int>& items, int item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

Compute computeType(domain::ScalarType stored) {
  switch (stored) {
    case domain::ScalarType::Float16:
    case domain::ScalarType::BFloat16:
    case domain::ScalarType::Float32: return Compute::F32;
    case domain::ScalarType::Float64: return Compute::F64;
    case domain::ScalarType::Bool: return Compute::Bool;
    default: return Compute::I64;
  }
}

RegionBuilder::RegionBuilder(const std::vector<domain::TensorType>& values, Layout layout)
    : m_values(values), m_layout(std::move(layout)) {
  for (int dim = 0; dim < static_cast<int>(m_layout.space.size()); ++dim) {
    const std::int64_t size = m_layout.space[asIndex(dim)];
    const bool reduced = contains(m_layout.reducedDims, dim);
    const int axis = static_cast<int>(m_program.axes.size());
    if (dim == m_layout.splitDim) {
      // The outer part of a split dimension numbers the groups; only the inner part is reduced.
      m_program.axes.push_back({m_layout.splitOuter, false});
      m_program.axes.push_back({size / m_layout.splitOuter, reduced});
      m_fullFrame.push_back({axis, axis + 1});
    } else {
      m_program.axes.push_back({size, reduced});
      m_fullFrame.push_back({axis});
    }
  }
}

std::vector<std::int64_t> RegionBuilder::stridesOn(const domain::TensorType& type, const Frame& frame) const {
  std::vector<std::int64_t> strides(m_program.axes.size(), 0);
  const std::size_t skip = frame.size() - type.shape.size();
  for (std::size_t dim = 0; dim < type.shape.size(); ++dim) {
    if (type.shape[dim] == 1) {
      continue;
    }
    std::int64_t stride = type.strides[dim];
    const std::vector<int>& axes = frame[dim + skip];
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      strides[asIndex(*axis)] = stride;
      stride *= m_program.axes[asIndex(*axis)].extent;
    }
  }
  return strides;
}

int RegionBuilder::accessFor(domain::ValueId value, const std::vector<std::int64_t>& strides, bool output) {
  for (std::size_t i = 0; i < m_program.accesses.size(); ++i) {
    const Access& access = m_program.accesses[i];
    if (access.value == value && access.output == output && access.strides == strides) {
      return static_cast<int>(i);
    }
  }
  m_program.accesses.push_back({value, type(value).dtype, strides, output});
  return static_cast<int>(m_program.accesses.size()) - 1;
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
    std::int64_t covered = 1;
    for (const int axis : frame[dim + skip]) {
      covered *= m_program.axes[asIndex(axis)].extent;
    }
    if (shape[dim] != 1 && shape[dim] != covered) {
      return std::nullopt;
    }
  }
  Prim load;
  load.kind = Prim::Kind::Load;
  load.type = computeType(type(value).dtype);
  load.access = accessFor(value, stridesOn(type(value), frame), false);
  return add(load);
}

std::optional<Frame> RegionBuilder::frameFor(const domain::Shape& shape, const std::vector<domain::ValueId>& operands) {
  for (const domain::ValueId operand : operands) {
    const auto found = m_defined.find(operand);
    if (found != m_defined.end() && type(operand).shape == shape) {
      return found->second.frame;
    }
  }
  if (shape.size() > m_layout.space.size()) {
    return std::nullopt;
  }
  const std::size_t skip = m_layout.space.size() - shape.size();
  Frame frame;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == m_layout.space[dim + skip]) {
      frame.push_back(m_fullFrame[dim + skip]);
    } else if (shape[dim] == 1) {
      frame.emplace_back();
    } else {
      return std::nullopt;
    }
  }
  return frame;
}

int RegionBuilder::add(Prim prim) {
  for (std::size_t i = 0; i < m_program.prims.size(); ++i) {
    const Prim& known = m_program.prims[i];
    if (known.kind == prim.kind && known.type == prim.type && known.function == prim.function &&
        known.args == prim.args && known.access == prim.access && known.reducer == prim.reducer &&
        known.slot == prim.slot && known.number == prim.number) {
      return static_cast<int>(i);
    }
  }
  m_program.prims.push_back(std::move(prim));
  return static_cast<int>(m_program.prims.size()) - 1;
}

int RegionBuilder::constant(double number, Compute type) {
  Prim prim;
  prim.kind = Prim::Kind::Constant;
  prim.type = type;
  prim.number = number;
  return add(prim);
}

int RegionBuilder::call(std::string_view function, std::vector<int> args, std::optional<Compute> type) {
  SWAGE_ASSERT(!args.empty());
  Prim prim;
  prim.kind = Prim::Kind::Call;
  prim.function = function;
  prim.type = type.value_or(typeOf(args.back()));
  prim.args = std::move(args);
  return add(prim);
}

int RegionBuilder::convert(int prim, Compute type) {
  return typeOf(prim) == type ? prim : call("convert", {prim}, type);
}

int RegionBuilder::index() {
  Prim prim;
  prim.kind = Prim::Kind::Index;
  prim.type = Compute::I64;
  return add(prim);
}

int RegionBuilder::over(int prim, double count) {
  int exponent = 0;
  const bool isPower = std::frexp(count, &exponent) == 0.5;
  return isPower ? call("mul", {prim, constant(1.0 / count, typeOf(prim))})
                 : call("div", {prim, constant(count, typeOf(prim))});
}

std::int64_t RegionBuilder::reducedCount() const {
  return m_program.reducedCount();
}

int RegionBuilder::reduce(ReduceKind kind, int prim) {
  Reducer reducer;
  reducer.kind = kind;
  reducer.input = prim;
  reducer.count = reducedCount();
  m_program.reducers.push_back(reducer);
  Prim result;
  result.kind = Prim::Kind::Reduced;
  result.reducer = static_cast<int>(m_program.reducers.size()) - 1;
  result.type = typeOf(prim);
  return add(result);
}

int RegionBuilder::secondResult(int reduced, Compute type) {
  Prim result = m_program.prims[asIndex(reduced)];
  SWAGE_ASSERT(result.kind == Prim::Kind::Reduced);
  result.slot = 1;
  result.type = type;
  return add(result);
}

void RegionBuilder::define(domain::ValueId value, int prim, Frame frame) {
  m_defined[value] = Operand{prim, std::move(frame)};
}

Frame RegionBuilder::reducedFrame(KeepDims keep) const {
  Frame frame;
  for (int dim = 0; dim < static_cast<int>(m_layout.space.size()); ++dim) {
    if (!contains(m_layout.reducedDims, dim)) {
      frame.push_back(m_fullFrame[asIndex(dim)]);
    } else if (dim == m_layout.splitDim) {
      frame.push_back({m_fullFrame[asIndex(dim)].front()});  // the groups it was cut into stay
    } else if (keep == KeepDims::Yes) {
      frame.emplace_back();
    }
  }
  return frame;
}

bool RegionBuilder::coversReducedAxes(const Frame& frame) const {
  for (std::size_t axis = 0; axis < m_program.axes.size(); ++axis) {
    if (!m_program.axes[axis].reduced || m_program.axes[axis].extent == 1) {
      continue;
    }
    const bool covered = std::any_of(frame.begin(), frame.end(), [&](const std::vector<int>& axes) {
      return contains(axes, static_cast<int>(axis));
    });
    if (!covered) {
      return false;
    }
  }
  return true;
}

std::optional<RegionProgram> RegionBuilder::finish(const std::vector<domain::ValueId>& outputs) {
  for (const domain::ValueId output : outputs) {
    const auto found = m_defined.find(output);
    if (found == m_defined.end()) {
      return std::nullopt;
    }
    const auto& [prim, frame] = found->second;
    const int converted = convert(prim, computeType(type(output).dtype));
    const int access = accessFor(output, stridesOn(type(output), frame), true);
    const bool perElement = m_program.reducers.empty() || coversReducedAxes(frame);
    (perElement ? m_program.elementStores : m_program.groupStores).push_back({access, converted});
  }
  collapseAxes(m_program);
  finalise(m_program);
  // A value that covers some of the reduced axes is neither one for each element nor one for each group.
  for (const Store& store : m_program.groupStores) {
    if (m_program.prims[asIndex(store.prim)].perElement) {
      return std::nullopt;
    }
  }
  return std::move(m_program);
}

}  // namespace swage::synth
