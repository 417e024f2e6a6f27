// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/pool.h"

#include <algorithm>
#include <cmath>
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
  return isKnown && !fold.running && isFloat && input.kind == Prim::Kind::Load && region.hasRole(AxisRole::Window);
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
  const Fold& fold = region.folds.front();
  Pool pool;
  pool.load = fold.input;
  pool.operand = region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(fold.input)].operand)];
  const bool isDivided = std::any_of(pool.operand.bounds.begin(), pool.operand.bounds.end(),
                                     [](const Bound& bound) { return bound.divisor != 1; });
  if (free.empty() || isDivided || (!pool.operand.bounds.empty() && !isNeutral(fold.kind, pool.operand.fill))) {
    return std::nullopt;
  }
  pool.columns.axis = free.back();
  pool.columns.results = region.axes[free.back()].extent;
  pool.lines.assign(free.begin(), free.end() - 1);
  if (!straighten(pool, region)) {
    return std::nullopt;
  }
  pool.windows = foldedAxes(region);
  if (pool.columns.window) {
    pool.windows.erase(std::find(pool.windows.begin(), pool.windows.end(), *pool.columns.window));
  }
  findRows(pool, region);
  return pool;
}

}  // namespace swage::synth
