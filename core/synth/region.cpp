// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region.h"

#include <algorithm>
#include <set>

#include "core/base/assert.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

template <class T>
void removeAt(std::vector<T>& items, std::size_t position) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(position));
}

// Of an axis that has one position, or that its outer neighbour walks along too.
void dropAxis(Region& region, std::size_t axis) {
  removeAt(region.axes, axis);
  for (Operand& operand : region.operands) {
    removeAt(operand.strides, axis);
    for (Bound& bound : operand.bounds) {
      removeAt(bound.factors, axis);
    }
  }
  for (Prim& prim : region.prims) {
    if (prim.kind != Prim::Kind::Coordinate || asIndex(prim.axis) < axis) {
      continue;
    }
    if (asIndex(prim.axis) == axis) {
      prim.kind = Prim::Kind::Constant;  // zero
      prim.axis = -1;
    } else {
      --prim.axis;
    }
  }
}

bool canJoin(const Region& region, std::size_t outer) {
  if (region.axes[outer].role != region.axes[outer + 1].role ||
      region.axes[outer].isFoldedLater != region.axes[outer + 1].isFoldedLater || isAxisNamed(region, outer) ||
      isAxisNamed(region, outer + 1)) {
    return false;
  }
  const std::int64_t innerExtent = region.axes[outer + 1].extent;
  const auto walksOn = [&](const std::vector<std::int64_t>& steps) {
    return steps[outer] == steps[outer + 1] * innerExtent;
  };
  return std::all_of(region.operands.begin(), region.operands.end(), [&](const Operand& operand) {
    return walksOn(operand.strides) && std::all_of(operand.bounds.begin(), operand.bounds.end(),
                                                   [&](const Bound& bound) { return walksOn(bound.factors); });
  });
}

// What is left of a product of a row or a column is a sum of each group.
void settleRoles(Region& region) {
  const bool isProduct = region.hasRole(AxisRole::M) && region.hasRole(AxisRole::N);
  if (isProduct || region.hasRole(AxisRole::Depth)) {
    return;
  }
  for (Axis& axis : region.axes) {
    if (axis.role == AxisRole::M || axis.role == AxisRole::N) {
      axis.role = AxisRole::Batch;
    }
  }
}

// The positions of the loads and reductions a prim needs, marked in `needed`.
void mark(const Region& region, int prim, std::vector<bool>& needed) {
  if (needed[asIndex(prim)]) {
    return;
  }
  needed[asIndex(prim)] = true;
  const Prim& self = region.prims[asIndex(prim)];
  for (const int arg : self.args) {
    mark(region, arg, needed);
  }
  if (self.kind == Prim::Kind::Folded) {
    mark(region, region.folds[asIndex(self.fold)].input, needed);
  }
}

// Whether a position along the axis is one of an element, rather than of a group.
bool isElementAxis(const Region& region, std::size_t axis) {
  return region.folds.empty() || region.axes[axis].isFolded() || region.axes[axis].role == AxisRole::Scan;
}

void annotate(Region& region) {
  for (Prim& prim : region.prims) {
    prim.perElement = prim.kind == Prim::Kind::Index;
    prim.ready = -1;
    if (prim.kind == Prim::Kind::Load) {
      prim.perElement = walksElements(region, region.operands[asIndex(prim.operand)]);
    }
    if (prim.kind == Prim::Kind::Coordinate) {
      prim.perElement = isElementAxis(region, asIndex(prim.axis));
    }
    for (const int arg : prim.args) {
      prim.perElement = prim.perElement || region.prims[asIndex(arg)].perElement;
      prim.ready = std::max(prim.ready, region.prims[asIndex(arg)].ready);
    }
    if (prim.kind == Prim::Kind::Folded) {
      Fold& fold = region.folds[asIndex(prim.fold)];
      fold.stage = region.prims[asIndex(fold.input)].ready + 1;
      prim.ready = fold.stage;
      prim.perElement = fold.running || fold.inner;
    }
  }
}

void linkNests(Region& region) {
  region.nests.clear();
  if (region.recurrence) {
    region.nests.push_back({NestKind::Recur, {}});
    return;
  }
  const bool isChain = region.hasRole(AxisRole::Depth);
  const bool isProduct = region.hasRole(AxisRole::M) && region.hasRole(AxisRole::N);
  for (int stage = 0; stage < region.stageCount(); ++stage) {
    Nest nest{isProduct || isChain ? NestKind::Contract : NestKind::Reduce, {}};
    for (int fold = 0; fold < static_cast<int>(region.folds.size()); ++fold) {
      if (region.folds[asIndex(fold)].stage == stage) {
        nest.folds.push_back(fold);
        nest.kind = region.folds[asIndex(fold)].running ? NestKind::Scan : nest.kind;
        // Between two products: what is found of the sums of the first.
        nest.kind = isChain && region.folds[asIndex(fold)].kind != FoldKind::Sum ? NestKind::Reduce : nest.kind;
        nest.kind = region.folds[asIndex(fold)].later ? NestKind::Reduce : nest.kind;
      }
    }
    region.nests.push_back(std::move(nest));
  }
  if (!region.elementStores.empty() && region.kind() != NestKind::Scan) {
    region.nests.push_back({NestKind::Map, {}});
  }
}

