// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/synth/lowering.h"
#include "core/synth/pointwise.h"

// Pointwise operators. Formulas are those of PyTorch's documentation of the module of the same name.
namespace swage::synth {
namespace {

using domain::ScalarType;
using domain::ValueId;

bool isSupported(ScalarType type) {
  return domain::isFloating(type) || type == ScalarType::Int64 || type == ScalarType::Int32 || type == ScalarType::Bool;
}

}  // namespace

void addPointwise(const NodeView& node, OperationSink& sink, const std::vector<ValueId>& operands,
                  PointwiseFormula formula) {
  const ValueId result = node.result();
  if (!result.isValid() || !isSupported(node.type(result).dtype)) {
    return;
  }
  for (const ValueId operand : operands) {
    if (!isSupported(node.type(operand).dtype)) {
      return;
    }
  }
  Operation operation;
  operation.inputs = operands;
  operation.outputs = {result};
  operation.layout.space = node.type(result).shape;
  operation.lower = [operands, result, formula = std::move(formula)](RegionBuilder& builder) {
    const auto frame = builder.frameFor(builder.type(result).shape, operands);
    if (!frame) {
      return false;
    }
    std::vector<int> scalars;
    for (const ValueId operand : operands) {
      const auto scalar = builder.read(operand, *frame);
      if (!scalar) {
        return false;
      }
      scalars.push_back(*scalar);
    }
    builder.define(result, formula(builder, scalars), *frame);
    return true;
  };
  sink.add(std::move(operation));
}

Compute computeOf(const NodeView& node) {
  return computeType(node.type(node.result()).dtype);
}

ScalarType typeOfResult(const NodeView& node) {
  return node.type(node.result()).dtype;
}

int constantLike(RegionBuilder& b, int x, double number) {
  return b.constant(number, b.typeOf(x));
}

double asStored(double number, ScalarType type) {
  struct Format {
    int digits;
    int leastExponent;  // of std::frexp, of a normal number
  };
  if ((type != ScalarType::Float16 && type != ScalarType::BFloat16) || !std::isfinite(number)) {
    return number;
  }
  const Format format = type == ScalarType::Float16 ? Format{11, -13} : Format{8, -125};
  int exponent = 0;
  std::frexp(number, &exponent);
  const int last = std::max(exponent, format.leastExponent) - format.digits;
  return std::ldexp(std::nearbyint(std::ldexp(number, -last)), last);
}
namespace {

// --- one tensor operand ---------------------------------------------------------------------------------------------

using UnaryFormula = std::function<int(RegionBuilder&, int x, const NodeView&)>;

// The node outlives every region built from it, because the graph does.
LowerNode unary(UnaryFormula formula) {
  return [formula = std::move(formula)](const NodeView& node, OperationSink& sink) {
    const auto x = node.tensor(0, "self");
    if (!x) {
      return;
    }
    const Compute compute = computeOf(node);
    addPointwise(node, sink, {*x}, [formula, node, compute](RegionBuilder& builder, const std::vector<int>& operands) {
      return formula(builder, builder.convert(operands[0], compute), node);
    });
  };
}

// Of integers: themselves.
LowerNode rounding(std::string_view function) {
  return unary([function](RegionBuilder& b, int x, const NodeView&) {
    return b.typeOf(x) == Compute::I64 ? x : b.call(function, {x});
  });
}

LowerNode simple(std::string_view function) {
  return unary([function](RegionBuilder& b, int x, const NodeView&) { return b.call(function, {x}); });
}

std::optional<double> boundAsStored(std::optional<double> number, ScalarType type) {
  return number ? std::optional(asStored(*number, type)) : std::nullopt;
}

int clampTo(RegionBuilder& b, int x, std::optional<double> low, std::optional<double> high) {
  int result = x;
  if (low) {
    result = b.call("max", {result, constantLike(b, x, *low)});
  }
  if (high) {
    result = b.call("min", {result, constantLike(b, x, *high)});
  }
  return result;
}

// Between two arguments of these names; what stands for those that are left out comes after them.
LowerNode clamping(const char* low, const char* high, std::optional<double> least = {},
                   std::optional<double> most = {}) {
  return unary([=](RegionBuilder& b, int x, const NodeView& node) {
    const auto from = node.number(1, low);
    const auto to = node.number(2, high);
    return clampTo(b, x, boundAsStored(from ? from : least, typeOfResult(node)),
                   boundAsStored(to ? to : most, typeOfResult(node)));
  });
}

int sigmoid(RegionBuilder& b, int x) {
  return b.call("sigmoid", {x});
}

int softplus(RegionBuilder& b, int x, double beta, double threshold) {
  const int scaled = beta == 1.0 ? x : b.call("mul", {x, constantLike(b, x, beta)});
  const int log = b.call("log1p", {b.call("exp", {scaled})});
  const int soft = beta == 1.0 ? log : b.call("div", {log, constantLike(b, x, beta)});
  const int linear = b.call("gt", {scaled, constantLike(b, x, threshold)}, Compute::Bool);
  return b.call("select", {linear, x, soft});
}

// x tanh(log(1 + e^x)): with u = e^x the hyperbolic tangent is n / (n + 2) of n = u^2 + 2 u. From 20 on it is 1.
int mish(RegionBuilder& b, int x) {
  const int power = b.call("exp", {clampTo(b, x, {}, 20.0)});
  const int n = b.call("mul", {power, b.call("add", {power, constantLike(b, x, 2.0)})});
  const int inverse = b.call("inverse", {b.call("add", {n, constantLike(b, x, 2.0)})});
  return b.call("mul", {x, b.call("mul", {n, inverse})});
}

int gelu(RegionBuilder& b, int x, bool tanhForm) {
  const int half = b.call("mul", {x, constantLike(b, x, 0.5)});
  if (!tanhForm) {
    const int erf = b.call("erf", {b.call("mul", {x, constantLike(b, x, std::numbers::sqrt2 / 2.0)})});
    return b.call("mul", {half, b.call("add", {erf, constantLike(b, x, 1.0)})});
  }
  const int cube = b.call("mul", {b.call("mul", {x, x}), x});
  const int inner = b.call("add", {x, b.call("mul", {cube, constantLike(b, x, 0.044715)})});
  const double scale = std::sqrt(2.0 / std::numbers::pi);
  const int tanh = b.call("tanh", {b.call("mul", {inner, constantLike(b, x, scale)})});
  return b.call("mul", {half, b.call("add", {tanh, constantLike(b, x, 1.0)})});
}

int elu(RegionBuilder& b, int x, double alpha, double scale, double inputScale) {
  const int positive = b.call("gt", {x, constantLike(b, x, 0.0)}, Compute::Bool);
  const int exponent = inputScale == 1.0 ? x : b.call("mul", {x, constantLike(b, x, inputScale)});
  const int negative = b.call("mul", {b.call("expm1", {exponent}), constantLike(b, x, alpha * scale)});
  const int linear = scale == 1.0 ? x : b.call("mul", {x, constantLike(b, x, scale)});
  return b.call("select", {positive, linear, negative});
}

// relu6(x + 3) / 6
int hardSigmoid(RegionBuilder& b, int x) {
  const int shifted = b.call("add", {x, constantLike(b, x, 3.0)});
  return b.call("div", {clampTo(b, shifted, 0.0, 6.0), constantLike(b, x, 6.0)});
}

void registerActivations(LoweringTable& table) {
  table["aten.relu.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return clampTo(b, x, 0.0, {}); });
  table["aten.relu6.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return clampTo(b, x, 0.0, 6.0); });
  table["aten.sigmoid.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return sigmoid(b, x); });
  table["aten.silu.default"] = unary([](RegionBuilder& b, int x, const NodeView&) {
    return b.call("mul", {x, sigmoid(b, x)});
  });
  table["aten.mish.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return mish(b, x); });
  table["aten.softplus.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    return softplus(b, x, node.number(1, "beta").value_or(1.0), node.number(2, "threshold").value_or(20.0));
  });
  table["aten.gelu.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    return gelu(b, x, node.text(1, "approximate").value_or("none") == "tanh");
  });
  table["aten.elu.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    return elu(b, x, node.number(1, "alpha").value_or(1.0), node.number(2, "scale").value_or(1.0),
               node.number(3, "input_scale").value_or(1.0));
  });
  table["aten.selu.default"] = unary([](RegionBuilder& b, int x, const NodeView&) {
    return elu(b, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0);
  });
  table["aten.celu.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    const double alpha = node.number(1, "alpha").value_or(1.0);
    return elu(b, x, alpha, 1.0, 1.0 / alpha);
  });
  table["aten.leaky_relu.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    const double slope = node.number(1, "negative_slope").value_or(0.01);
    const int positive = b.call("gt", {x, constantLike(b, x, 0.0)}, Compute::Bool);
    return b.call("select", {positive, x, b.call("mul", {x, constantLike(b, x, slope)})});
  });
  table["aten.hardtanh.default"] = clamping("min_val", "max_val", -1.0, 1.0);
  table["aten.hardsigmoid.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return hardSigmoid(b, x); });
  table["aten.hardswish.default"] = unary([](RegionBuilder& b, int x, const NodeView&) {
    return b.call("mul", {x, hardSigmoid(b, x)});
  });
  table["aten.log_sigmoid.default"] = unary([](RegionBuilder& b, int x, const NodeView&) {
    const int small = b.call("min", {x, constantLike(b, x, 0.0)});
    const int decay = b.call("exp", {b.call("neg", {b.call("abs", {x})})});
    return b.call("sub", {small, b.call("log1p", {decay})});
  });
}

// Integers to the power of small ones only: as products.
bool isPower(Compute type, double exponent) {
  constexpr double kLargest = 8.0;
  return type == Compute::F32 || type == Compute::F64 ||
         (exponent == std::floor(exponent) && exponent >= 1.0 && exponent <= kLargest);
}

int power(RegionBuilder& b, int x, double exponent) {
  if (exponent == 0.5) {
    return b.call("sqrt", {x});
  }
  if (exponent != 2.0 && exponent != 3.0 && b.typeOf(x) != Compute::I64) {
    return b.call("pow", {x, constantLike(b, x, exponent)});
  }
  int product = x;
  for (int done = 1; done < static_cast<int>(exponent); ++done) {
    product = b.call("mul", {product, x});
  }
  return product;
}

// That of another base, by the natural one.
LowerNode logarithm(double factor) {
  return unary([factor](RegionBuilder& b, int x, const NodeView&) {
    return b.call("mul", {b.call("log", {x}), constantLike(b, x, factor)});
  });
}

void registerElementary(LoweringTable& table) {
  for (const std::string_view name : {"neg", "abs", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "log1p",
                                      "expm1", "reciprocal", "sign"}) {
    table["aten." + std::string(name) + ".default"] = simple(name);
  }
  table["aten.square.default"] = unary([](RegionBuilder& b, int x, const NodeView&) { return b.call("mul", {x, x}); });
  table["aten.clamp.default"] = clamping("min", "max");
  table["aten.clamp_min.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    return clampTo(b, x, boundAsStored(node.number(1, "min"), typeOfResult(node)), {});
  });
  table["aten.clamp_max.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    return clampTo(b, x, {}, boundAsStored(node.number(1, "max"), typeOfResult(node)));
  });
  // What is not above the threshold is replaced; NaN stays.
  table["aten.threshold.default"] = unary([](RegionBuilder& b, int x, const NodeView& node) {
    const double edge = asStored(node.number(1, "threshold").value_or(0.0), typeOfResult(node));
    const double value = asStored(node.number(2, "value").value_or(0.0), typeOfResult(node));
    const int isBelow = b.call("le", {x, constantLike(b, x, edge)}, Compute::Bool);
    return b.call("select", {isBelow, constantLike(b, x, value), x});
  });
  table["aten.sgn.default"] = table["aten.sign.default"];
  table["aten.special_expit.default"] = table["aten.sigmoid.default"];
  table["aten.log2.default"] = logarithm(std::numbers::log2e);
  table["aten.log10.default"] = logarithm(std::numbers::log10e);
  table["aten.frac.default"] = unary([](RegionBuilder& b, int x, const NodeView&) {
    return b.typeOf(x) == Compute::I64 ? constantLike(b, x, 0.0) : b.call("sub", {x, b.call("trunc", {x})});
  });
  for (const std::string_view name : {"floor", "ceil", "trunc"}) {
    table["aten." + std::string(name) + ".default"] = rounding(name);
  }
  table["aten.pow.Tensor_Scalar"] = [](const NodeView& node, OperationSink& sink) {
    const double exponent = node.number(1, "exponent").value_or(1.0);
    if (isPower(computeOf(node), exponent)) {
      unary([exponent](RegionBuilder& b, int x, const NodeView&) { return power(b, x, exponent); })(node, sink);
    }
  };
  // Copies and conversions: only the stored type changes.
  for (const char* name : {"aten.clone.default", "aten.contiguous.default", "aten._to_copy.default", "aten.to.dtype",
                           "aten.alias.default", "aten.detach.default"}) {
    table[name] = unary([](RegionBuilder&, int x, const NodeView&) { return x; });
  }
  table["aten.logical_not.default"] =
      table["aten.bitwise_not.default"] = [](const NodeView& node, OperationSink& sink) {
        const auto x = node.tensor(0, "self");
        if (x && node.type(*x).dtype == ScalarType::Bool) {
          addPointwise(node, sink, {*x}, [](RegionBuilder& b, const std::vector<int>& operands) {
            return b.call("not", {operands[0]}, Compute::Bool);
          });
        }
      };
}

