// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>
#include <string>

#include "core/synth/lowering.h"
#include "core/synth/pointwise.h"

// Element-wise operators of more than two tensors, or of tensors and numbers in any place.
namespace swage::synth {
namespace {

using domain::ScalarType;
using domain::ValueId;

// --- several tensors ------------------------------------------------------------------------------------------------

// A formula of the first tensors of a node, in the type of its result. A node without one of them is left to ATen.
LowerNode ofTensors(std::size_t count,
                    std::function<int(RegionBuilder&, const std::vector<int>&, const NodeView&)> formula) {
  return [count, formula = std::move(formula)](const NodeView& node, OperationSink& sink) {
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < count; ++i) {
      const auto operand = node.tensor(i);
      if (!operand) {
        return;
      }
      operands.push_back(*operand);
    }
    if (!domain::isFloating(typeOfResult(node))) {
      return;
    }
    const Compute compute = computeOf(node);
    addPointwise(node, sink, operands, [=](RegionBuilder& builder, std::vector<int> scalars) {
      for (int& scalar : scalars) {
        scalar = builder.convert(scalar, compute);
      }
      return formula(builder, scalars, node);
    });
  };
}

// x + value * product, where `function` is that of the other two.
LowerNode addedTo(std::string_view function) {
  return ofTensors(3, [function](RegionBuilder& b, const std::vector<int>& of, const NodeView& node) {
    const double value = node.number(99, "value").value_or(1.0);
    const int made = b.call(function, {of[1], of[2]});
    return b.call("add", {of[0], value == 1.0 ? made : b.call("mul", {made, constantLike(b, made, value)})});
  });
}

// As PyTorch computes it: from the nearer end.
int interpolated(RegionBuilder& b, int from, int to, int weight) {
  const int one = constantLike(b, weight, 1.0);
  const int distance = b.call("sub", {to, from});
  const int near = b.call("add", {from, b.call("mul", {weight, distance})});
  const int far = b.call("sub", {to, b.call("mul", {distance, b.call("sub", {one, weight})})});
  const int isNear = b.call("lt", {b.call("abs", {weight}), constantLike(b, weight, 0.5)}, Compute::Bool);
  return b.call("select", {isNear, near, far});
}

// log(exp(x) + exp(y)); two equal infinities are that infinity.
int logAddExp(RegionBuilder& b, const std::vector<int>& of, const NodeView& /*node*/) {
  const int most = b.call("max", {of[0], of[1]});
  const int distance = b.call("abs", {b.call("sub", {of[0], of[1]})});
  const int sum = b.call("add", {most, b.call("log1p", {b.call("exp", {b.call("neg", {distance})})})});
  const int infinity = constantLike(b, most, std::numeric_limits<double>::infinity());
  const int isInfinite = b.call("eq", {b.call("abs", {most}), infinity}, Compute::Bool);
  return b.call("select", {isInfinite, most, sum});
}

// Between two tensors, of which one may be left out.
void lowerClampTensor(const NodeView& node, OperationSink& sink) {
  const auto x = node.tensor(0, "self");
  const auto low = node.tensor(1, "min");
  const auto high = node.tensor(2, "max");
  if (!x || (!low && !high)) {
    return;
  }
  std::vector<ValueId> operands{*x};
  for (const auto& edge : {low, high}) {
    if (edge) {
      operands.push_back(*edge);
    }
  }
  const Compute compute = computeOf(node);
  addPointwise(node, sink, operands, [compute, hasLow = low.has_value()](RegionBuilder& b, const std::vector<int>& of) {
    int value = b.convert(of[0], compute);
    for (std::size_t i = 1; i < of.size(); ++i) {
      value = b.call(i == 1 && hasLow ? "max" : "min", {value, b.convert(of[i], compute)});
    }
    return value;
  });
}

// Slopes of negative numbers: one, or one for each channel, of which dimension 1 has as many.
void lowerPrelu(const NodeView& node, OperationSink& sink) {
  const auto x = node.tensor(0, "self");
  const auto slopes = node.tensor(1, "weight");
  if (!x || !slopes || node.type(*slopes).dtype != node.type(*x).dtype || !domain::isFloating(node.type(*x).dtype)) {
    return;
  }
  const ValueId result = node.result();
  Operation operation;
  operation.inputs = {*x, *slopes};
  operation.outputs = {result};
  operation.layout.space = node.type(result).shape;
  operation.lower = [x = *x, slopes = *slopes, result](RegionBuilder& b) {
    const auto frame = b.frameFor(b.type(result).shape, {x});
    const bool areOfChannels = b.type(slopes).elementCount() > 1;
    if (!frame || (areOfChannels && (frame->size() < 2 || (*frame)[1].size() != 1 || (*frame)[1].front() < 0))) {
      return false;
    }
    RegionBuilder::Coordinate place;
    if (areOfChannels) {
      place.terms = {{(*frame)[1].front(), 1}};
    }
    const auto value = b.read(x, *frame);
    const auto slope = value ? b.readAt(slopes, std::vector(b.type(slopes).shape.size(), place)) : std::nullopt;
    if (!slope) {
      return false;
    }
    const int isPositive = b.call("gt", {*value, constantLike(b, *value, 0.0)}, Compute::Bool);
    b.define(result, b.call("select", {isPositive, *value, b.call("mul", {*slope, *value})}), *frame);
    return true;
  };
  sink.add(std::move(operation));
}

// --- selections -----------------------------------------------------------------------------------------------------

// Each of the two is a tensor or a number.
void lowerWhere(const NodeView& node, OperationSink& sink) {
  const auto condition = node.tensor(0, "condition");
  const auto a = node.tensor(1, "self");
  const auto b = node.tensor(2, "other");
  const double aNumber = asStored(node.number(1, "self").value_or(0.0), typeOfResult(node));
  const double bNumber = asStored(node.number(2, "other").value_or(0.0), typeOfResult(node));
  if (!condition || (!a && !node.number(1, "self")) || (!b && !node.number(2, "other")) ||
      node.type(*condition).dtype != ScalarType::Bool) {
    return;
  }
  std::vector<ValueId> operands{*condition};
  for (const auto& operand : {a, b}) {
    if (operand) {
      operands.push_back(*operand);
    }
  }
  const Compute compute = computeOf(node);
  addPointwise(node, sink, operands, [=](RegionBuilder& builder, const std::vector<int>& scalars) {
    const int left = a ? builder.convert(scalars[1], compute) : builder.constant(aNumber, compute);
    const int right = b ? builder.convert(scalars.back(), compute) : builder.constant(bNumber, compute);
    return builder.call("select", {scalars[0], left, right});
  });
}

void lowerMaskedFill(const NodeView& node, OperationSink& sink) {
  const auto x = node.tensor(0, "self");
  const auto mask = node.tensor(1, "mask");
  const auto number = node.number(2, "value");
  if (!x || !mask || !number || node.type(*mask).dtype != ScalarType::Bool) {
    return;
  }
  const double fill = asStored(*number, node.type(*x).dtype);
  addPointwise(node, sink, {*x, *mask}, [fill](RegionBuilder& builder, const std::vector<int>& scalars) {
    return builder.call("select", {scalars[1], constantLike(builder, scalars[0], fill), scalars[0]});
  });
}

}  // namespace

void registerSeveral(LoweringTable& table) {
  table["aten.addcmul.default"] = addedTo("mul");
  table["aten.addcdiv.default"] = addedTo("div");
  table["aten.lerp.Scalar"] = ofTensors(2, [](RegionBuilder& b, const std::vector<int>& of, const NodeView& node) {
    return interpolated(b, of[0], of[1], constantLike(b, of[0], node.number(2, "weight").value_or(0.0)));
  });
  table["aten.lerp.Tensor"] = ofTensors(3, [](RegionBuilder& b, const std::vector<int>& of, const NodeView&) {
    return interpolated(b, of[0], of[1], of[2]);
  });
  table["aten.logaddexp.default"] = ofTensors(2, logAddExp);
  table["aten.clamp.Tensor"] = lowerClampTensor;
  table["aten.prelu.default"] = lowerPrelu;
  for (const char* name : {"self", "ScalarSelf", "ScalarOther", "Scalar"}) {
    table[std::string("aten.where.") + name] = lowerWhere;
  }
  table["aten.masked_fill.Scalar"] = lowerMaskedFill;
}

}  // namespace swage::synth
