// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_halo.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "core/synth/strategies/conv_pool.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kLeastColumns = 64;  // of the tile of a warp group

// A dimension that bounds tell. No value: it is not one axis of positions, with one window.
std::optional<HaloDim> dimOf(const Region& region, const Bound& bound) {
  HaloDim dim;
  int axes = 0;
  for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
    if (bound.factors[axis] == 0) {
      continue;
    }
    const AxisRole role = region.axes[axis].role;
    if (role == AxisRole::M) {
      dim.position = axis;
      dim.positions = region.axes[axis].extent;
      dim.stride = bound.factors[axis];
      ++axes;
    } else if (role == AxisRole::Window && !dim.window) {
      dim.window = axis;
      dim.places = region.axes[axis].extent;
      dim.step = bound.factors[axis];
    } else if (role != AxisRole::Batch) {
      return std::nullopt;
    }
  }
  dim.offset = bound.offset;
  dim.factors = bound.factors;
  dim.extent = bound.extent;
  dim.elements = bound.stride;
  return axes == 1 && dim.stride > 0 ? std::optional(dim) : std::nullopt;
}

// A window that no bounds tell of slides along the dimension where that makes the smallest patches: any choice reads
// the same elements.
bool addWindow(std::vector<HaloDim>& dims, std::vector<bool>& isTold, const Region& region, const Operand& input,
               std::size_t window) {
  const std::int64_t stride = input.strides[window];
  const std::int64_t places = region.axes[window].extent;
  std::optional<std::size_t> best;
  HaloDim with;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    HaloDim dim = dims[i];
    if (isTold[i] || dim.window || stride <= 0) {
      continue;
    }
    const std::int64_t common = std::gcd(dim.elements, stride);
    dim.window = window;
    dim.places = places;
    dim.stride = dim.elements / common;
    dim.step = stride / common;
    dim.elements = common;
    dim.extent = dim.stride * (dim.positions - 1) + dim.reach() + 1;
    if (!best || dim.extent * with.positions < with.extent * dim.positions) {
      best = i;
      with = dim;
    }
  }
  if (best) {
    dims[*best] = with;
  }
  return best.has_value();
}

// One for each axis of positions. No value: windows slide in another way.
std::optional<std::vector<HaloDim>> dimsOf(const Region& region, const ProductShape& shape, const Operand& input) {
  std::vector<HaloDim> dims;
  std::vector<bool> isTold;
  for (const std::size_t axis : shape.rows) {
    HaloDim dim;
    dim.position = axis;
    dim.positions = dim.extent = region.axes[axis].extent;
    dim.elements = input.strides[axis];
    dim.factors.assign(region.axes.size(), 0);
    isTold.push_back(false);
    for (const Bound& bound : input.bounds) {
      if (bound.factors[axis] != 0) {
        const auto told = dimOf(region, bound);
        if (!told || isTold.back() || input.strides[axis] != 0) {
          return std::nullopt;
        }
        dim = *told;
        isTold.back() = true;
      }
    }
    if (dim.elements <= 0) {
      return std::nullopt;
    }
    dims.push_back(std::move(dim));
  }
  if (std::count(isTold.begin(), isTold.end(), true) != static_cast<std::ptrdiff_t>(input.bounds.size())) {
    return std::nullopt;  // a bound without positions
  }
  for (const std::size_t axis : axesOf(region, AxisRole::Window)) {
    const bool isKnown =
        std::any_of(dims.begin(), dims.end(), [axis](const HaloDim& dim) { return dim.window == axis; });
    if (isKnown ? input.strides[axis] != 0 : !addWindow(dims, isTold, region, input, axis)) {
      return std::nullopt;
    }
  }
  return dims;
}

