// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/pool.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/synth/emit/frame.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kWidest = 4096;  // columns that one result sees

bool isPlainFold(const Region& region) {
  if (region.folds.size() != 1 || !region.elementStores.empty() || region.kind() != NestKind::Reduce) {
    return false;
  }
  const Fold& fold = region.folds.front();
  const bool isKnown = fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum || fold.kind == FoldKind::Minimum;
  const Prim& input = region.prims[static_cast<std::size_t>(fold.input)];
  const bool isFloat = input.type == Compute::F32 || input.type == Compute::F64;
  return isKnown && !fold.running && isFloat && region.hasRole(AxisRole::Window);
}

// Whether an operand has other elements for other places along this axis.
bool variesAlong(const Operand& operand, std::size_t axis) {
  return operand.strides[axis] != 0 || std::any_of(operand.bounds.begin(), operand.bounds.end(),
                                                   [axis](const Bound& bound) { return bound.factors[axis] != 0; });
}

// All loads that a prim is computed from. No value: it also depends on a coordinate or on the result of a fold.
std::optional<std::vector<int>> loadsBelow(const Region& region, int prim) {
  std::vector<int> loads;
  std::vector<int> open{prim};
  std::vector<bool> isSeen(region.prims.size(), false);
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (isSeen[static_cast<std::size_t>(at)]) {
      continue;
    }
    isSeen[static_cast<std::size_t>(at)] = true;
    const Prim& self = region.prims[static_cast<std::size_t>(at)];
    switch (self.kind) {
      case Prim::Kind::Index:
      case Prim::Kind::Coordinate:
      case Prim::Kind::Folded: return std::nullopt;
      case Prim::Kind::Load: loads.push_back(at); break;
      default: open.insert(open.end(), self.args.begin(), self.args.end());
    }
  }
  return loads;
}

const Operand& operandOf(const Region& region, int load) {
  return region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(load)].operand)];
}

// Along how many axes it varies.
std::size_t axesOf(const Operand& operand) {
  std::size_t count = 0;
  for (std::size_t axis = 0; axis < operand.strides.size(); ++axis) {
    count += variesAlong(operand, axis) ? 1 : 0;
  }
  return count;
}

// An operand with a column as its coordinate along the axis of columns.
std::optional<Operand> besideColumn(Operand operand, const Columns& columns) {
  const std::int64_t ofColumn = operand.strides[columns.axis] / columns.step;
  const bool isAlike = operand.strides[columns.axis] == ofColumn * columns.step &&
                       (!columns.window || operand.strides[*columns.window] == ofColumn * columns.reach);
  if (!operand.bounds.empty() || !isAlike || columns.begin != 0) {
    return std::nullopt;
  }
  operand.strides[columns.axis] = ofColumn;
  if (columns.window) {
    operand.strides[*columns.window] = 0;
  }
  return operand;
}

// Those that have other elements for other places along an axis.
std::vector<int> loadsAlong(const Region& region, const std::vector<int>& loads, std::size_t axis) {
  std::vector<int> found;
  std::copy_if(loads.begin(), loads.end(), std::back_inserter(found),
               [&](int load) { return variesAlong(operandOf(region, load), axis); });
  return found;
}

// What is read outside of the tensor must not change a result.
bool isNeutral(FoldKind kind, double fill) {
  switch (kind) {
    case FoldKind::Maximum: return std::isinf(fill) && fill < 0;
    case FoldKind::Minimum: return std::isinf(fill) && fill > 0;
    default: return fill == 0.0;
  }
}

// Where the columns are a bound of the operand: which, and whether nothing else is in it.
std::optional<std::size_t> boundOf(const Operand& operand, std::size_t axis) {
  const auto found = std::find_if(operand.bounds.begin(), operand.bounds.end(),
                                  [axis](const Bound& bound) { return bound.factors[axis] != 0; });
  return found == operand.bounds.end() ? std::nullopt
                                       : std::optional(static_cast<std::size_t>(found - operand.bounds.begin()));
}

// Sets the taps of the columns, from the factors of the coordinate that they are.
bool setTaps(Columns& columns, const Region& region, const std::vector<std::int64_t>& factors, bool isOnlyThese) {
  columns.step = factors[columns.axis];
  for (std::size_t axis = 0; axis < factors.size(); ++axis) {
    if (factors[axis] == 0 || axis == columns.axis) {
      continue;
    }
    const bool isNear = region.axes[axis].role == AxisRole::Window && factors[axis] > 0 &&
                        factors[axis] * (region.axes[axis].extent - 1) < kWidest;
    if (isNear && (!columns.window || factors[axis] < columns.reach)) {
      columns.window = axis;
      columns.taps = region.axes[axis].extent;
      columns.reach = factors[axis];
    } else if (isOnlyThese) {
      return false;
    }
  }
  return columns.step > 0 && columns.step < kWidest;
}

