// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit_scalar.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

// Functions that C++ writes as operators.
std::string_view infix(std::string_view function) {
  static const std::map<std::string_view, std::string_view> operators{
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"lt", "<"},   {"le", "<="},
      {"gt", ">"},  {"ge", ">="}, {"eq", "=="}, {"ne", "!="}, {"and", "&&"}, {"or", "||"}};
  const auto found = operators.find(function);
  return found == operators.end() ? std::string_view() : found->second;
}

std::string floatText(double number, Compute type) {
  if (std::isnan(number)) {
    return type == Compute::F64 ? "SWAGE_NAN" : "SWAGE_NANF";
  }
  if (std::isinf(number)) {
    return fmt::format("{}{}", number < 0 ? "-" : "", type == Compute::F64 ? "SWAGE_INFINITY" : "SWAGE_INFINITYF");
  }
  // Hexadecimal: exactly the rounded number, whatever the compiler does with decimals.
  if (type == Compute::F64) {
    return fmt::format("{:a}", number);
  }
  return fmt::format("{:a}f", static_cast<double>(static_cast<float>(number)));
}

const Fold& foldOf(const Region& program, int fold) {
  return program.folds[asIndex(fold)];
}

Compute inputType(const Region& program, int fold) {
  return program.prims[asIndex(foldOf(program, fold).input)].type;
}

// The type in which a fold keeps what it adds up.
std::string_view sumName(const Region& program, int fold) {
  const Compute type = inputType(program, fold);
  return foldOf(program, fold).kind == FoldKind::Sum && type == Compute::F32 ? kSumOfFloat : computeName(type);
}

std::string lowest(Compute type) {
  switch (type) {
    case Compute::F32: return "-SWAGE_INFINITYF";
    case Compute::F64: return "-SWAGE_INFINITY";
    case Compute::I64: return "SWAGE_INT_MIN";
    case Compute::Bool: return "false";
  }
  return "0";
}

std::string highest(Compute type) {
  switch (type) {
    case Compute::F32: return "SWAGE_INFINITYF";
    case Compute::F64: return "SWAGE_INFINITY";
    case Compute::I64: return "SWAGE_INT_MAX";
    case Compute::Bool: return "true";
  }
  return "0";
}

bool isArg(FoldKind kind) {
  return kind == FoldKind::ArgMaximum || kind == FoldKind::ArgMinimum;
}

// "s.r0_value[l]"
struct FieldNames {
  int fold;
  std::string_view state;
  std::string_view lane;
  [[nodiscard]] std::string operator()(std::string_view field) const {
    return fmt::format("{}.r{}_{}[{}]", state, fold, field, lane);
  }
};

}  // namespace

std::string_view computeName(Compute type) {
  switch (type) {
    case Compute::F32: return "float";
    case Compute::F64: return "double";
    case Compute::I64: return "I64";
    case Compute::Bool: return "bool";
  }
  return "float";
}

std::string constantText(const Prim& prim) {
  switch (prim.type) {
    case Compute::F32:
    case Compute::F64: return floatText(prim.number, prim.type);
    case Compute::I64: return fmt::format("I64({})", static_cast<std::int64_t>(prim.number));
    case Compute::Bool: return prim.number != 0.0 ? "true" : "false";
  }
  return "0";
}

ScalarWriter::ScalarWriter(const Region& program, const std::vector<int>& wanted) : ScalarWriter(program, wanted, -1) {}

ScalarWriter::ScalarWriter(const Region& program, const std::vector<int>& wanted, int kept)
    : m_program(program), m_kept(kept) {
  std::vector<bool> seen(program.prims.size(), false);
  for (const int prim : wanted) {
    collect(prim, seen);
  }
}

void ScalarWriter::collect(int prim, std::vector<bool>& seen) {
  const Prim& self = m_program.prims[asIndex(prim)];
  if (prim == m_kept || seen[asIndex(prim)] || !self.perElement || self.kind != Prim::Kind::Call) {
    return;  // loads, group values and constants are at hand
  }
  seen[asIndex(prim)] = true;
  for (const int arg : self.args) {
    collect(arg, seen);
  }
  m_order.push_back(prim);
}