// Groups with few channels of the result each as one product, whose weights are zero where groups differ: a tile then
// has channels of all groups.
void mergeGroups(HaloProblem& problem, std::int64_t most) {
  Region& region = problem.region;
  ProductShape& shape = problem.shape;
  const std::size_t channel = axesOf(region, AxisRole::K).front();
  const auto isGroup = [&](std::size_t axis) {
    return std::none_of(problem.results.begin(), problem.results.end(),
                        [axis](const Bound& bound) { return bound.factors[axis] != 0; });
  };
  const auto found = std::find_if(shape.batch.begin(), shape.batch.end(), isGroup);
  const Prim& weight = region.prims[static_cast<std::size_t>(shape.right)];
  if (found == shape.batch.end() || std::count_if(shape.batch.begin(), shape.batch.end(), isGroup) != 1 ||
      weight.kind != Prim::Kind::Load || region.axes[*found].extent * shape.columnCount > most) {
    return;
  }
  const std::size_t group = *found;
  const std::int64_t channels = region.axes[channel].extent;
  Operand& input =
      region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(shape.left)].operand)];
  Operand& weights = region.operands[static_cast<std::size_t>(weight.operand)];
  const auto tells = [&](const Bound& bound) { return bound.factors[group] != 0 || bound.factors[channel] != 0; };
  if (input.strides[group] != channels * input.strides[channel] || weights.strides[channel] == 0 ||
      std::any_of(input.bounds.begin(), input.bounds.end(), tells) ||
      std::any_of(weights.bounds.begin(), weights.bounds.end(), tells)) {
    return;
  }
  Bound own{std::vector<std::int64_t>(region.axes.size(), 0), 0, 1, channels, weights.strides[channel]};
  own.factors[channel] = 1;
  own.factors[group] = -channels;
  weights.bounds.push_back(std::move(own));
  weights.strides[channel] = 0;
  input.strides[group] = 0;
  const std::int64_t groups = region.axes[group].extent;
  region.axes[channel].extent *= groups;
  region.axes[group].role = AxisRole::N;
  shape.batch.erase(found);
  shape.batchCount /= groups;
  shape.columns.insert(shape.columns.begin(), group);
  shape.columnCount *= groups;
}

// Makes two places of the window across one, where there are so few channels that those of both are together 8 numbers.
// Whether it can.
bool twinPlaces(HaloProblem& problem) {
  Region& region = problem.region;
  HaloDim& across = problem.dims.back();
  const Prim& weight = region.prims[static_cast<std::size_t>(problem.shape.right)];
  const bool isNamed = std::any_of(region.prims.begin(), region.prims.end(), [](const Prim& prim) {
    return prim.kind == Prim::Kind::Coordinate || prim.kind == Prim::Kind::Index;
  });
  if (problem.channels > HaloProblem::kTwinChannels || !across.window || across.places < 2 || problem.hasPhases ||
      isNamed || weight.kind != Prim::Kind::Load) {
    return false;
  }
  const std::size_t window = *across.window;
  Operand& weights = region.operands[static_cast<std::size_t>(weight.operand)];
  if (across.places % 2 != 0) {  // behind the last place there are zeros
    Bound bound{std::vector<std::int64_t>(region.axes.size(), 0), 0, 1, across.places, weights.strides[window]};
    bound.factors[window] = 1;
    weights.strides[window] = 0;
    weights.bounds.push_back(std::move(bound));
  }
  const auto substitute = [window](std::vector<std::int64_t>& factors) {
    factors.push_back(factors[window]);
    factors[window] *= 2;
  };
  for (Operand& operand : region.operands) {
    substitute(operand.strides);
    for (Bound& bound : operand.bounds) {
      substitute(bound.factors);
    }
  }
  for (Bound& bound : problem.results) {
    bound.factors.push_back(0);
  }
  for (HaloDim& dim : problem.dims) {
    dim.factors.push_back(0);
  }
  problem.twin = region.axes.size();
  problem.twinStep = across.step;
  across.places = (across.places + 1) / 2;
  across.step *= 2;
  region.axes[window].extent = across.places;
  region.axes.push_back({2, AxisRole::Window});
  return true;
}

