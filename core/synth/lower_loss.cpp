// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "core/synth/lowering.h"
#include "core/synth/pointwise.h"

// Losses: an element- or row-wise part, then a mean or sum over what it gives. The two parts have different shapes,
// so they are two operations with a value of ours between them.
namespace swage::synth {
namespace {

using domain::ValueId;

enum class LossReduction : std::int64_t { None = 0, Mean = 1, Sum = 2 };

std::optional<LossReduction> lossReduction(const NodeView& node, std::size_t position) {
  const std::int64_t value = node.integer(position, "reduction").value_or(1);
  return value >= 0 && value <= 2 ? std::optional(static_cast<LossReduction>(value)) : std::nullopt;
}

// Sum or mean of all of `input` into `result`. The mean divides by the sum of `weights` where they are given.
struct FinalReduction {
  static constexpr int kNone = -1;  // no scalar of the program

  ValueId input;
  ValueId result;
  LossReduction reduction = LossReduction::Mean;
  ValueId weights{};
  bool isScalar = false;  // a loss of scalars: nothing is added up, whatever else the region reduces

  bool lower(RegionBuilder& b) const {
    const bool isWeighted = weights.isValid();
    const Frame frame = isScalar ? Frame() : b.fullFrame();
    const int x = b.read(input, frame).value_or(kNone);
    const int weight = isWeighted && x != kNone ? b.read(weights, frame).value_or(kNone) : kNone;
    if (x == kNone || (isWeighted && weight == kNone)) {
      return false;
    }
    if (isScalar) {
      b.define(result, isWeighted ? b.call("div", {x, weight}) : x, frame);
      return true;
    }
    int value = b.reduce(FoldKind::Sum, x);
    if (isWeighted) {
      value = b.call("div", {value, b.reduce(FoldKind::Sum, weight)});
    } else if (reduction == LossReduction::Mean) {
      value = b.over(value, static_cast<double>(b.reducedCount()));
    }
    b.define(result, value, b.reducedFrame(RegionBuilder::KeepDims::No));
    return true;
  }
};

void addFinalReduction(OperationSink& sink, FinalReduction reduction) {
  const domain::Shape shape = sink.values()[static_cast<std::size_t>(reduction.input.value())].shape;
  Operation operation;
  operation.inputs = {reduction.input};
  if (reduction.weights.isValid()) {
    operation.inputs.push_back(reduction.weights);
  }
  operation.outputs = {reduction.result};
  operation.layout.space = shape;
  operation.layout.reducedDims.resize(shape.size());
  std::iota(operation.layout.reducedDims.begin(), operation.layout.reducedDims.end(), 0);
  reduction.isScalar = shape.empty();
  operation.lower = [reduction](RegionBuilder& b) { return reduction.lower(b); };
  sink.add(std::move(operation));
}

// The value an element-wise part writes: the node's own result, or one of ours when a reduction follows.
ValueId partialResult(const NodeView& node, OperationSink& sink, const domain::Shape& shape, LossReduction reduction) {
  return reduction == LossReduction::None
             ? node.result()
             : sink.newValue(domain::contiguousTensor(node.type(node.result()).dtype, shape));
}

// --- cross entropy over classes in dimension 1, target class indices -------------------------------------------------

struct CrossEntropy {
  ValueId logits;
  ValueId target;
  ValueId rows;
  ValueId counted;  // 1 for each row that counts, 0 for an ignored one; not valid: not asked for
  double ignored = -100.0;
  bool isOfLogits = true;  // else of logarithms of probabilities

