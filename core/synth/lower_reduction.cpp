// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/synth/lowering.h"

// Reductions over any dimensions, and the softmax family.
namespace swage::synth {
namespace {

using domain::ScalarType;
using domain::ValueId;

// The dimensions a reduction names; none or an empty list means all.
std::optional<std::vector<int>> reducedDims(const NodeView& node, ValueId input, std::size_t position,
                                            std::string_view keyword = "dim") {
  const std::size_t rank = node.type(input).shape.size();
  std::vector<int> dims;
  if (const auto named = node.integers(position, keyword); named && !named->empty()) {
    for (const std::int64_t dim : *named) {
      const int wrapped = wrapDim(dim, rank);
      if (wrapped < 0) {
        return std::nullopt;
      }
      dims.push_back(wrapped);
    }
  } else {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

bool isReducible(const domain::TensorType& type) {
  return domain::isFloating(type.dtype) && !type.shape.empty() && type.elementCount() > 0;
}

// A formula from the element to the results of the node, evaluated once for each group.
using GroupFormula = std::function<std::vector<int>(RegionBuilder&, int x)>;

struct ReductionSpec {
  ValueId input;
  std::vector<int> dims;
  RegionBuilder::KeepDims keep = RegionBuilder::KeepDims::No;
  GroupFormula formula;
};

void addReduction(const NodeView& node, OperationSink& sink, const ReductionSpec& spec) {
  if (!isReducible(node.type(spec.input))) {
    return;
  }
  Operation operation;
  operation.inputs = {spec.input};
  for (const ValueId result : node.node().outputs) {
    if (result.isValid()) {
      operation.outputs.push_back(result);
    }
  }
  operation.layout.space = node.type(spec.input).shape;
  operation.layout.reducedDims = spec.dims;
  operation.lower = [spec, results = node.node().outputs](RegionBuilder& builder) {
    auto x = builder.read(spec.input, builder.fullFrame());
    if (!x) {
      return false;
    }
    // A sum that is asked for in a wider type than its terms have is a sum in that type.
    if (results[0].isValid() && builder.type(results[0]).dtype == ScalarType::Float64) {
      x = builder.convert(*x, Compute::F64);
    }
    const std::vector<int> values = spec.formula(builder, *x);
    for (std::size_t i = 0; i < results.size() && i < values.size(); ++i) {
      if (results[i].isValid()) {
        builder.define(results[i], values[i], builder.reducedFrame(spec.keep));
      }
    }
    return true;
  };
  sink.add(std::move(operation));
}

RegionBuilder::KeepDims keepDims(const NodeView& node, std::size_t position) {
  return node.flag(position, "keepdim").value_or(false) ? RegionBuilder::KeepDims::Yes : RegionBuilder::KeepDims::No;
}

// Reductions whose signature is (input, dims, keepdim).
LowerNode overDims(GroupFormula formula) {
  return [formula = std::move(formula)](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto dims = input ? reducedDims(node, *input, 1) : std::nullopt;
    if (dims) {
      addReduction(node, sink, {*input, *dims, keepDims(node, 2), formula});
    }
  };
}

// Reductions over everything: (input).
LowerNode overAll(GroupFormula formula) {
  return [formula = std::move(formula)](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    if (!input) {
      return;
    }
    std::vector<int> dims(node.type(*input).shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    addReduction(node, sink, {*input, dims, RegionBuilder::KeepDims::No, formula});
  };
}

int meanOf(RegionBuilder& b, int x) {
  return b.over(b.reduce(FoldKind::Sum, x), static_cast<double>(b.reducedCount()));
}

GroupFormula single(FoldKind kind) {
  return [kind](RegionBuilder& b, int x) { return std::vector<int>{b.reduce(kind, x)}; };
}

GroupFormula valueAndIndex(FoldKind kind) {
  return [kind](RegionBuilder& b, int x) {
    const int value = b.reduce(kind, x);
    return std::vector<int>{value, b.secondResult(value, Compute::I64)};
  };
}

// max.dim and min.dim: the index is only followed where somebody reads it.
LowerNode extremum(FoldKind value, FoldKind valueWithIndex) {
  return [value, valueWithIndex](const NodeView& node, OperationSink& sink) {
    overDims(node.result(1).isValid() ? valueAndIndex(valueWithIndex) : single(value))(node, sink);
  };
}

GroupFormula indexOnly(FoldKind kind) {
  return [kind](RegionBuilder& b, int x) { return std::vector<int>{b.secondResult(b.reduce(kind, x), Compute::I64)}; };
}

GroupFormula mean() {
  return [](RegionBuilder& b, int x) { return std::vector<int>{meanOf(b, x)}; };
}

GroupFormula norm(double order) {
  return [order](RegionBuilder& b, int x) {
    const int magnitude = b.call("abs", {x});
    if (order == 2.0) {
      return std::vector<int>{b.call("sqrt", {b.reduce(FoldKind::Sum, b.call("mul", {x, x}))})};
    }
    if (order == 1.0) {
      return std::vector<int>{b.reduce(FoldKind::Sum, magnitude)};
    }
    return std::vector<int>{
        b.reduce(std::isinf(order) && order > 0 ? FoldKind::Maximum : FoldKind::Minimum, magnitude)};
  };
}

bool isPlainNorm(double order) {
  return order == 1.0 || order == 2.0 || std::isinf(order);
}

void lowerVectorNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const double order = node.number(1, "ord").value_or(2.0);
  const auto dims = input ? reducedDims(node, *input, 2) : std::nullopt;
  if (dims && isPlainNorm(order) && !node.has(4, "dtype")) {
    addReduction(node, sink, {*input, *dims, keepDims(node, 3), norm(order)});
  }
}

// norm.ScalarOpt_dim(input, p, dim, keepdim) and norm.Scalar(input, p).
void lowerNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const double order = node.number(1, "p").value_or(2.0);
  const auto dims = input ? reducedDims(node, *input, 2) : std::nullopt;
  if (dims && isPlainNorm(order)) {
    addReduction(node, sink, {*input, *dims, keepDims(node, 3), norm(order)});
  }
}

// var.correction(input, dim, *, correction, keepdim), var.dim(input, dim, unbiased, keepdim), and those that give the
// root of it or the mean as well.
LowerNode variance(bool root) {
  return [root](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto dims = input ? reducedDims(node, *input, 1) : std::nullopt;
    if (!dims) {
      return;
    }
    const bool isByFlag = std::string_view(node.node().op).ends_with(".dim");
    const double correction =
        isByFlag ? (node.flag(2, "unbiased").value_or(true) ? 1.0 : 0.0) : node.number(99, "correction").value_or(1.0);
    const RegionBuilder::KeepDims keep = keepDims(node, isByFlag ? 3 : 99);
    addReduction(node, sink, {*input, *dims, keep, [root, correction](RegionBuilder& b, int x) {
                                const int mean = meanOf(b, x);
                                // One number is its own mean, however x is rounded when it is computed twice.
                                const int centred = b.reducedCount() == 1
                                                        ? b.call("mul", {x, b.constant(0.0, b.typeOf(x))})
                                                        : b.call("sub", {x, mean});
                                const int sum = b.reduce(FoldKind::Sum, b.call("mul", {centred, centred}));
                                const double count = std::max(0.0, static_cast<double>(b.reducedCount()) - correction);
                                const int value = b.over(sum, count);
                                return std::vector<int>{root ? b.call("sqrt", {value}) : value, mean};
                              }});
  };
}

GroupFormula logSumExp() {
  return [](RegionBuilder& b, int x) {
    const int maximum = b.reduce(FoldKind::Maximum, x);
    const int sum = b.reduce(FoldKind::Sum, b.call("exp", {b.call("sub", {x, maximum})}));
    // Of an infinite maximum every difference is NaN, but it is the result.
    const int infinity = b.constant(std::numeric_limits<double>::infinity(), b.typeOf(x));
    const int isInfinite = b.call("eq", {b.call("abs", {maximum}), infinity}, Compute::Bool);
    const int value = b.call("add", {b.call("log", {sum}), maximum});
    return std::vector<int>{b.call("select", {isInfinite, maximum, value})};
  };
}

// --- softmax: one dimension is reduced and the result has the shape of the input -------------------------------------

enum class SoftmaxKind { Plain, Logarithm };

LowerNode softmax(SoftmaxKind kind) {
  return [kind](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto dim = node.integer(1, "dim");
    const ValueId result = node.result();
    if (!input || !dim || !isReducible(node.type(*input)) || !domain::isFloating(node.type(result).dtype)) {
      return;
    }
    const int wrapped = wrapDim(*dim, node.type(*input).shape.size());
    if (wrapped < 0) {
      return;
    }
    Operation operation;
    operation.inputs = {*input};
    operation.outputs = {result};
    operation.layout.space = node.type(*input).shape;
    operation.layout.reducedDims = {wrapped};
    operation.lower = [input = *input, result, kind](RegionBuilder& b) {
      auto x = b.read(input, b.fullFrame());
      if (!x) {
        return false;
      }
      if (b.type(result).dtype == domain::ScalarType::Float64) {
        x = b.convert(*x, Compute::F64);
      }
      const int shifted = b.call("sub", {*x, b.reduce(FoldKind::Maximum, *x)});
      const int exponential = b.call("exp", {shifted});
      const int sum = b.reduce(FoldKind::Sum, exponential);
      // One division for each row; the product is within an ulp of the quotient.
      const int value = kind == SoftmaxKind::Plain ? b.call("mul", {exponential, b.call("reciprocal", {sum})})
                                                   : b.call("sub", {shifted, b.call("log", {sum})});
      b.define(result, value, b.fullFrame());
      return true;
    };
    sink.add(std::move(operation));
  };
}

}  // namespace

void registerReductions(LoweringTable& table) {
  table["aten.sum.dim_IntList"] = overDims(single(FoldKind::Sum));
  table["aten.sum.default"] = overAll(single(FoldKind::Sum));
  table["aten.mean.dim"] = overDims(mean());
  table["aten.mean.default"] = overAll(mean());
  table["aten.prod.dim_int"] = overDims(single(FoldKind::Product));
  table["aten.prod.default"] = overAll(single(FoldKind::Product));
  table["aten.amax.default"] = overDims(single(FoldKind::Maximum));
  table["aten.amin.default"] = overDims(single(FoldKind::Minimum));
  table["aten.max.default"] = overAll(single(FoldKind::Maximum));
  table["aten.min.default"] = overAll(single(FoldKind::Minimum));
  table["aten.max.dim"] = extremum(FoldKind::Maximum, FoldKind::ArgMaximum);
  table["aten.min.dim"] = extremum(FoldKind::Minimum, FoldKind::ArgMinimum);
  table["aten.argmax.default"] = overDims(indexOnly(FoldKind::ArgMaximum));
  table["aten.argmin.default"] = overDims(indexOnly(FoldKind::ArgMinimum));
  table["aten.linalg_vector_norm.default"] = lowerVectorNorm;
  table["aten.norm.ScalarOpt_dim"] = lowerNorm;
  table["aten.norm.Scalar"] = lowerNorm;
  for (const char* name : {"aten.var.correction", "aten.var.dim", "aten.var_mean.correction", "aten.var_mean.dim"}) {
    table[name] = variance(false);
  }
  for (const char* name : {"aten.std.correction", "aten.std.dim", "aten.std_mean.correction", "aten.std_mean.dim"}) {
    table[name] = variance(true);
  }
  table["aten.logsumexp.default"] = overDims(logSumExp());
  table["aten.softmax.int"] = softmax(SoftmaxKind::Plain);
  table["aten._softmax.default"] = softmax(SoftmaxKind::Plain);
  table["aten.log_softmax.int"] = softmax(SoftmaxKind::Logarithm);
  table["aten._log_softmax.default"] = softmax(SoftmaxKind::Logarithm);
}

}  // namespace swage::synth