// Behind the last channel there are zeros.
void padChannels(Region& region, std::size_t channel, std::int64_t depth) {
  const std::int64_t channels = region.axes[channel].extent;
  const std::int64_t padded = (channels + depth - 1) / depth * depth;
  if (padded == channels) {
    return;
  }
  region.axes[channel].extent = padded;
  for (Operand& operand : region.operands) {
    if (operand.strides[channel] != 0) {
      Bound bound{std::vector<std::int64_t>(region.axes.size(), 0), 0, 1, channels, operand.strides[channel]};
      bound.factors[channel] = 1;
      operand.strides[channel] = 0;
      operand.bounds.push_back(std::move(bound));
    }
  }
}

// Finds the phases that a block makes together.
void joinPhases(HaloProblem& problem) {
  problem.batch = problem.shape.batch;
  problem.batchCount = problem.shape.batchCount;
  if (!problem.hasPhases || problem.batch.empty()) {
    return;
  }
  const std::size_t axis = problem.batch.back();
  const std::size_t across = problem.across().position;
  const bool movesInput =
      problem.input().strides[axis] != 0 || std::any_of(problem.dims.begin(), problem.dims.end(),
                                                        [axis](const HaloDim& dim) { return dim.factors[axis] != 0; });
  for (const Bound& bound : problem.results) {
    if (bound.factors[axis] == 0 || bound.factors[across] != problem.region.axes[axis].extent || movesInput) {
      continue;
    }
    problem.phase = axis;
    problem.phases = problem.region.axes[axis].extent;
    problem.phaseStep = bound.factors[axis];
    problem.batch.pop_back();
    problem.batchCount /= problem.phases;
    return;
  }
}

constexpr std::int64_t kMostFolded = 128;  // channels of a tile

bool isLater(const Region& region, std::size_t axis) {
  return region.axes[axis].isFoldedLater;
}

bool areLater(const Region& region, const std::vector<std::size_t>& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](std::size_t axis) { return isLater(region, axis); });
}

bool anyLater(const Region& region, const std::vector<std::size_t>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](std::size_t axis) { return isLater(region, axis); });
}

// Whether those that are folded are the innermost.
bool isSuffixLater(const Region& region, const std::vector<std::size_t>& axes) {
  return std::is_sorted(axes.begin(), axes.end(),
                        [&](std::size_t a, std::size_t b) { return !isLater(region, a) && isLater(region, b); });
}

// Each tile tells of its positions, and what is found is not needed before all tiles have told.
bool canFoldPositions(const HaloProblem& problem) {
  const Region& region = problem.region;
  const auto isKnown = [](const Fold& fold) {
    return !fold.later || (fold.stage == 1 && (fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum ||
                                               fold.kind == FoldKind::Minimum || fold.kind == FoldKind::MomentPair));
  };
  return isLater(region, problem.across().position) && isSuffixLater(region, problem.shape.rows) &&
         isSuffixLater(region, problem.shape.columns) && areLater(region, problem.shape.batch) &&
         std::all_of(region.folds.begin(), region.folds.end(), isKnown) &&
         std::none_of(problem.resultStores.begin(), problem.resultStores.end(),
                      [&](const Store& store) { return problem.isFound(store.prim); });
}

// All channels are in one tile.
bool canFoldChannels(const HaloProblem& problem) {
  const Region& region = problem.region;
  const auto isKnown = [](const Fold& fold) {
    return fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum || fold.kind == FoldKind::Minimum;
  };
  return areLater(region, problem.shape.columns) && !anyLater(region, problem.shape.batch) &&
         problem.shape.columnCount <= kMostFolded && std::all_of(region.folds.begin(), region.folds.end(), isKnown);
}