std::string ScalarWriter::name(int prim) const {
  if (prim == m_kept) {
    return "kept";
  }
  const Prim& self = m_program.prims[asIndex(prim)];
  switch (self.kind) {
    case Prim::Kind::Constant: return constantText(self);
    case Prim::Kind::Index: return "I64(r)";
    case Prim::Kind::Coordinate: break;  // TemplateStrategy::checkForm
    case Prim::Kind::Load: return fmt::format("{}{}", self.perElement ? "e.x" : "q.g", prim);
    case Prim::Kind::Folded: return fmt::format("q.g{}", prim);
    case Prim::Kind::Call: return fmt::format("{}{}", self.perElement ? "v" : "q.g", prim);
  }
  return {};
}

std::string ScalarWriter::call(int prim, const std::function<std::string(int)>& argument) const {
  const Prim& self = m_program.prims[asIndex(prim)];
  SWAGE_ASSERT(self.kind == Prim::Kind::Call);
  const auto text = [&](std::size_t position) {
    const int arg = self.args[position];
    const Prim& operand = m_program.prims[asIndex(arg)];
    return operand.kind == Prim::Kind::Constant ? constantText(operand) : argument(arg);
  };
  if (self.function == "convert") {
    return fmt::format("{}({})", computeName(self.type), text(0));
  }
  if (self.function == "neg" || self.function == "not") {
    return fmt::format("({}{})", self.function == "neg" ? "-" : "!", text(0));
  }
  if (self.function == "select") {
    return fmt::format("({} ? {} : {})", text(0), text(1), text(2));
  }
  if (const std::string_view op = infix(self.function); !op.empty()) {
    return fmt::format("({} {} {})", text(0), op, text(1));
  }
  std::string args;
  for (std::size_t i = 0; i < self.args.size(); ++i) {
    args += fmt::format("{}{}", i == 0 ? "" : ", ", text(i));
  }
  return fmt::format("fn_{}({})", self.function, args);
}

std::string ScalarWriter::statements() const {
  std::string text;
  for (const int prim : m_order) {
    text += fmt::format("  const {} v{} = {};\n", computeName(m_program.prims[asIndex(prim)].type), prim,
                        call(prim, [this](int arg) { return name(arg); }));
  }
  return text;
}

std::vector<StateField> stateFields(const Region& program, int fold) {
  const std::string_view type = computeName(inputType(program, fold));
  const auto field = [&](std::string_view name, std::string_view fieldType) {
    return StateField{fmt::format("r{}_{}", fold, name), fieldType};
  };
  switch (foldOf(program, fold).kind) {
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: return {field("value", type), field("at", computeName(Compute::I64))};
    case FoldKind::Sum: return {field("value", sumName(program, fold))};
    case FoldKind::SoftmaxPair: return {field("max", type), field("sum", type)};
    case FoldKind::MomentPair: return {field("n", type), field("mean", type), field("m2", type)};
    default: return {field("value", type)};
  }
}

std::string stateIdentity(const Region& program, int fold, std::string_view state, std::string_view lane) {
  const FieldNames f{fold, state, lane};
  const Compute type = inputType(program, fold);
  switch (foldOf(program, fold).kind) {
    case FoldKind::Sum: return fmt::format("    {} = 0;", f("value"));
    case FoldKind::Product: return fmt::format("    {} = 1;", f("value"));
    case FoldKind::Maximum: return fmt::format("    {} = {};", f("value"), lowest(type));
    case FoldKind::Minimum: return fmt::format("    {} = {};", f("value"), highest(type));
    case FoldKind::ArgMaximum:
      return fmt::format("    {} = {}; {} = SWAGE_INT_MAX;", f("value"), lowest(type), f("at"));
    case FoldKind::ArgMinimum:
      return fmt::format("    {} = {}; {} = SWAGE_INT_MAX;", f("value"), highest(type), f("at"));
    case FoldKind::SoftmaxPair:
      // The lowest finite number, so that a first element of -infinity does not make infinity minus infinity.
      return fmt::format("    {} = {}; {} = 0;", f("max"), type == Compute::F64 ? "-SWAGE_MAX" : "-SWAGE_MAXF",
                         f("sum"));
    case FoldKind::MomentPair: return fmt::format("    {} = 0; {} = 0; {} = 0;", f("n"), f("mean"), f("m2"));
  }
  return {};
}

