// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_pool.h"

#include <algorithm>

#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kMostInWindow = 8;  // positions, along one axis

// One fold of what products have become, which needs no other.
bool isOneFold(const Region& region) {
  if (region.folds.size() != 2 || region.folds.front().later || !region.folds.back().later) {
    return false;
  }
  const Fold& fold = region.folds.back();
  const bool isKnown = fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum || fold.kind == FoldKind::Minimum;
  return isKnown && region.prims[asIndex(fold.input)].type == Compute::F32;
}

// Whether coordinates along both axes are those along one.
bool isAsOne(const std::vector<std::int64_t>& factors, std::size_t axis, std::int64_t size) {
  return factors[axis - 1] == factors[axis] * size;
}

// Makes an axis of places one with that of their windows before it. False: this is no such axis.
bool joinPooledAxis(Region& region, std::size_t axis, PooledAxis& pooled) {
  pooled.size = region.axes[axis].extent;
  if (axis == 0 || pooled.size > kMostInWindow || region.axes[axis].role != AxisRole::M ||
      region.axes[axis - 1].role != AxisRole::M || region.axes[axis - 1].isFoldedLater || isAxisNamed(region, axis) ||
      isAxisNamed(region, axis - 1)) {
    return false;
  }
  pooled.position = axis - 1;
  pooled.windows = region.axes[axis - 1].extent;
  for (Operand& operand : region.operands) {
    const bool isOfWindows = !operand.walksAlong(axis) && operand.walksAlong(axis - 1);
    const bool isTold = std::any_of(operand.bounds.begin(), operand.bounds.end(), [&](const Bound& bound) {
      return isOfWindows ? bound.factors[axis - 1] != 0 : !isAsOne(bound.factors, axis, pooled.size);
    });
    if (isTold || (!isOfWindows && !isAsOne(operand.strides, axis, pooled.size))) {
      return false;
    }
    pooled.strides.push_back(isOfWindows ? operand.strides[axis - 1] : 0);
    if (isOfWindows) {
      operand.strides[axis - 1] = 0;
    }
  }
  joinWithOuter(region, axis);
  return true;
}

// Adds the axis along which the windows of a pooling lie.
std::size_t addWindows(HaloProblem& problem, const PooledAxis& pooled) {
  Region& region = problem.region;
  for (std::size_t i = 0; i < region.operands.size(); ++i) {
    region.operands[i].strides.push_back(pooled.strides[i]);
    for (Bound& bound : region.operands[i].bounds) {
      bound.factors.push_back(0);
    }
  }
  for (HaloDim& dim : problem.dims) {
    dim.factors.push_back(0);
  }
  region.axes.push_back({pooled.windows, AxisRole::Batch});
  return region.axes.size() - 1;
}

// Whether something that lies along one of these axes is read for a prim, up to the results of later folds.
bool readsAlong(const Region& region, int prim, const std::vector<std::size_t>& axes) {
  const Prim& self = region.prims[asIndex(prim)];
  if (self.kind == Prim::Kind::Load) {
    const Operand& operand = region.operands[asIndex(self.operand)];
    return std::any_of(axes.begin(), axes.end(), [&](std::size_t axis) { return operand.walksAlong(axis); });
  }
  if (self.kind == Prim::Kind::Folded && !region.folds[asIndex(self.fold)].later) {
    return readsAlong(region, region.folds[asIndex(self.fold)].input, axes);
  }
  return std::any_of(self.args.begin(), self.args.end(), [&](int arg) { return readsAlong(region, arg, axes); });
}

// Whether results of windows are all that is stored, positions are read before the fold alone, and windows behind it.
bool isApart(const Region& region, const std::vector<std::size_t>& positions, const std::vector<std::size_t>& windows) {
  return !readsAlong(region, region.folds.back().input, windows) &&
         std::all_of(region.groupStores.begin(), region.groupStores.end(), [&](const Store& store) {
           const Operand& to = region.operands[asIndex(store.operand)];
           const bool isOfPosition =
               std::any_of(positions.begin(), positions.end(), [&](std::size_t axis) { return to.walksAlong(axis); });
           return !isOfPosition && to.bounds.empty() && !readsAlong(region, store.prim, positions);
         });
}

}  // namespace

std::vector<PooledAxis> joinPooledAxes(Region& region) {
  Region joined = region;
  std::vector<PooledAxis> all;
  for (std::size_t axis = isOneFold(region) ? region.axes.size() : 0; axis-- > 0;) {
    if (!joined.axes[axis].isFoldedLater) {
      continue;
    }
    PooledAxis pooled;
    if (!joinPooledAxis(joined, axis, pooled)) {
      return {};
    }
    for (PooledAxis& other : all) {
      --other.position;
    }
    all.push_back(std::move(pooled));
  }
  if (!all.empty()) {
    region = std::move(joined);
  }
  return all;
}

bool settlePool(HaloProblem& problem, const std::vector<PooledAxis>& pooled) {
  const HaloDim* const down = problem.down();
  std::vector<std::size_t> positions;
  std::vector<std::size_t> windows;
  for (const PooledAxis& axis : pooled) {
    const bool isAcross = axis.position == problem.across().position;
    if (!isAcross && (down == nullptr || axis.position != down->position)) {
      return false;
    }
    HaloPool& pool = isAcross ? problem.poolAcross : problem.poolDown;
    pool = {axis.size, addWindows(problem, axis)};
    positions.push_back(axis.position);
    windows.push_back(*pool.windows);
  }
  // A thread has two positions side by side, and four threads have those of 8.
  const std::int64_t across = problem.poolAcross.size;
  problem.folds = HaloFolds::Windows;
  problem.foldStores = problem.region.groupStores;
  return (across == 2 || across == 4 || across == 8) && !problem.hasPhases &&
         isApart(problem.region, positions, windows);
}

}  // namespace swage::synth