// Finds what is folded of the results. False: this cannot be folded.
bool settleFolds(HaloProblem& problem) {
  const Region& region = problem.region;
  for (const Store& store : region.groupStores) {
    const Operand& operand = region.operands[static_cast<std::size_t>(store.operand)];
    bool isResult = !region.foldsLater();
    for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
      isResult = isResult || (isLater(region, axis) && operand.walksAlong(axis));
    }
    (isResult ? problem.resultStores : problem.foldStores).push_back(store);
  }
  if (!region.foldsLater()) {
    return true;
  }
  const bool isFloat = std::all_of(region.folds.begin(), region.folds.end(), [&](const Fold& fold) {
    return region.prims[static_cast<std::size_t>(fold.input)].type == Compute::F32;
  });
  const bool hasPositions = anyLater(region, problem.shape.rows);
  problem.folds = hasPositions ? HaloFolds::Positions : HaloFolds::Channels;
  return isFloat && (hasPositions ? canFoldPositions(problem) : canFoldChannels(problem));
}

// All coordinates with all multiples of a factor below `count` times it added.
std::vector<std::int64_t> moved(const std::vector<std::int64_t>& coordinates, std::int64_t factor, std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t at = 0; at < (factor == 0 ? 1 : count); ++at) {
    std::transform(coordinates.begin(), coordinates.end(), std::back_inserter(all),
                   [&](std::int64_t coordinate) { return coordinate + factor * at; });
  }
  return all;
}

}  // namespace

std::optional<HaloProblem> HaloProblem::of(const Region& given, std::int64_t depth) {
  // The convolution itself, whose results are folded later.
  Region region = given;
  const std::vector<PooledAxis> pooled = joinPooledAxes(region);
  if (region.foldsLater() && anyLater(region, axesOf(region, AxisRole::M))) {
    fuseStages(region);
  }
  const std::vector<Fold> folds = region.folds;
  if (region.foldsLater()) {
    region.folds.resize(1);
  }
  const auto conv = ConvProblem::of(region);
  if (!conv) {
    return std::nullopt;
  }
  HaloProblem problem;
  problem.region = conv->region();
  problem.region.folds = folds;
  problem.shape = conv->shape();
  problem.results.assign(conv->results().begin(), conv->results().end());
  problem.hasPhases = conv->hasPhases();
  const std::vector<std::size_t> channels = axesOf(problem.region, AxisRole::K);
  if (channels.size() != 1 || problem.input().strides[channels.front()] == 0) {
    return std::nullopt;
  }
  mergeGroups(problem, kLeastColumns);
  const Operand& input = problem.input();
  problem.channel = channels.front();
  problem.channels = problem.region.axes[problem.channel].extent;
  auto dims = dimsOf(problem.region, problem.shape, input);
  if (!dims) {
    return std::nullopt;
  }
  problem.dims = std::move(*dims);
  const auto windows = std::count_if(problem.dims.begin(), problem.dims.end(),
                                     [](const HaloDim& dim) { return dim.window.has_value(); });
  const auto inPatch = std::count_if(problem.dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(problem.dims)),
                                     problem.dims.end(), [](const HaloDim& dim) { return dim.window.has_value(); });
  if (windows - inPatch > 1) {
    return std::nullopt;
  }
  if (depth == HaloProblem::kTwinChannels && !twinPlaces(problem)) {
    return std::nullopt;
  }
  padChannels(problem.region, problem.channel, depth);
  problem.shape.depth.clear();
  for (const HaloDim& dim : problem.dims) {
    if (dim.window) {
      problem.shape.depth.push_back(*dim.window);
    }
  }
  if (problem.twin) {
    problem.shape.depth.push_back(*problem.twin);
  }
  problem.shape.depth.push_back(problem.channel);
  problem.shape.depthCount = positions(problem.region, problem.shape.depth);
  joinPhases(problem);
  return (pooled.empty() ? settleFolds(problem) : settlePool(problem, pooled)) ? std::optional(std::move(problem))
                                                                               : std::nullopt;
}