// Rebuilds `prims` in dependency order with only what the stores need.
void prune(Region& region) {
  std::vector<bool> needed(region.prims.size(), false);
  for (const auto* stores : {&region.elementStores, &region.groupStores}) {
    for (const Store& store : *stores) {
      mark(region, store.prim, needed);
    }
  }
  std::vector<int> newPrim(region.prims.size(), -1);
  std::vector<int> newFold(region.folds.size(), -1);
  std::vector<Prim> prims;
  std::vector<Fold> folds;
  for (std::size_t i = 0; i < region.prims.size(); ++i) {
    if (!needed[i]) {
      continue;
    }
    Prim prim = region.prims[i];
    for (int& arg : prim.args) {
      arg = newPrim[asIndex(arg)];
      SWAGE_ASSERT(arg >= 0);
    }
    if (prim.kind == Prim::Kind::Folded) {
      if (newFold[asIndex(prim.fold)] < 0) {
        Fold fold = region.folds[asIndex(prim.fold)];
        fold.input = newPrim[asIndex(fold.input)];
        SWAGE_ASSERT(fold.input >= 0);
        newFold[asIndex(prim.fold)] = static_cast<int>(folds.size());
        folds.push_back(fold);
      }
      prim.fold = newFold[asIndex(prim.fold)];
    }
    newPrim[i] = static_cast<int>(prims.size());
    prims.push_back(std::move(prim));
  }
  for (auto* stores : {&region.elementStores, &region.groupStores}) {
    for (Store& store : *stores) {
      store.prim = newPrim[asIndex(store.prim)];
    }
  }
  region.prims = std::move(prims);
  region.folds = std::move(folds);
}

bool isCall(const Region& region, int prim, std::string_view function) {
  const Prim& self = region.prims[asIndex(prim)];
  return self.kind == Prim::Kind::Call && self.function == function;
}

bool isFolded(const Region& region, int prim, FoldKind kind) {
  const Prim& self = region.prims[asIndex(prim)];
  return self.kind == Prim::Kind::Folded && region.folds[asIndex(self.fold)].kind == kind;
}

void replaceFolded(Region& region, int oldFold, int newFold, int slot) {
  for (Prim& prim : region.prims) {
    if (prim.kind == Prim::Kind::Folded && prim.fold == oldFold) {
      prim.fold = newFold;
      prim.slot = slot;
    }
  }
}

// sum(exp(x - max(x))): both in one pass.
bool fuseSoftmax(Region& region, int sum) {
  const int input = region.folds[asIndex(sum)].input;
  if (region.folds[asIndex(sum)].kind != FoldKind::Sum || !isCall(region, input, "exp")) {
    return false;
  }
  const int difference = region.prims[asIndex(input)].args[0];
  if (!isCall(region, difference, "sub")) {
    return false;
  }
  const int x = region.prims[asIndex(difference)].args[0];
  const int maximum = region.prims[asIndex(difference)].args[1];
  if (!isFolded(region, maximum, FoldKind::Maximum)) {
    return false;
  }
  const int maxFold = region.prims[asIndex(maximum)].fold;
  if (region.folds[asIndex(maxFold)].input != x) {
    return false;
  }
  region.folds[asIndex(maxFold)].kind = FoldKind::SoftmaxPair;
  replaceFolded(region, sum, maxFold, 1);
  return true;
}

// sum((x - sum(x) / n)^2): both in one pass.
bool fuseMoments(Region& region, int sum) {
  const int input = region.folds[asIndex(sum)].input;
  if (region.folds[asIndex(sum)].kind != FoldKind::Sum || !isCall(region, input, "mul")) {
    return false;
  }
  const Prim& square = region.prims[asIndex(input)];
  if (square.args[0] != square.args[1] || !isCall(region, square.args[0], "sub")) {
    return false;
  }
  const Prim& difference = region.prims[asIndex(square.args[0])];
  const int x = difference.args[0];
  const int mean = difference.args[1];
  const bool isProduct = isCall(region, mean, "mul");
  if ((!isProduct && !isCall(region, mean, "div")) ||
      !isFolded(region, region.prims[asIndex(mean)].args[0], FoldKind::Sum)) {
    return false;
  }
  const Prim& scale = region.prims[asIndex(region.prims[asIndex(mean)].args[1])];
  const int first = region.prims[asIndex(region.prims[asIndex(mean)].args[0])].fold;
  const Fold& moments = region.folds[asIndex(first)];
  const auto count = static_cast<double>(moments.count);
  const bool isMean = scale.kind == Prim::Kind::Constant && scale.number == (isProduct ? 1.0 / count : count);
  if (!isMean || moments.input != x) {
    return false;
  }
  region.folds[asIndex(first)].kind = FoldKind::MomentPair;
  replaceFolded(region, sum, first, 1);
  return true;
}

}  // namespace