std::string stateAccumulate(const Region& program, int fold, std::string_view state, std::string_view lane,
                            std::string_view value) {
  const FieldNames f{fold, state, lane};
  const std::string_view type = computeName(inputType(program, fold));
  switch (foldOf(program, fold).kind) {
    case FoldKind::Sum: return fmt::format("  {} += {};", f("value"), value);
    case FoldKind::Product: return fmt::format("  {} *= {};", f("value"), value);
    case FoldKind::Maximum: return fmt::format("  {0} = fn_max({0}, {1});", f("value"), value);
    case FoldKind::Minimum: return fmt::format("  {0} = fn_min({0}, {1});", f("value"), value);
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: {
      const char* better = foldOf(program, fold).kind == FoldKind::ArgMaximum ? "isAbove" : "isBelow";
      return fmt::format(
          "  {{ const bool better = {0}({1}, I64(r), {2}, {3}); {2} = better ? {1} : {2}; "
          "{3} = better ? I64(r) : {3}; }}",
          better, value, f("value"), f("at"));
    }
    case FoldKind::SoftmaxPair:
      return fmt::format(
          "  {{ const {0} d = {1} - {2}; const {0} w = fn_weight(-fn_abs(d)); "
          "{3} = d > 0 ? {3} * w + 1 : {3} + w; {2} = fn_max({2}, {1}); }}",
          type, value, f("max"), f("sum"));
    case FoldKind::MomentPair:
      // Welford's update; `inverse` is 1 over the number of elements this lane has then seen, to the places of a float.
      if (inputType(program, fold) == Compute::F64) {
        return fmt::format("  {{ const double d = {} - {}; {} += 1; {} += d / {}; {} += d * ({} - {}); }}", value,
                           f("mean"), f("n"), f("mean"), f("n"), f("m2"), value, f("mean"));
      }
      return fmt::format("  {{ const {0} d = {1} - {2}; {3} += 1; {2} += d * inverse; {4} += d * ({1} - {2}); }}", type,
                         value, f("mean"), f("n"), f("m2"));
  }
  return {};
}

std::string stateMerge(const Region& program, int fold, std::string_view state, std::string_view lane,
                       std::string_view other, std::string_view otherLane) {
  const FieldNames a{fold, state, lane};
  const FieldNames b{fold, other, otherLane};
  const FoldKind kind = foldOf(program, fold).kind;
  const std::string_view type = computeName(inputType(program, fold));
  if (isArg(kind)) {
    return fmt::format(
        "    {{ const bool better = {0}({1}, {2}, {3}, {4}); {3} = better ? {1} : {3}; "
        "{4} = better ? {2} : {4}; }}",
        kind == FoldKind::ArgMaximum ? "isAbove" : "isBelow", b("value"), b("at"), a("value"), a("at"));
  }
  switch (kind) {
    case FoldKind::Sum: return fmt::format("    {} += {};", a("value"), b("value"));
    case FoldKind::Product: return fmt::format("    {} *= {};", a("value"), b("value"));
    case FoldKind::Maximum: return fmt::format("    {0} = fn_max({0}, {1});", a("value"), b("value"));
    case FoldKind::Minimum: return fmt::format("    {0} = fn_min({0}, {1});", a("value"), b("value"));
    case FoldKind::SoftmaxPair:
      return fmt::format(
          "    {{ const {0} m = fn_max({1}, {2}); {3} = {3} * fn_weight({1} - m) + {4} * fn_weight({2} - m); "
          "{1} = m; }}",
          type, a("max"), b("max"), a("sum"), b("sum"));
    case FoldKind::MomentPair:
      // Chan, Golub and LeVeque (1979).
      return fmt::format(
          "    {{ const {0} n = {1} + {2}; const {0} part = n > 0 ? fn_part({2}, n) : 0; "
          "const {0} d = {3} - {4}; {4} += d * part; {5} += {6} + d * d * {1} * part; {1} = n; }}",
          type, a("n"), b("n"), b("mean"), a("mean"), a("m2"), b("m2"));
    default: return {};
  }
}