// --- two operands, each a tensor or a number ------------------------------------------------------------------------

using BinaryFormula = std::function<int(RegionBuilder&, int a, int b, const NodeView&)>;

// Comparisons compute in the type of their operands and give a truth value.
enum class BinaryKind { Arithmetic, Comparison };

// In which type two operands are compared: the wider of theirs.
Compute comparedAs(Compute a, Compute b) {
  for (const Compute type : {Compute::F64, Compute::F32, Compute::I64}) {
    if (a == type || b == type) {
      return type;
    }
  }
  return Compute::Bool;
}

// The same beside a number. No value: left to ATen, as an integer against a fraction is, which is rare.
std::optional<Compute> comparedAs(Compute a, double number) {
  constexpr double kLargestExact = 0x1.0p53;
  if (a == Compute::F32 || a == Compute::F64) {
    return a;
  }
  const bool isWhole = number == std::floor(number) && std::abs(number) < kLargestExact;
  return isWhole ? std::optional(Compute::I64) : std::nullopt;
}

LowerNode binary(BinaryFormula formula, BinaryKind kind = BinaryKind::Arithmetic) {
  return [formula = std::move(formula), kind](const NodeView& node, OperationSink& sink) {
    const auto a = node.tensor(0, "self");
    const auto b = node.tensor(1, "other");
    const auto bNumber = node.number(1, "other");
    if (!a || (!b && !bNumber)) {
      return;
    }
    Compute compute = computeOf(node);
    double number = bNumber.value_or(0.0);
    if (kind == BinaryKind::Comparison) {
      number = asStored(number, node.type(*a).dtype);
      const Compute left = computeType(node.type(*a).dtype);
      const auto compared =
          b ? std::optional(comparedAs(left, computeType(node.type(*b).dtype))) : comparedAs(left, *bNumber);
      if (!compared) {
        return;
      }
      compute = *compared;
    }
    std::vector<ValueId> operands{*a};
    if (b) {
      operands.push_back(*b);
    }
    addPointwise(node, sink, operands, [=](RegionBuilder& builder, const std::vector<int>& scalars) {
      const int left = builder.convert(scalars[0], compute);
      const int right = b ? builder.convert(scalars[1], compute) : builder.constant(number, compute);
      return formula(builder, left, right, node);
    });
  };
}

