// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "tests/fuzz/random_graph.h"

// Nodes that compute element by element.
namespace swage::fuzz {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 14> kActivations{
    "relu6", "selu",       "silu",     "mish",        "softplus",  "gelu",        "elu",
    "celu",  "leaky_relu", "hardtanh", "hardsigmoid", "hardswish", "log_sigmoid", "sigmoid"};
// Of an integer these give a float32.
constexpr std::array<std::string_view, 14> kElementary{"log2",  "log10", "exp",        "log",    "sqrt",
                                                       "rsqrt", "tanh",  "erf",        "sin",    "cos",
                                                       "log1p", "expm1", "reciprocal", "sigmoid"};
constexpr std::array<std::string_view, 9> kSameType{"sgn",   "neg",  "abs",    "floor", "ceil",
                                                    "trunc", "sign", "square", "relu"};
constexpr std::array<std::string_view, 8> kArithmetic{"add",      "sub",      "mul",    "div",
                                                      "subtract", "multiply", "divide", "rsub"};
constexpr std::array<std::string_view, 6> kComparisons{"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::array<std::string_view, 4> kExtrema{"maximum.default", "minimum.default", "max.other", "min.other"};
constexpr std::array<std::string_view, 4> kLogical{"logical_and.default", "logical_or.default", "bitwise_and.Tensor",
                                                   "bitwise_or.Tensor"};
constexpr std::array<std::string_view, 4> kCopies{"clone", "contiguous", "alias", "detach"};

std::string aten(std::string_view name, std::string_view overload = "default") {
  return "aten." + std::string(name) + "." + std::string(overload);
}

ScalarType floatOf(ScalarType type) {
  return domain::isFloating(type) ? type : ScalarType::Float32;
}

bool hasPoles(std::string_view name) {
  return name.starts_with("log") || name == "sqrt" || name == "rsqrt" || name == "reciprocal";
}

// |x| + 0.5, so that what follows is a number. Seldom not: a NaN hides whatever is wrong behind it.
ValueId positive(GraphDraft& draft, ValueId x) {
  GraphWriter& w = draft.writer();
  if (draft.random().chance(0.1)) {
    return x;
  }
  const Shape shape = w.shape(x);
  const ValueId magnitude = w.call("aten.abs.default", {arg(x)}, shape, w.dtype(x));
  const ScalarType sum = w.dtype(x) == ScalarType::Bool ? ScalarType::Float32 : floatOf(w.dtype(x));
  return w.call("aten.add.Tensor", {arg(magnitude), arg(0.5)}, shape, sum);
}

bool addActivation(GraphDraft& draft) {
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  GraphWriter& w = draft.writer();
  Random& random = draft.random();
  const std::string_view name = random.pick(Names(kActivations));
  Arguments arguments{arg(*x)};
  Keywords keywords;
  if (random.chance(0.5)) {
    if (name == "gelu") {
      keywords.emplace_back("approximate", arg(std::string("tanh")));
    } else if (name == "softplus" || name == "elu") {
      arguments.push_back(arg(random.chance(0.5) ? 2.0 : 0.7));
    } else if (name == "leaky_relu" || name == "celu") {
      arguments.push_back(arg(random.chance(0.5) ? 0.2 : 1.5));
    } else if (name == "hardtanh") {
      arguments.push_back(arg(-0.5));
      arguments.push_back(arg(random.chance(0.5) ? 2.0 : -0.5));
    }
  }
  const Shape shape = w.shape(*x);
  draft.keep(w.call(aten(name), std::move(arguments), shape, w.dtype(*x), std::move(keywords)));
  return true;
}

bool addElementary(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::string_view name = draft.random().pick(Names(kElementary));
  ValueId x = draft.any();
  if (hasPoles(name)) {
    x = positive(draft, x);
  }
  const Shape shape = w.shape(x);
  draft.keep(w.call(aten(name), {arg(x)}, shape, floatOf(w.dtype(x))));
  return true;
}

bool addSameType(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  if (w.dtype(x) == ScalarType::Bool) {
    const std::string_view name = draft.random().chance(0.5) ? "logical_not" : "bitwise_not";
    const Shape shape = w.shape(x);
    draft.keep(w.call(aten(name), {arg(x)}, shape, ScalarType::Bool));
    return true;
  }
  const Shape shape = w.shape(x);
  draft.keep(w.call(aten(draft.random().pick(Names(kSameType))), {arg(x)}, shape, w.dtype(x)));
  return true;
}

Argument numberFor(GraphDraft& draft, ScalarType type) {
  const double number = draft.number();
  const bool isWhole = number == -1.0 || number == 1.0 || number == 2.0 || number == 3.0 || number == 0.0;
  if (isIntegral(type) || type == ScalarType::Bool || (isWhole && draft.random().chance(0.3))) {
    return arg(isWhole ? static_cast<std::int64_t>(number) : std::int64_t{2});
  }
  return arg(number);
}

bool addWithNumber(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  const ScalarType type = w.dtype(x);
  if (type == ScalarType::Bool) {
    return false;
  }
  const Shape shape = w.shape(x);
  const Argument number = numberFor(draft, type);
  switch (draft.random().below(5)) {
    case 0: draft.keep(w.call("aten.clamp_min.default", {arg(x), number}, shape, type)); break;
    case 1: draft.keep(w.call("aten.clamp_max.default", {arg(x), number}, shape, type)); break;
    case 2: draft.keep(w.call("aten.clamp.default", {arg(x), noArg(), number}, shape, type)); break;
    case 3: draft.keep(w.call("aten.clamp.default", {arg(x), number, numberFor(draft, type)}, shape, type)); break;
    default: {
      constexpr std::array<double, 5> exponents{2.0, 3.0, 0.5, -1.0, 1.5};
      const double exponent = draft.random().pick(std::span<const double>(exponents));
      const bool isFloat = domain::isFloating(type);
      const ValueId base = isFloat && exponent != 2.0 && exponent != 3.0 ? positive(draft, x) : x;
      const auto whole = static_cast<std::int64_t>(1 + draft.random().below(4));
      draft.keep(w.call("aten.pow.Tensor_Scalar", {arg(base), isFloat ? arg(exponent) : arg(whole)}, shape, type));
    }
  }
  return true;
}

// A number beside a tensor: what an integer becomes beside a fraction is a float32.
bool addArithmeticWithNumber(GraphDraft& draft, std::string_view name) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  const ScalarType type = w.dtype(x);
  if (type == ScalarType::Bool || (isIntegral(type) && name == "rsub")) {
    return false;
  }
  const Argument number = isIntegral(type) && draft.random().chance(0.7) ? arg(std::int64_t{2}) : arg(draft.number());
  const bool isFraction = std::holds_alternative<double>(number.value) || name == "div" || name == "divide";
  const Shape shape = w.shape(x);
  const std::string op = aten(name, name == "rsub" || draft.random().chance(0.3) ? "Scalar" : "Tensor");
  draft.keep(w.call(op, {arg(x), number}, shape, isFraction ? floatOf(type) : type));
  return true;
}

bool addArithmetic(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const std::string_view name = draft.random().pick(Names(kArithmetic));
  if (draft.random().chance(0.3)) {
    return addArithmeticWithNumber(draft, name);
  }
  const ValueId a = draft.any();
  const ValueId b = draft.partner(a);
  const auto shape = broadcast(w.shape(a), w.shape(b));
  ScalarType type = w.promoted(a, b);
  if (!shape || (type == ScalarType::Bool && name != "div" && name != "mul")) {
    return false;
  }
  const bool divides = name == "div" || name == "divide";
  ValueId divisor = b;
  if (divides) {
    type = floatOf(type);
    divisor = draft.random().chance(0.8) ? positive(draft, b) : b;
    type = promote(type, floatOf(w.promoted(a, divisor)));
  }
  Keywords keywords;
  const bool isSum = name == "add" || name == "sub" || name == "rsub";
  if (isSum && draft.random().chance(0.2)) {
    keywords.emplace_back("alpha", isIntegral(type) ? arg(std::int64_t{3}) : arg(0.5));
  }
  draft.keep(w.call(aten(name, "Tensor"), {arg(a), arg(divisor)}, *shape, type, std::move(keywords)));
  return true;
}

bool addPair(GraphDraft& draft, Names names, std::string_view overload, std::optional<ScalarType> result) {
  GraphWriter& w = draft.writer();
  const ValueId a = draft.any();
  const ValueId b = draft.partner(a);
  const auto shape = broadcast(w.shape(a), w.shape(b));
  if (!shape) {
    return false;
  }
  const std::string name(draft.random().pick(names));
  const std::string op = overload.empty() ? "aten." + name : aten(name, overload);
  draft.keep(w.call(op, {arg(a), arg(b)}, *shape, result.value_or(w.promoted(a, b))));
  return true;
}

bool addComparison(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  if (draft.random().chance(0.5)) {
    return addPair(draft, kComparisons, "Tensor", ScalarType::Bool);
  }
  const ValueId x = draft.any();
  const Shape shape = w.shape(x);
  const std::string op = aten(draft.random().pick(Names(kComparisons)), "Scalar");
  draft.keep(w.call(op, {arg(x), numberFor(draft, w.dtype(x))}, shape, ScalarType::Bool));
  return true;
}

bool addLogical(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const Shape shape = w.shape(draft.any());
  const ValueId a = draft.mask(shape);
  const ValueId b = draft.mask(shape);
  const auto joint = broadcast(w.shape(a), w.shape(b));
  if (!joint) {
    return false;
  }
  const std::string op = "aten." + std::string(draft.random().pick(Names(kLogical)));
  draft.keep(w.call(op, {arg(a), arg(b)}, *joint, ScalarType::Bool));
  return true;
}

bool addPower(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const auto x = draft.floating();
  const auto y = draft.floating();
  const auto shape = x && y ? broadcast(w.shape(*x), w.shape(*y)) : std::nullopt;
  if (!shape) {
    return false;
  }
  const ValueId base = positive(draft, *x);
  const Shape exponentShape = w.shape(*y);
  const ValueId exponent = w.call("aten.tanh.default", {arg(*y)}, exponentShape, w.dtype(*y));
  draft.keep(w.call("aten.pow.Tensor_Tensor", {arg(base), arg(exponent)}, *shape, w.promoted(base, exponent)));
  return true;
}

// Of several floats of one type, each broadcast against the others.
bool addSeveral(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const auto x = draft.floating();
  if (!x) {
    return false;
  }
  const ScalarType type = w.dtype(*x);
  const Shape whole = w.shape(*x);
  const auto other = [&] { return w.input(whole, type, {Draw::Kind::Positive, 1, 2}, true); };
  switch (draft.random().below(7)) {
    case 0:
      draft.keep(
          w.call("aten.addcmul.default", {arg(*x), arg(other()), arg(other())}, whole, type, {{"value", arg(0.5)}}));
      return true;
    case 1: draft.keep(w.call("aten.addcdiv.default", {arg(*x), arg(other()), arg(other())}, whole, type)); return true;
    case 2:
      draft.keep(w.call("aten.lerp.Scalar", {arg(*x), arg(other()), arg(draft.random().chance(0.5) ? 0.25 : 0.75)},
                        whole, type));
      return true;
    case 3: draft.keep(w.call("aten.lerp.Tensor", {arg(*x), arg(other()), arg(other())}, whole, type)); return true;
    case 4: draft.keep(w.call("aten.logaddexp.default", {arg(*x), arg(other())}, whole, type)); return true;
    case 5: draft.keep(w.call("aten.clamp.Tensor", {arg(*x), noArg(), arg(other())}, whole, type)); return true;
    default: break;
  }
  const Shape slopes{whole.size() < 2 || draft.random().chance(0.5) ? 1 : whole[1]};
  const ValueId weight = w.input(slopes, type, {Draw::Kind::Positive, 0, 1}, false);
  draft.keep(w.call("aten.prelu.default", {arg(*x), arg(weight)}, whole, type));
  return true;
}

bool addSelection(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId a = draft.any();
  if (const auto x = draft.floating(); x && draft.random().chance(0.2)) {
    const Shape shape = w.shape(*x);
    const ValueId mask = draft.mask(shape);
    const Argument number = numberFor(draft, w.dtype(*x));
    const bool isFirst = draft.random().chance(0.5);
    draft.keep(isFirst ? w.call("aten.where.ScalarSelf", {arg(mask), number, arg(*x)}, shape, w.dtype(*x))
                       : w.call("aten.where.ScalarOther", {arg(mask), arg(*x), number}, shape, w.dtype(*x)));
    return true;
  }
  if (draft.random().chance(0.4)) {
    const Shape shape = w.shape(a);
    const ValueId mask = draft.mask(shape);
    const Argument number = numberFor(draft, w.dtype(a));
    draft.keep(w.call("aten.masked_fill.Scalar", {arg(a), arg(mask), number}, shape, w.dtype(a)));
    return true;
  }
  const ValueId b = draft.partner(a);
  const auto shape = broadcast(w.shape(a), w.shape(b));
  if (!shape) {
    return false;
  }
  const ValueId mask = draft.mask(*shape);
  draft.keep(w.call("aten.where.self", {arg(mask), arg(a), arg(b)}, *shape, w.promoted(a, b)));
  return true;
}

bool addCopy(GraphDraft& draft) {
  GraphWriter& w = draft.writer();
  const ValueId x = draft.any();
  const Shape shape = w.shape(x);
  switch (draft.random().below(3)) {
    case 0: draft.keep(w.call(aten(draft.random().pick(Names(kCopies))), {arg(x)}, shape, w.dtype(x))); return true;
    case 1:
      draft.keep(w.call("aten.dropout.default", {arg(x), arg(0.5), arg(false)}, shape, w.dtype(x)));
      return domain::isFloating(w.dtype(x));
    default: break;
  }
  constexpr std::array<ScalarType, 7> types{ScalarType::Float32,  ScalarType::Float64, ScalarType::Float16,
                                            ScalarType::BFloat16, ScalarType::Int64,   ScalarType::Int32,
                                            ScalarType::Bool};
  const ScalarType to = draft.random().pick(std::span<const ScalarType>(types));
  if (draft.random().chance(0.5)) {
    draft.keep(w.call("aten._to_copy.default", {arg(x)}, shape, to, {{"dtype", arg(to)}}));
  } else {
    draft.keep(w.call("aten.to.dtype", {arg(x), arg(to)}, shape, to));
  }
  return true;
}

}  // namespace

bool addPointwise(GraphDraft& draft) {
  switch (draft.random().below(16)) {
    case 0:
    case 1:
    case 2: return addActivation(draft);
    case 3:
    case 4: return addElementary(draft);
    case 5: return addSameType(draft);
    case 6: return addWithNumber(draft);
    case 7:
    case 8:
    case 9:
    case 10: return addArithmetic(draft);
    case 11: return addPair(draft, kExtrema, {}, std::nullopt);
    case 12: return addComparison(draft);
    case 13: return draft.random().chance(0.5) ? addLogical(draft) : addPower(draft);
    case 14: return draft.random().chance(0.5) ? addSeveral(draft) : addSelection(draft);
    default: return addCopy(draft);
  }
}

}  // namespace swage::fuzz