// The operand with a column of memory as its coordinate along the axis of columns.
bool straighten(Pool& pool, const Region& region) {
  Columns& columns = pool.columns;
  Operand& operand = pool.operand;
  if (const auto bound = boundOf(operand, columns.axis)) {
    const Bound& self = operand.bounds[*bound];
    if (self.stride != 1 || self.divisor != 1 || !setTaps(columns, region, self.factors, true)) {
      return false;
    }
    columns.begin = self.offset;
    columns.extent = self.extent;
    operand.bounds.erase(operand.bounds.begin() + static_cast<std::ptrdiff_t>(*bound));
  } else {
    if (!setTaps(columns, region, operand.strides, false)) {
      return false;
    }
    columns.extent = columns.seenBy(columns.results);
  }
  const auto isElsewhere = [&](std::size_t axis) {
    return std::any_of(operand.bounds.begin(), operand.bounds.end(),
                       [axis](const Bound& bound) { return bound.factors[axis] != 0; });
  };
  if (isElsewhere(columns.axis) || (columns.window && isElsewhere(*columns.window))) {
    return false;
  }
  operand.strides[columns.axis] = 1;
  if (columns.window) {
    operand.strides[*columns.window] = 0;
  }
  return true;
}

// Steps of results and of taps along one of its coordinates; nothing where they are not in one.
std::optional<RowAxes> rowsAlong(const Operand& operand, std::size_t axis, std::size_t window) {
  const auto inBound = std::find_if(operand.bounds.begin(), operand.bounds.end(),
                                    [=](const Bound& bound) { return bound.factors[window] != 0; });
  const std::vector<std::int64_t>& factors = inBound == operand.bounds.end() ? operand.strides : inBound->factors;
  const std::int64_t step = factors[axis];
  const std::int64_t reach = factors[window];
  const auto isInOne = [&](std::size_t which) {
    const auto bounds = std::count_if(operand.bounds.begin(), operand.bounds.end(),
                                      [which](const Bound& bound) { return bound.factors[which] != 0; });
    return bounds + (operand.strides[which] != 0 ? 1 : 0) == 1;
  };
  if (step <= 0 || reach <= 0 || !isInOne(axis) || !isInOne(window)) {
    return std::nullopt;
  }
  const std::int64_t common = std::gcd(step, reach);
  return RowAxes{axis, window, 1, 1, reach / common, step / common};
}

// The pair of axes along which windows overlap most.
void findRows(Pool& pool, const Region& region) {
  for (const std::size_t window : pool.windows) {
    for (const std::size_t axis : pool.lines) {
      auto rows = rowsAlong(pool.operand, axis, window);
      if (!rows) {
        continue;
      }
      rows->results = region.axes[axis].extent;
      rows->taps = region.axes[window].extent;
      const bool isBetter = !pool.rows || rows->taps * pool.rows->moved > pool.rows->taps * rows->moved;
      if (rows->overlap() && isBetter) {
        pool.rows = rows;
      }
    }
  }
  if (pool.rows) {
    pool.windows.erase(std::find(pool.windows.begin(), pool.windows.end(), pool.rows->window));
  }
}

}  // namespace

std::optional<Pool> poolOf(const Region& region) {
  if (!isPlainFold(region)) {
    return std::nullopt;
  }
  const std::vector<std::size_t> free = freeAxes(region);
  if (free.empty()) {
    return std::nullopt;
  }
  const Fold& fold = region.folds.front();
  const auto loads = loadsBelow(region, fold.input);
  const std::vector<int> moving = loads ? loadsAlong(region, *loads, free.back()) : std::vector<int>();
  if (moving.empty()) {
    return std::nullopt;
  }
  Pool pool;
  pool.seen = fold.input;
  pool.load = *std::max_element(moving.begin(), moving.end(), [&region](int a, int b) {
    return axesOf(operandOf(region, a)) < axesOf(operandOf(region, b));
  });
  pool.operand = operandOf(region, pool.load);
  if (pool.load != pool.seen && !pool.operand.bounds.empty()) {
    return std::nullopt;  // what is computed from nothing would not be neutral
  }
  const bool isDivided = std::any_of(pool.operand.bounds.begin(), pool.operand.bounds.end(),
                                     [](const Bound& bound) { return bound.divisor != 1; });
  if (isDivided || (!pool.operand.bounds.empty() && !isNeutral(fold.kind, pool.operand.fill))) {
    return std::nullopt;
  }
  pool.columns.axis = free.back();
  pool.columns.results = region.axes[free.back()].extent;
  pool.lines.assign(free.begin(), free.end() - 1);
  if (!straighten(pool, region)) {
    return std::nullopt;
  }
  if (pool.columns.window && loadsAlong(region, *loads, *pool.columns.window) != moving) {
    return std::nullopt;  // an operand changes with the column or with the tap alone
  }
  for (const int load : moving) {
    auto operand = besideColumn(operandOf(region, load), pool.columns);
    if (load != pool.load && !operand) {
      return std::nullopt;
    }
    if (load != pool.load) {
      pool.beside.push_back({load, *std::move(operand)});
    }
  }
  pool.windows = foldedAxes(region);
  if (pool.columns.window) {
    pool.windows.erase(std::find(pool.windows.begin(), pool.windows.end(), *pool.columns.window));
  }
  // Lines that share rows see each as another tap, and what is computed may depend on the tap.
  if (pool.load == pool.seen) {
    findRows(pool, region);
  }
  return pool;
}

}  // namespace swage::synth
