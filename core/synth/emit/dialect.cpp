// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/dialect.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

struct Infix {
  std::string_view sign;
  Expression::Binding binding;
};

const Infix* infix(std::string_view function) {
  static const std::map<std::string_view, Infix> operators{
      {"add", {"+", Expression::Sum}},      {"sub", {"-", Expression::Sum}},      {"mul", {"*", Expression::Term}},
      {"div", {"/", Expression::Term}},     {"ratio", {"/", Expression::Term}},   {"lt", {"<", Expression::Relation}},
      {"le", {"<=", Expression::Relation}}, {"gt", {">", Expression::Relation}},  {"ge", {">=", Expression::Relation}},
      {"eq", {"==", Expression::Equality}}, {"ne", {"!=", Expression::Equality}}, {"and", {"&&", Expression::And}},
      {"or", {"||", Expression::Or}},       {"mod", {"%", Expression::Term}}};
  const auto found = operators.find(function);
  return found == operators.end() ? nullptr : &found->second;
}

// Functions of the C library: "exp" is expf of floats.
bool isLibrary(std::string_view function) {
  static const std::set<std::string_view> functions{"exp",   "log",  "tanh", "erf",   "sin",  "cos",  "log1p",
                                                    "expm1", "sqrt", "pow",  "floor", "ceil", "trunc"};
  return functions.count(function) != 0;
}

}  // namespace

const Dialect& Dialect::of(domain::Language language) {
  // g++ would call expf for each element instead of computing it in vectors, and glibc's expm1f in vectors is slower
  // than PyTorch's. nvcc writes a division with a branch to what looks after denormal numbers, and computes one element
  // after the other around such branches.
  static const std::map<domain::Language, Dialect> dialects{
      {domain::Language::Cpp, Dialect("", {"fastExp", "fastExpm1"})},
      {domain::Language::CudaCpp, Dialect("#pragma unroll", {"expf", "expm1f", "logistic", "invert", "divide"})}};
  const auto found = dialects.find(language);
  SWAGE_ASSERT(found != dialects.end());
  return found->second;
}

std::string_view Dialect::typeName(Compute type) const {
  switch (type) {
    case Compute::F32: return "float";
    case Compute::F64: return "double";
    case Compute::I64: return "long long";
    case Compute::Bool: return "bool";
  }
  return "float";
}

std::string_view Dialect::storageName(domain::ScalarType type) const {
  switch (type) {
    case domain::ScalarType::Bool: return "bool";
    case domain::ScalarType::UInt8: return "unsigned char";
    case domain::ScalarType::Int8: return "signed char";
    case domain::ScalarType::Int16: return "short";
    case domain::ScalarType::Int32: return "int";
    case domain::ScalarType::Int64: return "long long";
    case domain::ScalarType::Float16: return "Half";
    case domain::ScalarType::BFloat16: return "BFloat16";
    case domain::ScalarType::Float32: return "float";
    case domain::ScalarType::Float64: return "double";
  }
  return "float";
}