  bool lower(RegionBuilder& b) const {
    const auto x = b.read(logits, b.fullFrame());
    const auto wanted = b.read(target, b.reducedFrame(RegionBuilder::KeepDims::No));
    if (!x || !wanted) {
      return false;
    }
    std::optional<std::pair<int, int>> softmax;  // maximum, and the sum of exponentials relative to it
    if (isOfLogits) {
      const int maximum = b.reduce(FoldKind::Maximum, *x);
      softmax = {maximum, b.reduce(FoldKind::Sum, b.call("exp", {b.call("sub", {*x, maximum})}))};
    }
    const int isWanted = b.call("eq", {b.index(), *wanted}, Compute::Bool);
    const int picked = b.reduce(FoldKind::Sum, b.call("select", {isWanted, *x, b.constant(0.0, b.typeOf(*x))}));
    // Large logits would round the logarithm away, were they added to it.
    const int loss = softmax
                         ? b.call("sub", {b.call("log", {softmax->second}), b.call("sub", {picked, softmax->first})})
                         : b.call("neg", {picked});
    const int counts = b.call("ne", {*wanted, b.constant(ignored, Compute::I64)}, Compute::Bool);
    const int zero = b.constant(0.0, b.typeOf(*x));
    const Frame frame = b.reducedFrame(RegionBuilder::KeepDims::No);
    b.define(rows, b.call("select", {counts, loss, zero}), frame);
    if (counted.isValid()) {
      b.define(counted, b.call("select", {counts, b.constant(1.0, b.typeOf(*x)), zero}), frame);
    }
    return true;
  }
};

// What the classes have: logits, or logarithms of probabilities as nll_loss gets them.
enum class Scores : unsigned char { Logits, Logarithms };

void lowerCrossEntropy(const NodeView& node, OperationSink& sink, Scores kind) {
  const auto logits = node.tensor(0, "self");
  const auto target = node.tensor(1, "target");
  const auto reduction = lossReduction(node, 3);
  if (!logits || !target || !reduction || node.has(2, "weight") ||
      (kind == Scores::Logits && node.number(5, "label_smoothing").value_or(0.0) != 0)) {
    return;
  }
  const domain::Shape& shape = node.type(*logits).shape;
  const bool indices = node.type(*target).dtype == domain::ScalarType::Int64;
  if (shape.size() < 2 || !indices) {
    return;
  }
  domain::Shape rowShape = shape;
  rowShape.erase(rowShape.begin() + 1);
  const ValueId rows = partialResult(node, sink, rowShape, *reduction);
  // The mean is over the rows that count, so their number is reduced beside the losses.
  const ValueId counted =
      *reduction == LossReduction::Mean ? partialResult(node, sink, rowShape, *reduction) : ValueId();
  CrossEntropy spec{*logits,
                    *target,
                    rows,
                    counted,
                    static_cast<double>(node.integer(4, "ignore_index").value_or(-100)),
                    kind == Scores::Logits};
  Operation operation;
  operation.inputs = {*logits, *target};
  operation.outputs = {rows};
  if (counted.isValid()) {
    operation.outputs.push_back(counted);
  }
  operation.layout.space = shape;
  operation.layout.reducedDims = {1};
  operation.lower = [spec](RegionBuilder& b) { return spec.lower(b); };
  sink.add(std::move(operation));
  if (*reduction != LossReduction::None) {
    addFinalReduction(sink, {.input = rows, .result = node.result(), .reduction = *reduction, .weights = counted});
  }
}

// --- the margin by which one distance is to exceed another, over the last dimension ---------------------------------

struct TripletMargin {
  ValueId anchor;
  ValueId positive;
  ValueId negative;
  ValueId rows;
  double margin = 1.0;
  double epsilon = 1e-6;
  bool isSquared = true;  // distances are Euclidean, else sums of magnitudes
  bool maySwap = false;   // the negative may be nearer to the positive than to the anchor

  bool lower(RegionBuilder& b) const {
    const auto a = b.read(anchor, b.fullFrame());
    const auto p = b.read(positive, b.fullFrame());
    const auto n = b.read(negative, b.fullFrame());
    if (!a || !p || !n) {
      return false;
    }
    const int near = distance(b, *a, *p);
    int far = distance(b, *a, *n);
    if (maySwap) {
      far = b.call("min", {far, distance(b, *p, *n)});
    }
    const int zero = b.constant(0.0, b.typeOf(near));
    const int excess = b.call("sub", {b.call("add", {near, b.constant(margin, b.typeOf(near))}), far});
    b.define(rows, b.call("max", {excess, zero}), b.reducedFrame(RegionBuilder::KeepDims::No));
    return true;
  }