bool walksElements(const Region& region, const Operand& operand) {
  if (region.folds.empty()) {
    return true;
  }
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (isElementAxis(region, axis) && operand.walksAlong(axis)) {
      return true;
    }
  }
  return false;
}

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

std::int64_t gateCount(CellKind kind) {
  return kind == CellKind::Lstm ? 4 : kind == CellKind::Gru ? 3 : 1;
}

bool Recurrence::isStack() const {
  return layers.size() > 1 && !layers[1].products.isThere();
}

std::vector<int> Recurrence::operands() const {
  std::set<int> found;
  for (const RecurrentLayer& layer : layers) {
    for (const Placed& placed :
         {layer.products, layer.initial, layer.initialCell, layer.result, layer.last, layer.lastCell}) {
      found.insert(placed.operand);
    }
    found.insert({layer.inputWeight, layer.inputBias, layer.hiddenWeight, layer.hiddenBias});
  }
  found.erase(-1);
  return {found.begin(), found.end()};
}

bool Operand::walksAlong(std::size_t axis) const {
  return strides[axis] != 0 ||
         std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) { return bound.factors[axis] != 0; });
}

NestKind Region::kind() const {
  NestKind most = NestKind::Map;
  for (const Nest& nest : nests) {
    most = std::max(most, nest.kind);
  }
  return most;
}

bool Region::foldsLater() const {
  return std::any_of(folds.begin(), folds.end(), [](const Fold& fold) { return fold.later; });
}

bool Region::hasBounds() const {
  return std::any_of(operands.begin(), operands.end(), [](const Operand& operand) { return !operand.bounds.empty(); });
}

bool Region::hasRole(AxisRole role) const {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.role == role; });
}

int Region::stageCount() const {
  int count = 0;
  for (const Fold& fold : folds) {
    count = std::max(count, fold.stage + 1);
  }
  return count;
}

std::int64_t Region::groupCount() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.isFolded() ? 1 : axis.extent;
  }
  return count;
}

std::int64_t Region::reducedCount() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.isFolded() ? axis.extent : 1;
  }
  return count;
}

void joinWithOuter(Region& region, std::size_t axis) {
  region.axes[axis - 1].extent *= region.axes[axis].extent;
  for (Operand& operand : region.operands) {
    operand.strides[axis - 1] = operand.strides[axis];
    for (Bound& bound : operand.bounds) {
      bound.factors[axis - 1] = bound.factors[axis];
    }
  }
  dropAxis(region, axis);
}

void collapseAxes(Region& region) {
  for (std::size_t axis = region.axes.size(); axis-- > 0;) {
    if (region.axes[axis].extent == 1) {
      dropAxis(region, axis);
    }
  }
  settleRoles(region);
  for (std::size_t axis = region.axes.size(); axis-- > 1;) {
    if (canJoin(region, axis - 1)) {
      joinWithOuter(region, axis);
    }
  }
}

bool isAxisNamed(const Region& region, std::size_t axis) {
  return std::any_of(region.prims.begin(), region.prims.end(), [&](const Prim& prim) {
    return prim.kind == Prim::Kind::Coordinate && asIndex(prim.axis) == axis;
  });
}

void turnAxis(Region& region, std::size_t axis) {
  SWAGE_ASSERT(!isAxisNamed(region, axis));
  const std::int64_t last = region.axes[axis].extent - 1;
  for (Operand& operand : region.operands) {
    operand.offset += operand.strides[axis] * last;
    operand.strides[axis] = -operand.strides[axis];
    for (Bound& bound : operand.bounds) {
      bound.offset += bound.factors[axis] * last;
      bound.factors[axis] = -bound.factors[axis];
    }
  }
}

Changed fuseStages(Region& region) {
  Changed changed = Changed::No;
  for (int sum = 0; sum < static_cast<int>(region.folds.size()); ++sum) {
    if (fuseSoftmax(region, sum) || fuseMoments(region, sum)) {
      changed = Changed::Yes;
    }
  }
  if (changed == Changed::Yes) {
    finalise(region);
  }
  return changed;
}

bool canFuseStages(const Region& region) {
  if (region.folds.size() < 2) {
    return false;
  }
  Region fused = region;
  for (int sum = 0; sum < static_cast<int>(fused.folds.size()); ++sum) {
    if (fuseSoftmax(fused, sum) || fuseMoments(fused, sum)) {
      return true;
    }
  }
  return false;
}

void finalise(Region& region) {
  prune(region);
  annotate(region);
  linkNests(region);
}

}  // namespace swage::synth