std::string Dialect::constant(double number, Compute type) const {
  const bool isSingle = type == Compute::F32;
  if (type == Compute::Bool) {
    return number != 0.0 ? "true" : "false";
  }
  if (type == Compute::I64) {
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  if (std::isnan(number)) {
    return isSingle ? "kNan" : "double(kNan)";
  }
  if (std::isinf(number)) {
    return fmt::format("{}{}", number < 0 ? "-" : "", isSingle ? "kInfinity" : "double(kInfinity)");
  }
  // The shortest decimal that reads as the same number.
  std::string text = isSingle ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text + (isSingle ? "f" : "");
}

Expression Dialect::math(std::string_view function, Compute type, const std::string& args) const {
  const bool isSingle = type == Compute::F32;
  if (function == "exp" && isSingle) {
    return {fmt::format("{}({})", m_floats.exponential, args)};
  }
  if (function == "expm1" && isSingle) {
    return {fmt::format("{}({})", m_floats.expm1, args)};
  }
  if (isLibrary(function)) {
    return {fmt::format("{}{}({})", function, isSingle ? "f" : "", args)};
  }
  if (function == "abs" && type != Compute::I64) {
    return {fmt::format("fabs{}({})", isSingle ? "f" : "", args)};
  }
  static const std::map<std::string_view, std::string_view> helpers{
      {"max", "maximum"}, {"min", "minimum"}, {"abs", "absolute"}, {"sign", "signOf"}};
  const auto helper = helpers.find(function);
  SWAGE_ASSERT(helper != helpers.end());
  // Of whole numbers the arguments may be of several types.
  return {
      fmt::format("{}{}({})", helper->second, type == Compute::I64 && function[0] == 'm' ? "<long long>" : "", args)};
}

std::optional<Expression> Dialect::ofFloats(std::string_view function, const std::vector<Expression>& args) const {
  if (function == "sigmoid" && !m_floats.sigmoid.empty()) {
    return Expression{fmt::format("{}({})", m_floats.sigmoid, args[0].text)};
  }
  if (function == "inverse" && !m_floats.inverse.empty()) {
    return Expression{fmt::format("{}({})", m_floats.inverse, args[0].text)};
  }
  if (function == "ratio" && !m_floats.ratio.empty()) {
    return Expression{fmt::format("{}({}, {})", m_floats.ratio, args[0].text, args[1].text)};
  }
  return std::nullopt;
}

Expression Dialect::call(std::string_view function, Compute type, const std::vector<Expression>& args) const {
  if (auto own = type == Compute::F32 ? ofFloats(function, args) : std::nullopt) {
    return *std::move(own);
  }
  if (const Infix* found = infix(function)) {
    return {fmt::format("{} {} {}", operand(args[0], found->binding), found->sign,
                        operand(args[1], found->binding, Side::Right)),
            found->binding};
  }
  if (function == "convert") {
    return {fmt::format("{}({})", type == Compute::I64 ? "(long long)" : typeName(type), args[0].text)};
  }
  if (function == "neg" || function == "not") {
    return {fmt::format("{}{}", function == "neg" ? "-" : "!", operand(args[0], Expression::Unary, Side::Right)),
            Expression::Unary};
  }
  if (function == "select") {
    return {fmt::format("{} ? {} : {}", operand(args[0], Expression::Or), operand(args[1], Expression::Or),
                        operand(args[2], Expression::Or)),
            Expression::Ternary};
  }
  const std::string one = constant(1.0, type);
  if (function == "reciprocal" || function == "inverse") {
    return {fmt::format("{} / {}", one, operand(args[0], Expression::Term, Side::Right)), Expression::Term};
  }
  if (function == "rsqrt") {
    return {fmt::format("{} / {}", one, math("sqrt", type, args[0].text).text), Expression::Term};
  }
  if (function == "sigmoid") {
    const std::string negative = "-" + operand(args[0], Expression::Unary, Side::Right);
    return {fmt::format("{0} / ({0} + {1})", one, math("exp", type, negative).text), Expression::Term};
  }
  std::string list;
  for (const Expression& arg : args) {
    list += (list.empty() ? "" : ", ") + arg.text;
  }
  return math(function, type, list);
}

Expression Dialect::loaded(std::string element, domain::ScalarType type) const {
  switch (type) {
    case domain::ScalarType::Float16:
    case domain::ScalarType::BFloat16: return {fmt::format("toFloat({})", element)};
    default: return {std::move(element)};
  }
}

std::string Dialect::stored(const Expression& value, Compute from, domain::ScalarType type) const {
  switch (type) {
    case domain::ScalarType::Float16: return fmt::format("toHalf({})", value.text);
    case domain::ScalarType::BFloat16: return fmt::format("toBFloat16({})", value.text);
    default: break;
  }
  return computeType(type) == from ? value.text : fmt::format("{}({})", storageName(type), value.text);
}

std::string operand(const Expression& inner, Expression::Binding outer, Side side) {
  const bool fits = side == Side::Left ? inner.binding >= outer : inner.binding > outer;
  return fits ? inner.text : "(" + inner.text + ")";
}

}  // namespace swage::synth
