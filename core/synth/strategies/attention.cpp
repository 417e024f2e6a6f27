// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/attention.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/synth/strategies/product.h"

namespace swage::synth {
namespace {

const Prim& primOf(const Region& region, int prim) {
  return region.prims[static_cast<std::size_t>(prim)];
}

bool callsFunction(const Region& region, int prim, std::string_view function) {
  const Prim& self = primOf(region, prim);
  return self.kind == Prim::Kind::Call && self.function == function;
}

bool isNumber(const Region& region, int prim) {
  return primOf(region, prim).kind == Prim::Kind::Constant;
}

// Whether it is computed from tensors alone.
bool isOfTensors(const Region& region, int prim) {
  const Prim& self = primOf(region, prim);
  switch (self.kind) {
    case Prim::Kind::Constant:
    case Prim::Kind::Load: return true;
    case Prim::Kind::Call:
      return std::all_of(self.args.begin(), self.args.end(), [&](int arg) { return isOfTensors(region, arg); });
    default: return false;
  }
}

int foldedPrim(const Region& region, int fold, int slot) {
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    const Prim& self = region.prims[prim];
    if (self.kind == Prim::Kind::Folded && self.fold == fold && self.slot == slot) {
      return static_cast<int>(prim);
    }
  }
  return -1;
}

struct ChainFolds {
  int products = -1;
  int softmax = -1;
  int total = -1;
};

std::optional<ChainFolds> chainFolds(const Region& region) {
  if (region.kind() != NestKind::Contract || !region.hasRole(AxisRole::Depth) || region.folds.size() != 3 ||
      !region.elementStores.empty() || region.hasBounds()) {
    return std::nullopt;
  }
  ChainFolds folds;
  for (int i = 0; i < 3; ++i) {
    const Fold& fold = region.folds[static_cast<std::size_t>(i)];
    int& place = fold.inner ? folds.products : fold.kind == FoldKind::SoftmaxPair ? folds.softmax : folds.total;
    const bool isKind = fold.kind == (&place == &folds.softmax ? FoldKind::SoftmaxPair : FoldKind::Sum);
    if (place >= 0 || fold.running || !isKind) {
      return std::nullopt;
    }
    place = i;
  }
  return folds;
}

// The two sides of the first product.
bool readProducts(const Region& region, int input, AttentionShape& shape) {
  if (!callsFunction(region, input, "mul")) {
    return false;
  }
  for (const int side : primOf(region, input).args) {
    (walksAlongAny(region, side, shape.keys) ? shape.key : shape.query) = side;
  }
  return shape.query >= 0 && shape.key >= 0 && isOfTensors(region, shape.query) && isOfTensors(region, shape.key) &&
         !walksAlongAny(region, shape.key, shape.rows);
}

// exp(score - largest) * value
bool readWeighted(const Region& region, int input, int score, int softmax, AttentionShape& shape) {
  if (!callsFunction(region, input, "mul")) {
    return false;
  }
  const std::vector<int>& sides = primOf(region, input).args;
  const int weight = sides[0];
  shape.value = sides[1];
  if (!callsFunction(region, weight, "exp") || !callsFunction(region, primOf(region, weight).args[0], "sub")) {
    return false;
  }
  const std::vector<int>& difference = primOf(region, primOf(region, weight).args[0]).args;
  return difference[0] == score && difference[1] == foldedPrim(region, softmax, 0) &&
         isOfTensors(region, shape.value) && walksAlongAny(region, shape.value, shape.keys) &&
         !walksAlongAny(region, shape.value, shape.rows);
}

// Takes a causal mask off the score: key <= row ? score : -infinity.
void takeMaskOff(const Region& region, AttentionShape& shape) {
  const Prim& score = primOf(region, shape.score);
  if (!callsFunction(region, shape.score, "select") || !callsFunction(region, score.args[0], "le") ||
      shape.rows.size() != 1) {
    return;
  }
  const std::vector<int>& compared = primOf(region, score.args[0]).args;
  const auto isAlong = [&](int prim, std::size_t axis) {
    return primOf(region, prim).kind == Prim::Kind::Coordinate &&
           static_cast<std::size_t>(primOf(region, prim).axis) == axis;
  };
  const Prim& otherwise = primOf(region, score.args[2]);
  const bool isNothing =
      otherwise.kind == Prim::Kind::Constant && std::isinf(otherwise.number) && otherwise.number < 0.0;
  if (isAlong(compared[0], shape.keys[0]) && isAlong(compared[1], shape.rows[0]) && isNothing) {
    shape.isCausal = true;
    shape.score = score.args[1];
  }
}

void readFactor(const Region& region, AttentionShape& shape) {
  if (shape.score == shape.products) {
    shape.factor = 1.0;
    return;
  }
  const Prim& score = primOf(region, shape.score);
  if (callsFunction(region, shape.score, "mul") && score.args[0] == shape.products && isNumber(region, score.args[1])) {
    const double factor = primOf(region, score.args[1]).number;
    shape.factor = factor > 0.0 && std::isfinite(factor) ? factor : 0.0;
  }
}

}  // namespace

std::optional<AttentionShape> attentionShape(const Region& region) {
  const auto folds = chainFolds(region);
  if (!folds) {
    return std::nullopt;
  }
  AttentionShape shape;
  shape.batch = axesOf(region, AxisRole::Batch);
  shape.rows = axesOf(region, AxisRole::M);
  shape.columns = axesOf(region, AxisRole::N);
  shape.keys = axesOf(region, AxisRole::K);
  shape.depth = axesOf(region, AxisRole::Depth);
  if (shape.rows.size() > 1 || shape.columns.size() != 1 || shape.keys.size() != 1 || shape.depth.size() != 1) {
    return std::nullopt;
  }
  const auto inputOf = [&](int fold) { return region.folds[static_cast<std::size_t>(fold)].input; };
  shape.products = foldedPrim(region, folds->products, 0);
  shape.score = inputOf(folds->softmax);
  shape.weights = foldedPrim(region, folds->softmax, 1);
  shape.total = foldedPrim(region, folds->total, 0);
  if (!readProducts(region, inputOf(folds->products), shape) ||
      !readWeighted(region, inputOf(folds->total), shape.score, folds->softmax, shape)) {
    return std::nullopt;
  }
  takeMaskOff(region, shape);
  readFactor(region, shape);
  shape.batchCount = positions(region, shape.batch);
  shape.rowCount = positions(region, shape.rows);
  shape.columnCount = positions(region, shape.columns);
  shape.keyCount = positions(region, shape.keys);
  shape.depthCount = positions(region, shape.depth);
  return shape;
}

std::int64_t loadsOfScore(const Region& region, const AttentionShape& shape) {
  std::set<int> seen;
  std::vector<int> rest{shape.score};
  std::int64_t count = 0;
  while (!rest.empty()) {
    const int prim = rest.back();
    rest.pop_back();
    if (prim == shape.products || !seen.insert(prim).second) {
      continue;
    }
    const Prim& self = region.prims[static_cast<std::size_t>(prim)];
    count += self.kind == Prim::Kind::Load ? 1 : 0;
    rest.insert(rest.end(), self.args.begin(), self.args.end());
  }
  return count;
}

std::string describeAttention(const Region& region, const AttentionShape& shape) {
  return fmt::format("Attention of {} queries over {} keys of {}{}{}: the scores of a tile stay on the chip.",
                     shape.rowCount, shape.keyCount, shape.depthCount,
                     shape.batchCount > 1 ? fmt::format(", {} times", extentsText(region, shape.batch)) : "",
                     shape.isCausal ? ", each over those up to its own place" : "");
}

}  // namespace swage::synth
