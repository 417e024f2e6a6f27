// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region_builder.h"

#include <algorithm>
#include <cmath>

#include "core/base/assert.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

bool contains(const std::vector<int>& items, int item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

RegionBuilder::RegionBuilder(const std::vector<domain::TensorType>& values, Layout layout, const PartPlaces& places)
    : m_values(values),
      m_places(places),
      m_layout(std::move(layout)),
      m_reducedDims(m_layout.reducedDims),
      m_reducedSplit(m_layout.splitDim) {
  for (int dim = 0; dim < static_cast<int>(m_layout.space.size()); ++dim) {
    const std::int64_t size = m_layout.space[asIndex(dim)];
    const AxisRole plain = contains(m_layout.reducedDims, dim) ? AxisRole::K : AxisRole::Batch;
    const AxisRole role = m_layout.roles.empty() ? plain : m_layout.roles[asIndex(dim)];
    const int axis = static_cast<int>(m_program.axes.size());
    if (dim == m_layout.splitDim) {
      // The outer part of a split dimension numbers the groups; only the inner part is reduced.
      m_program.axes.push_back({m_layout.splitOuter, m_layout.isCutLater ? role : AxisRole::Batch});
      m_program.axes.push_back({size / m_layout.splitOuter, role});
      m_fullFrame.push_back({axis, axis + 1});
    } else if (const std::int64_t window = windowOf(asIndex(dim)); window > 1) {
      m_program.axes.push_back({size / window, role});
      m_program.axes.push_back({window, role});
      m_fullFrame.push_back({axis, axis + 1});
    } else {
      m_program.axes.push_back({size, role});
      m_fullFrame.push_back({axis});
    }
  }
  m_program.axes.insert(m_program.axes.end(), m_layout.more.begin(), m_layout.more.end());
  if (!m_layout.tiled.empty()) {
    m_tiledFrame = m_fullFrame;
    const std::size_t first = m_tiledFrame.size() - m_layout.more.size();
    for (std::size_t i = 0; m_layout.cut.empty() && i < m_layout.more.size(); ++i) {
      m_tiledFrame[first + i].push_back(moreAxis(i));
    }
  }
}

std::optional<Frame> RegionBuilder::elementFrame(const domain::Shape& shape) const {
  if (shape == m_layout.space) {
    return m_fullFrame;
  }
  return shape == m_layout.tiled ? std::optional(m_tiledFrame) : std::nullopt;
}

std::int64_t RegionBuilder::windowOf(std::size_t dim) const {
  const std::size_t first = m_layout.space.size() - m_layout.cut.size();
  return dim < first ? 1 : m_layout.cut[dim - first];
}

Frame RegionBuilder::windowFrame() const {
  Frame frame = m_fullFrame;
  for (std::size_t dim = 0; dim < frame.size(); ++dim) {
    if (windowOf(dim) > 1) {
      frame[dim].pop_back();
    }
  }
  return frame;
}

std::vector<RegionBuilder::Coordinate::Term> RegionBuilder::along(std::size_t dim, std::int64_t factor) const {
  std::vector<Coordinate::Term> terms;
  const std::vector<int>& axes = m_fullFrame[dim];
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    terms.push_back({*axis, factor});
    factor *= m_program.axes[asIndex(*axis)].extent;
  }
  return terms;
}

std::int64_t RegionBuilder::extentOf(const std::vector<int>& places) const {
  std::int64_t extent = 1;
  for (const int place : places) {
    extent *= m_program.axes[asIndex(axisOf(place))].extent;
  }
  return extent;
}

// Whether axes have a place for each element of a dimension, or for all that windows see of it.
bool RegionBuilder::fits(std::int64_t size, const Frame& frame, std::size_t dim) const {
  const bool isTiled =
      frame.size() == m_tiledFrame.size() && frame[dim] == m_tiledFrame[dim] && size == m_layout.tiled[dim];
  return size == extentOf(frame[dim]) || isTiled;
}

int RegionBuilder::moreAxis(std::size_t index) const {
  return static_cast<int>(m_program.axes.size() - m_layout.more.size() + index);
}

std::optional<Frame> RegionBuilder::frameOf(domain::ValueId value) const {
  const auto found = m_defined.find(value);
  return found == m_defined.end() ? std::nullopt : std::optional(found->second.frame);
}