 private:
  [[nodiscard]] int distance(RegionBuilder& b, int x, int y) const {
    const int difference = b.call("add", {b.call("sub", {x, y}), b.constant(epsilon, b.typeOf(x))});
    if (!isSquared) {
      return b.reduce(FoldKind::Sum, b.call("abs", {difference}));
    }
    return b.call("sqrt", {b.reduce(FoldKind::Sum, b.call("mul", {difference, difference}))});
  }
};

// anchor, positive, negative, margin, p, eps, swap, reduction
void lowerTripletMargin(const NodeView& node, OperationSink& sink) {
  const auto anchor = node.tensor(0, "anchor");
  const auto positive = node.tensor(1, "positive");
  const auto negative = node.tensor(2, "negative");
  const auto reduction = lossReduction(node, 7);
  const double power = node.number(4, "p").value_or(2.0);
  if (!anchor || !positive || !negative || !reduction || (power != 2.0 && power != 1.0)) {
    return;
  }
  const domain::TensorType& type = node.type(*anchor);
  const auto isAlike = [&](ValueId other) {
    return node.type(other).shape == type.shape && node.type(other).dtype == type.dtype;
  };
  if (type.shape.empty() || !domain::isFloating(type.dtype) || !isAlike(*positive) || !isAlike(*negative)) {
    return;
  }
  const domain::Shape rowShape(type.shape.begin(), type.shape.end() - 1);
  const ValueId rows = partialResult(node, sink, rowShape, *reduction);
  const TripletMargin spec{.anchor = *anchor,
                           .positive = *positive,
                           .negative = *negative,
                           .rows = rows,
                           .margin = node.number(3, "margin").value_or(1.0),
                           .epsilon = node.number(5, "eps").value_or(1e-6),
                           .isSquared = power == 2.0,
                           .maySwap = node.flag(6, "swap").value_or(false)};
  Operation operation;
  operation.inputs = {*anchor, *positive, *negative};
  operation.outputs = {rows};
  operation.layout.space = type.shape;
  operation.layout.reducedDims = {static_cast<int>(type.shape.size()) - 1};
  operation.lower = [spec](RegionBuilder& b) { return spec.lower(b); };
  sink.add(std::move(operation));
  if (*reduction != LossReduction::None) {
    addFinalReduction(sink, {.input = rows, .result = node.result(), .reduction = *reduction});
  }
}

// --- losses that are a formula of prediction and target, element by element ------------------------------------------

using PairFormula = std::function<int(RegionBuilder&, int x, int target, const NodeView&)>;

LowerNode elementLoss(std::size_t reductionPosition, PairFormula formula) {
  return [reductionPosition, formula = std::move(formula)](const NodeView& node, OperationSink& sink) {
    const auto x = node.tensor(0, "self");
    const auto target = node.tensor(1, "target");
    const auto reduction = lossReduction(node, reductionPosition);
    if (!x || !target || !reduction || node.type(*x).shape != node.type(*target).shape ||
        !domain::isFloating(node.type(*x).dtype) || !domain::isFloating(node.type(*target).dtype)) {
      return;
    }
    const ValueId partial = partialResult(node, sink, node.type(*x).shape, *reduction);
    Operation operation;
    operation.inputs = {*x, *target};
    operation.outputs = {partial};
    operation.layout.space = node.type(*x).shape;
    operation.lower = [formula, node, x = *x, target = *target, partial](RegionBuilder& b) {
      const auto frame = b.frameFor(b.type(partial).shape, {x, target});
      const auto left = frame ? b.read(x, *frame) : std::nullopt;
      const auto right = frame ? b.read(target, *frame) : std::nullopt;
      if (!left || !right) {
        return false;
      }
      b.define(partial, formula(b, *left, *right, node), *frame);
      return true;
    };
    sink.add(std::move(operation));
    if (*reduction != LossReduction::None) {
      addFinalReduction(sink, {.input = partial, .result = node.result(), .reduction = *reduction});
    }
  };
}

// Quadratic below `threshold`, linear above: smooth L1 with beta = threshold divides by it, Huber does not.
int quadraticLinear(RegionBuilder& b, int x, int target, double threshold, bool divided) {
  const int distance = b.call("abs", {b.call("sub", {x, target})});
  const int halfSquare = b.call("mul", {b.call("mul", {distance, distance}), constantLike(b, x, 0.5)});
  const int quadratic = divided ? b.call("div", {halfSquare, constantLike(b, x, threshold)}) : halfSquare;
  const int offset = b.call("sub", {distance, constantLike(b, x, 0.5 * threshold)});
  const int linear = divided ? offset : b.call("mul", {offset, constantLike(b, x, threshold)});
  return b.call("select", {b.call("lt", {distance, constantLike(b, x, threshold)}, Compute::Bool), quadratic, linear});
}

// (1 - target) * x + log(1 + exp(-x)), without the overflow of exp.
int crossEntropyOfLogit(RegionBuilder& b, int x, int target) {
  const int zero = constantLike(b, x, 0.0);
  const int exponential = b.call("exp", {b.call("neg", {b.call("abs", {x})})});
  const int rest = b.call("add", {b.call("log1p", {exponential}), b.call("max", {b.call("neg", {x}), zero})});
  const int linear = b.call("mul", {b.call("sub", {constantLike(b, x, 1.0), target}), x});
  return b.call("add", {linear, rest});
}

// Logarithms are at least -100, as PyTorch has them.
int crossEntropyOfProbability(RegionBuilder& b, int x, int target) {
  const int least = constantLike(b, x, -100.0);
  const int here = b.call("max", {b.call("log", {x}), least});
  const int otherwise = b.call("max", {b.call("log1p", {b.call("neg", {x})}), least});
  const int weight = b.call("sub", {target, constantLike(b, x, 1.0)});
  return b.call("sub", {b.call("mul", {weight, otherwise}), b.call("mul", {target, here})});
}

// With the arguments from 2 to `reduction`, which are weights, left to ATen.
LowerNode withoutWeights(std::size_t reduction, PairFormula formula) {
  return [reduction, lower = elementLoss(reduction, std::move(formula))](const NodeView& node, OperationSink& sink) {
    for (std::size_t i = 2; i < reduction; ++i) {
      if (node.has(i, i == 2 ? "weight" : "pos_weight")) {
        return;
      }
    }
    lower(node, sink);
  };
}

}  // namespace

void registerLosses(LoweringTable& table) {
  for (const auto& [name, kind] : {std::pair("aten.cross_entropy_loss.default", Scores::Logits),
                                   std::pair("aten.nll_loss_nd.default", Scores::Logarithms)}) {
    table[name] = [kind = kind](const NodeView& node, OperationSink& sink) { lowerCrossEntropy(node, sink, kind); };
  }
  table["aten.triplet_margin_loss.default"] = lowerTripletMargin;
  table["aten.mse_loss.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView&) {
    const int difference = b.call("sub", {x, target});
    return b.call("mul", {difference, difference});
  });
  table["aten.l1_loss.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView&) {
    return b.call("abs", {b.call("sub", {x, target})});
  });
  table["aten.smooth_l1_loss.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView& node) {
    return quadraticLinear(b, x, target, node.number(3, "beta").value_or(1.0), true);
  });
  table["aten.huber_loss.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView& node) {
    return quadraticLinear(b, x, target, node.number(3, "delta").value_or(1.0), false);
  });
  table["aten.binary_cross_entropy_with_logits.default"] = withoutWeights(
      4, [](RegionBuilder& b, int x, int target, const NodeView&) { return crossEntropyOfLogit(b, x, target); });
  table["aten.binary_cross_entropy.default"] = withoutWeights(
      3, [](RegionBuilder& b, int x, int target, const NodeView&) { return crossEntropyOfProbability(b, x, target); });
  table["aten.soft_margin_loss.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView&) {
    return b.call("log1p", {b.call("exp", {b.call("neg", {b.call("mul", {x, target})})})});
  });
  // target * (log(target) - x), with 0 where the target is 0.
  table["aten.kl_div.default"] = elementLoss(2, [](RegionBuilder& b, int x, int target, const NodeView& node) {
    if (node.flag(3, "log_target").value_or(false)) {
      return b.call("mul", {b.call("exp", {target}), b.call("sub", {target, x})});
    }
    const int zero = constantLike(b, x, 0.0);
    const int value = b.call("mul", {target, b.call("sub", {b.call("log", {target}), x})});
    return b.call("select", {b.call("gt", {target, zero}, Compute::Bool), value, zero});
  });
}

}  // namespace swage::synth