bool HaloProblem::isFound(int prim) const {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  return (self.kind == Prim::Kind::Folded && region.folds[static_cast<std::size_t>(self.fold)].later) ||
         std::any_of(self.args.begin(), self.args.end(), [this](int arg) { return isFound(arg); });
}

bool HaloProblem::isUniform(int prim) const {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  switch (self.kind) {
    case Prim::Kind::Constant: return true;
    case Prim::Kind::Folded: return region.folds[static_cast<std::size_t>(self.fold)].later;
    case Prim::Kind::Call:
      return std::all_of(self.args.begin(), self.args.end(), [this](int arg) { return isUniform(arg); });
    default: return false;
  }
}

bool HaloProblem::readsPositions(int prim) const {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  if (self.kind == Prim::Kind::Load) {
    const Operand& operand = region.operands[static_cast<std::size_t>(self.operand)];
    const auto walksAlong = [&operand](std::optional<std::size_t> axis) { return axis && operand.walksAlong(*axis); };
    return std::any_of(shape.rows.begin(), shape.rows.end(), walksAlong) || walksAlong(phase) ||
           walksAlong(poolAcross.windows) || walksAlong(poolDown.windows);
  }
  return std::any_of(self.args.begin(), self.args.end(), [this](int arg) { return readsPositions(arg); });
}

bool HaloProblem::isBefore(int fold, int other) const {
  const auto place = [this](int of) { return std::pair(region.folds[static_cast<std::size_t>(of)].stage, of); };
  return place(fold) < place(other);
}

int HaloProblem::lastFold(int prim) const {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  int last = self.kind == Prim::Kind::Folded ? self.fold : 0;
  for (const int arg : self.args) {
    const int other = lastFold(arg);
    last = isBefore(last, other) ? other : last;
  }
  return last;
}

std::vector<Bound> HaloProblem::allWeightBounds() const {
  const Prim& weight = region.prims[static_cast<std::size_t>(shape.right)];
  return weight.kind == Prim::Kind::Load ? region.operands[static_cast<std::size_t>(weight.operand)].bounds
                                         : std::vector<Bound>();
}

std::vector<Bound> HaloProblem::weightBounds() const {
  std::vector<Bound> bounds = allWeightBounds();
  std::erase_if(bounds, [this](const Bound& bound) { return !hasPhases || bound.factors[channel] != 0; });
  return bounds;
}

std::vector<Bound> HaloProblem::blockBounds() const {
  std::vector<Bound> bounds = weightBounds();
  std::erase_if(bounds, [this](const Bound& bound) {
    const bool isOfBlock =
        std::any_of(batch.begin(), batch.end(), [&](std::size_t axis) { return bound.factors[axis] != 0; });
    return !isOfBlock || (phase && bound.factors[*phase] != 0);
  });
  return bounds;
}

std::vector<Bound> HaloProblem::emptyBounds() const {
  std::vector<Bound> bounds = blockBounds();
  std::erase_if(bounds, [this](const Bound& bound) {
    std::vector<std::int64_t> firsts{bound.offset};  // coordinates of the first place, for each of `batch`
    for (const std::size_t axis : batch) {
      firsts = moved(firsts, bound.factors[axis], region.axes[axis].extent);
    }
    return std::all_of(firsts.begin(), firsts.end(), [&](std::int64_t first) {
      std::vector<std::int64_t> places{first};
      for (const std::size_t axis : windows()) {
        places = moved(places, bound.factors[axis], region.axes[axis].extent);
      }
      return std::any_of(places.begin(), places.end(), [&](std::int64_t at) { return at >= 0 && at < bound.extent; });
    });
  });
  return bounds;
}

const Operand& HaloProblem::input() const {
  return region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(shape.left)].operand)];
}

const HaloDim* HaloProblem::far() const {
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) {
    if (dims[i].window) {
      return &dims[i];
    }
  }
  return nullptr;
}

}  // namespace swage::synth