std::optional<Frame> RegionBuilder::frameFor(const domain::Shape& shape, const std::vector<domain::ValueId>& operands) {
  for (const domain::ValueId operand : operands) {
    const auto found = m_defined.find(operand);
    if (found != m_defined.end() && type(operand).shape == shape) {
      return found->second.frame;
    }
  }
  if (auto frame = elementFrame(shape)) {
    return frame;
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

bool RegionBuilder::turn(int axis) {
  if (isAxisNamed(m_program, asIndex(axis))) {
    return false;
  }
  turnAxis(m_program, asIndex(axis));
  for (auto& [value, scalar] : m_defined) {
    for (std::vector<int>& places : scalar.frame) {
      for (int& place : places) {
        place = axisOf(place) == axis ? ~place : place;
      }
    }
  }
  return true;
}

int RegionBuilder::add(Prim prim) {
  // Zeros of both signs are equal, and divide differently.
  const auto isSameNumber = [](double a, double b) { return a == b && std::signbit(a) == std::signbit(b); };
  for (std::size_t i = 0; i < m_program.prims.size(); ++i) {
    const Prim& known = m_program.prims[i];
    if (known.kind == prim.kind && known.type == prim.type && known.function == prim.function &&
        known.args == prim.args && known.operand == prim.operand && known.fold == prim.fold &&
        known.slot == prim.slot && known.axis == prim.axis && isSameNumber(known.number, prim.number)) {
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
  return m_reducesLater ? countOf(Reach::Later) : m_program.reducedCount();
}

bool RegionBuilder::reduceLater(const Layout& layout) {
  const bool isProduct = m_program.hasRole(AxisRole::M) && m_program.hasRole(AxisRole::N);
  const bool isSplitAlike =
      layout.splitDim < 0 || (layout.splitDim == m_layout.splitDim && layout.splitOuter == m_layout.splitOuter);
  if (!isProduct || m_program.hasRole(AxisRole::Depth) || layout.space != m_layout.space || !isSplitAlike ||
      layout.reducedDims.empty()) {
    return false;
  }
  std::vector<bool> isFolded(m_program.axes.size(), false);
  for (const int dim : layout.reducedDims) {
    for (const int axis : m_fullFrame[asIndex(dim)]) {
      const bool isOuter = dim == layout.splitDim && axis == m_fullFrame[asIndex(dim)].front();
      isFolded[asIndex(axis)] = !isOuter;
    }
  }
  if (!foldLater(isFolded)) {
    return false;
  }
  m_reducedDims = layout.reducedDims;
  m_reducedSplit = layout.splitDim;
  return true;
}

bool RegionBuilder::poolLater(const Layout& layout) {
  const bool isProduct = m_program.hasRole(AxisRole::M) && m_program.hasRole(AxisRole::N);
  const bool isAlike = layout.tiled == m_layout.space &&
                       std::equal(layout.more.begin(), layout.more.end(), m_layout.cut.begin(), m_layout.cut.end(),
                                  [](const Axis& window, std::int64_t size) { return window.extent == size; });
  std::vector<bool> isFolded(m_program.axes.size(), false);
  for (std::size_t dim = 0; dim < m_fullFrame.size(); ++dim) {
    isFolded[asIndex(m_fullFrame[dim].back())] = windowOf(dim) > 1;
  }
  const bool isCut = std::find(isFolded.begin(), isFolded.end(), true) != isFolded.end();
  return isProduct && isAlike && isCut && foldLater(isFolded);
}

bool RegionBuilder::foldLater(const std::vector<bool>& isFolded) {
  for (std::size_t axis = 0; axis < isFolded.size(); ++axis) {
    if (m_reducesLater && m_program.axes[axis].isFoldedLater != isFolded[axis]) {
      return false;
    }
    m_program.axes[axis].isFoldedLater = isFolded[axis];
  }
  m_reducesLater = true;
  return true;
}

int RegionBuilder::coordinate(int axis) {
  Prim prim;
  prim.kind = Prim::Kind::Coordinate;
  prim.type = Compute::I64;
  prim.axis = axis;
  return add(prim);
}

// The elements that one result of such a fold is made of.
std::int64_t RegionBuilder::countOf(Reach reach) const {
  std::int64_t count = 1;
  for (const Axis& axis : m_program.axes) {
    const bool isTaken = reach == Reach::Later
                             ? axis.isFoldedLater
                             : axis.isFolded() && (axis.role == AxisRole::Depth) == (reach == Reach::Depth);
    count *= isTaken ? axis.extent : 1;
  }
  return count;
}

int RegionBuilder::fold(FoldKind kind, int prim, Reach reach) {
  Fold fold;
  fold.kind = kind;
  fold.input = prim;
  fold.count = countOf(reach);
  fold.running = reach == Reach::Running;
  fold.inner = reach == Reach::Depth;
  fold.later = reach == Reach::Later;
  // A mean and a variance of the same elements share their sum.
  const auto known = std::find_if(m_program.folds.begin(), m_program.folds.end(), [&](const Fold& other) {
    return other.kind == kind && other.input == prim && other.running == fold.running && other.inner == fold.inner &&
           other.later == fold.later;
  });
  Prim result;
  result.kind = Prim::Kind::Folded;
  result.fold = static_cast<int>(known - m_program.folds.begin());
  if (known == m_program.folds.end()) {
    m_program.folds.push_back(fold);
  }
  result.type = typeOf(prim);
  return add(result);
}

int RegionBuilder::reduce(FoldKind kind, int prim) {
  return fold(kind, prim, m_reducesLater ? Reach::Later : Reach::Whole);
}

int RegionBuilder::reduceDepth(FoldKind kind, int prim) {
  return fold(kind, prim, Reach::Depth);
}

int RegionBuilder::scan(FoldKind kind, int prim) {
  return fold(kind, prim, Reach::Running);
}

int RegionBuilder::secondResult(int reduced, Compute type) {
  Prim result = m_program.prims[asIndex(reduced)];
  SWAGE_ASSERT(result.kind == Prim::Kind::Folded);
  result.slot = 1;
  result.type = type;
  return add(result);
}

void RegionBuilder::define(domain::ValueId value, int prim, Frame frame) {
  if (!m_program.prims[asIndex(prim)].value.isValid()) {
    m_program.prims[asIndex(prim)].value = value;
  }
  m_defined[value] = Scalar{prim, std::move(frame)};
}

Frame RegionBuilder::reducedFrame(KeepDims keep) const {
  Frame frame;
  for (int dim = 0; dim < static_cast<int>(m_layout.space.size()); ++dim) {
    if (!contains(m_reducedDims, dim)) {
      frame.push_back(m_fullFrame[asIndex(dim)]);
    } else if (dim == m_reducedSplit) {
      frame.push_back({m_fullFrame[asIndex(dim)].front()});  // the groups it was cut into stay
    } else if (keep == KeepDims::Yes) {
      frame.emplace_back();
    }
  }
  return frame;
}

bool RegionBuilder::isWhole(const Frame& frame, const domain::Shape& shape) const {
  return std::equal(frame.begin(), frame.end(), shape.begin(), shape.end(),
                    [this](const std::vector<int>& places, std::int64_t size) { return extentOf(places) == size; });
}

bool RegionBuilder::coversElements(const Frame& frame) const {
  for (std::size_t axis = 0; axis < m_program.axes.size(); ++axis) {
    const Axis& self = m_program.axes[axis];
    if ((!self.isFolded() && self.role != AxisRole::Scan) || self.extent == 1) {
      continue;
    }
    const bool covered = std::any_of(frame.begin(), frame.end(), [&](const std::vector<int>& axes) {
      return contains(axes, static_cast<int>(axis)) || contains(axes, ~static_cast<int>(axis));
    });
    if (!covered) {
      return false;
    }
  }
  return true;
}

// Only what somebody reads is stored.
std::optional<Region> RegionBuilder::finishRecurrence(const std::vector<domain::ValueId>& outputs) {
  const auto keepRead = [&](Placed& placed) {
    if (placed.isThere() &&
        std::find(outputs.begin(), outputs.end(), m_program.operands[asIndex(placed.operand)].value) == outputs.end()) {
      placed = {};
    }
  };
  for (RecurrentLayer& layer : m_program.recurrence->layers) {
    keepRead(layer.result);
    keepRead(layer.last);
    keepRead(layer.lastCell);
  }
  finalise(m_program);
  return std::move(m_program);
}

std::optional<Region> RegionBuilder::finish(const std::vector<domain::ValueId>& outputs) {
  if (m_program.recurrence) {
    return finishRecurrence(outputs);
  }
  for (const domain::ValueId output : outputs) {
    const auto found = m_defined.find(output);
    if (found == m_defined.end()) {
      return std::nullopt;
    }
    const auto& [prim, frame] = found->second;
    const domain::Shape& shape = type(output).shape;
    if ((frame == m_tiledFrame || !m_layout.cut.empty()) && !isWhole(frame, shape)) {
      return std::nullopt;  // the elements that no window sees would not be stored
    }
    const int converted = convert(prim, computeType(type(output).dtype));
    Operand stored = operandOn(output, frame);
    stored.output = true;
    const int operand = operandFor(std::move(stored));
    const bool perElement = m_program.folds.empty() || coversElements(frame);
    (perElement ? m_program.elementStores : m_program.groupStores).push_back({operand, converted});
  }
  collapseAxes(m_program);
  finalise(m_program);
  // A value that covers some of the reduced axes is neither one for each element nor one for each group, even where it
  // is the same all along them.
  const auto isForElements = [this](const Store& store) {
    return walksElements(m_program, m_program.operands[asIndex(store.operand)]) ||
           m_program.prims[asIndex(store.prim)].perElement;
  };
  if (std::any_of(m_program.groupStores.begin(), m_program.groupStores.end(), isForElements)) {
    return std::nullopt;
  }
  return std::move(m_program);
}

}  // namespace swage::synth