LowerNode arithmetic(std::string_view function) {
  return binary([function](RegionBuilder& b, int left, int right, const NodeView&) {
    return b.call(function, {left, right});
  });
}

// left + alpha * right, the form of add, sub and rsub.
LowerNode scaledSum(std::string_view function) {
  return binary([function](RegionBuilder& b, int left, int right, const NodeView& node) {
    const double alpha = node.number(2, "alpha").value_or(1.0);
    const int scaled = alpha == 1.0 ? right : b.call("mul", {right, constantLike(b, right, alpha)});
    return b.call(function, {left, scaled});
  });
}

LowerNode comparison(std::string function) {
  return binary(
      [function = std::move(function)](RegionBuilder& b, int left, int right, const NodeView&) {
        return b.call(function, {left, right}, Compute::Bool);
      },
      BinaryKind::Comparison);
}

void both(LoweringTable& table, const std::string& name, const LowerNode& lower) {
  table["aten." + name + ".Tensor"] = lower;
  table["aten." + name + ".Scalar"] = lower;
}

void registerBinary(LoweringTable& table) {
  both(table, "add", scaledSum("add"));
  both(table, "sub", scaledSum("sub"));
  both(table, "subtract", scaledSum("sub"));
  both(table, "mul", arithmetic("mul"));
  both(table, "multiply", arithmetic("mul"));
  both(table, "div", arithmetic("div"));
  both(table, "divide", arithmetic("div"));
  both(table, "true_divide", arithmetic("div"));
  both(table, "rsub", binary([](RegionBuilder& b, int left, int right, const NodeView& node) {
         const double alpha = node.number(2, "alpha").value_or(1.0);
         const int scaled = alpha == 1.0 ? left : b.call("mul", {left, constantLike(b, left, alpha)});
         return b.call("sub", {right, scaled});
       }));
  for (const char* name : {"aten.maximum.default", "aten.max.other"}) {
    table[name] = arithmetic("max");
  }
  for (const char* name : {"aten.minimum.default", "aten.min.other"}) {
    table[name] = arithmetic("min");
  }
  table["aten.pow.Tensor_Tensor"] = [](const NodeView& node, OperationSink& sink) {
    if (domain::isFloating(node.type(node.result()).dtype)) {
      arithmetic("pow")(node, sink);
    }
  };
  for (const std::string name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    both(table, name, comparison(name));
  }
  for (const std::string name : {"and", "or"}) {
    table["aten.logical_" + name + ".default"] =
        table["aten.bitwise_" + name + ".Tensor"] = [name](const NodeView& node, OperationSink& sink) {
          const auto a = node.tensor(0, "self");
          const auto b = node.tensor(1, "other");
          if (a && b && node.type(*a).dtype == ScalarType::Bool && node.type(*b).dtype == ScalarType::Bool) {
            addPointwise(node, sink, {*a, *b}, [name](RegionBuilder& builder, const std::vector<int>& scalars) {
              return builder.call(name, {scalars[0], scalars[1]}, Compute::Bool);
            });
          }
        };
  }
}

}  // namespace

void registerPointwise(LoweringTable& table) {
  registerActivations(table);
  registerElementary(table);
  registerBinary(table);
  // A dropout outside training, or with probability 0, is the identity.
  table["aten.dropout.default"] = [](const NodeView& node, OperationSink& sink) {
    if (node.number(1, "p") == 0.0 || node.flag(2, "train") == false) {
      unary([](RegionBuilder&, int x, const NodeView&) { return x; })(node, sink);
    }
  };
}

}  // namespace swage::synth