std::vector<StateField> lostFields(const Region& program, int fold) {
  const Compute type = inputType(program, fold);
  if (type != Compute::F32 && type != Compute::F64) {
    return {};
  }
  const auto field = [&](std::string_view name) {
    return StateField{fmt::format("r{}_{}", fold, name), sumName(program, fold)};
  };
  switch (foldOf(program, fold).kind) {
    case FoldKind::Sum:
    case FoldKind::SoftmaxPair: return {field("lost")};
    case FoldKind::MomentPair: return {field("mean_lost"), field("m2_lost")};
    default: return {};
  }
}

std::string totalAdd(const Region& program, int fold, std::string_view total, std::string_view state,
                     std::string_view lane) {
  const std::string own = fmt::format("{}.s", total);
  if (lostFields(program, fold).empty()) {
    return stateMerge(program, fold, own, lane, state, lane);
  }
  const FieldNames a{fold, own, lane};
  const FieldNames b{fold, state, lane};
  const FieldNames t{fold, total, lane};
  const std::string_view type = sumName(program, fold);
  switch (foldOf(program, fold).kind) {
    case FoldKind::Sum:
      return fmt::format("    {{ const {0} sum = {1} + {2}; {3} += lostIn(sum, {1}, {2}); {1} = sum; }}", type,
                         a("value"), b("value"), t("lost"));
    case FoldKind::SoftmaxPair:
      return fmt::format(
          "    {{ const {0} m = fn_max({1}, {2}); const {0} w = fn_weight({1} - m); const {0} own = {3} * w; "
          "const {0} other = {4} * fn_weight({2} - m); const {0} sum = own + other; "
          "{5} = {5} * w + lostIn(sum, own, other); {3} = sum; {1} = m; }}",
          type, a("max"), b("max"), a("sum"), b("sum"), t("lost"));
    case FoldKind::MomentPair:
      // As when two states are merged.
      return fmt::format(
          "    {{ const {0} n = {1} + {2}; const {0} part = n > 0 ? fn_part({2}, n) : 0; "
          "const {0} d = {3} - {4} - {7}; const {0} step = d * part; const {0} mean = {4} + step; "
          "{7} += lostIn(mean, {4}, step); {4} = mean; const {0} more = {6} + d * d * {1} * part; "
          "const {0} m2 = {5} + more; {8} += lostIn(m2, {5}, more); {5} = m2; {1} = n; }}",
          type, a("n"), b("n"), b("mean"), a("mean"), a("m2"), b("m2"), t("mean_lost"), t("m2_lost"));
    default: return {};
  }
}

std::string totalSettle(const Region& program, int fold, std::string_view state, std::string_view total,
                        std::string_view lane) {
  const FieldNames s{fold, state, lane};
  const FieldNames t{fold, total, lane};
  const auto settle = [&](std::string_view field, std::string_view lost) {
    return fmt::format("    {0} = withLost({0}, {1});", s(field), t(lost));
  };
  if (lostFields(program, fold).empty()) {
    return {};
  }
  switch (foldOf(program, fold).kind) {
    case FoldKind::Sum: return settle("value", "lost");
    case FoldKind::SoftmaxPair: return settle("sum", "lost");
    case FoldKind::MomentPair: return settle("mean", "mean_lost") + "\n" + settle("m2", "m2_lost");
    default: return {};
  }
}

std::string stateResult(const Region& program, int fold, int slot, std::string_view state) {
  const FieldNames f{fold, state, "0"};
  switch (foldOf(program, fold).kind) {
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: return slot == 0 ? f("value") : f("at");
    case FoldKind::SoftmaxPair: return slot == 0 ? f("max") : f("sum");
    case FoldKind::MomentPair: return slot == 0 ? fmt::format("{} * {}", f("mean"), f("n")) : f("m2");
    default: return f("value");
  }
}

}  // namespace swage::synth
