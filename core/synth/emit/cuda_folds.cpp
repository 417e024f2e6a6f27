// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cuda_folds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <set>

#include "core/base/assert.h"

namespace swage::synth::cuda {
namespace {

bool isArg(FoldKind kind) {
  return kind == FoldKind::ArgMaximum || kind == FoldKind::ArgMinimum;
}
bool isPair(FoldKind kind) {
  return kind == FoldKind::SoftmaxPair || kind == FoldKind::MomentPair;
}

// What a fold finds, as a name.
std::string_view nameOf(FoldKind kind) {
  switch (kind) {
    case FoldKind::Sum: return "sum";
    case FoldKind::Product: return "product";
    case FoldKind::Maximum: return "largest";
    case FoldKind::Minimum: return "smallest";
    case FoldKind::SoftmaxPair: return "exponentials";
    case FoldKind::MomentPair: return "moments";
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: return "best";
  }
  return "found";
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The first value of a maximum (or of a minimum).
std::string edge(const Dialect& dialect, Compute type, bool isMaximum) {
  switch (type) {
    case Compute::I64: return isMaximum ? "-0x7fffffffffffffffLL - 1" : "0x7fffffffffffffffLL";
    case Compute::Bool: return isMaximum ? "0" : "1";
    default: return dialect.constant(isMaximum ? -kInfinite : kInfinite, type);
  }
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ", ") + item;
  }
  return text;
}

// exp of an argument of at most 0 that weighs a term of a sum: what counts is its error beside a weight of 1. That of
// __expf is 2 + |x| units in the last place of the result, which shrinks faster than |x| grows.
std::string weight(Compute type, const std::string& x) {
  return fmt::format("{}({})", type == Compute::F64 ? "exp" : "__expf", x);
}

// The same for a sum that joins others, which has been joined from others itself. Errors of __expf have one sign there
// (2e-8 on average for arguments in [-0.01, 0] on an H200; those of expf 1e-9), so they add up from join to join.
std::string weightOfSum(Compute type, const std::string& x) {
  return fmt::format("{}({})", type == Compute::F64 ? "exp" : "expf", x);
}

// For running means, where a unit in the last place more or less is lost in what is added: the division that takes two
// instructions.
std::string part(Compute type, const std::string& some, const std::string& all) {
  return type == Compute::F64 ? fmt::format("{} / {}", some, all) : fmt::format("__fdividef({}, {})", some, all);
}

}  // namespace

StageText::StageText(KernelWriter& writer, const Region& region, int stage, std::int64_t lanes)
    : m_writer(writer), m_region(region), m_lanes(lanes) {
  for (int i = 0; i < static_cast<int>(region.folds.size()); ++i) {
    if (fold(i).stage == stage) {
      m_folds.push_back(i);
      addFields(i);
    }
  }
  SWAGE_ASSERT(!m_folds.empty());
  m_name = writer.unique(m_folds.size() == 1 ? std::string(nameOf(fold(m_folds.front()).kind)) : "found");
  if (isNumber()) {
    const FoldKind kind = fold(m_folds.front()).kind;
    m_type = m_fields.front().type;
    m_none = m_fields.front().none;
    const std::string result = kind == FoldKind::Sum       ? "a + b"
                               : kind == FoldKind::Product ? "a * b"
                               : kind == FoldKind::Maximum ? "maximum(a, b)"
                                                           : "minimum(a, b)";
    m_join = fmt::format("[]({0} a, {0} b) {{ return {1}; }}", m_type, result);
    return;
  }
  m_type = writer.unique(capitalised(m_name));
  m_none = writer.unique("none");
  m_join = writer.unique("merged");
}

Compute StageText::computeOf(int index) const {
  return m_region.prims[static_cast<std::size_t>(fold(index).input)].type;
}

bool StageText::losesDigits(int index) const {
  const Compute type = computeOf(index);
  const FoldKind kind = fold(index).kind;
  return (type == Compute::F32 || type == Compute::F64) && (kind == FoldKind::Sum || isPair(kind));
}

bool StageText::losesDigits() const {
  return std::any_of(m_folds.begin(), m_folds.end(), [this](int index) { return losesDigits(index); });
}

bool StageText::needsInverse() const {
  return std::any_of(m_folds.begin(), m_folds.end(), [this](int index) {
    return fold(index).kind == FoldKind::MomentPair && computeOf(index) == Compute::F32;
  });
}

bool StageText::needsPlace() const {
  return std::any_of(m_folds.begin(), m_folds.end(), [this](int index) { return isArg(fold(index).kind); });
}

std::vector<int> StageText::inputs() const {
  std::vector<int> inputs;
  std::transform(m_folds.begin(), m_folds.end(), std::back_inserter(inputs),
                 [this](int index) { return fold(index).input; });
  return inputs;
}

void StageText::addField(int index, const std::string& role, const std::string& wanted, std::string type,
                         std::string none) {
  std::string name = wanted;
  const auto isTaken = [&](const Field& field) { return field.name == name; };
  for (int number = 2; std::any_of(m_fields.begin(), m_fields.end(), isTaken); ++number) {
    name = fmt::format("{}{}", wanted, number);
  }
  m_fields.push_back({index, role, name, std::move(type), std::move(none)});
}

void StageText::addFields(int index) {
  const Dialect& dialect = m_writer.dialect();
  const Compute compute = computeOf(index);
  const std::string type(compute == Compute::Bool ? "int" : dialect.typeName(compute));
  const FoldKind kind = fold(index).kind;
  const std::string zero = dialect.constant(0.0, compute);
  switch (kind) {
    case FoldKind::Sum: addField(index, "value", "sum", type, zero); break;
    case FoldKind::Product: addField(index, "value", "product", type, dialect.constant(1.0, compute)); break;
    case FoldKind::Maximum: addField(index, "value", "largest", type, edge(dialect, compute, true)); break;
    case FoldKind::Minimum: addField(index, "value", "smallest", type, edge(dialect, compute, false)); break;
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum:
      addField(index, "value", "value", type, edge(dialect, compute, kind == FoldKind::ArgMaximum));
      addField(index, "place", "place", "long long", "0x7fffffffffffffffLL");
      break;
    case FoldKind::SoftmaxPair:
      // The lowest finite number, so that a first element of -infinity does not make infinity minus infinity.
      addField(index, "largest", "largest", type,
               compute == Compute::F64 ? "-1.7976931348623157e+308" : "-3.402823466e+38f");
      addField(index, "sum", "sum", type, zero);
      break;
    case FoldKind::MomentPair:
      addField(index, "n", "n", type, zero);
      addField(index, "mean", "mean", type, zero);
      addField(index, "m2", "m2", type, zero);
      break;
  }
}

const StageText::Field& StageText::field(int index, std::string_view role) const {
  const auto found = std::find_if(m_fields.begin(), m_fields.end(),
                                  [&](const Field& field) { return field.fold == index && field.role == role; });
  SWAGE_ASSERT(found != m_fields.end());
  return *found;
}

std::string StageText::in(const std::string& variable, int index, std::string_view role) const {
  return isNumber() ? variable : fmt::format("{}.{}", variable, field(index, role).name);
}

std::string StageText::joined(const std::string& a, const std::string& b) const {
  if (!isNumber()) {
    return fmt::format("{}({}, {})", m_join, a, b);
  }
  switch (fold(m_folds.front()).kind) {
    case FoldKind::Sum: return fmt::format("{} + {}", a, b);
    case FoldKind::Product: return fmt::format("{} * {}", a, b);
    case FoldKind::Maximum: return fmt::format("maximum({}, {})", a, b);
    default: return fmt::format("minimum({}, {})", a, b);
  }
}

std::string StageText::structComment() const {
  if (m_folds.size() > 1) {
    return "What is known of some elements.";
  }
  switch (fold(m_folds.front()).kind) {
    case FoldKind::SoftmaxPair:
      return "The largest of some elements x, and the sum of exp(x - largest) (Milakov and Gimelshein 2018).";
    case FoldKind::MomentPair:
      return "Number, mean and sum of squared deviations of some elements (Chan, Golub and LeVeque 1979).";
    default: return "The best of some elements, and where it was.";
  }
}

void StageText::define(Totals totals) {
  if (isNumber()) {
    return;
  }
  Code& code = m_writer.code();
  code.comment(structComment());
  code.open("struct {}", m_type);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < m_fields.size();) {
    std::vector<std::string> names;  // neighbours of one type
    const std::string& type = m_fields[i].type;
    for (; i < m_fields.size() && m_fields[i].type == type; ++i) {
      names.push_back(m_fields[i].name);
      values.push_back(m_fields[i].none);
    }
    code.line("{} {};", type, list(names));
  }
  code.close(";");
  code.line("const {} {} = {{{}}};", m_type, m_none, list(values));
  defineJoin();
  if (totals == Totals::Yes && losesDigits()) {
    defineTotal();
  }
}

void StageText::defineJoin() {
  Code& code = m_writer.code();
  code.open("const auto {0} = [](const {1}& a, const {1}& b)", m_join, m_type);
  std::vector<std::string> results;
  const KernelWriter::Scope outside = m_writer.scope();
  for (const int index : m_folds) {
    joinFields(index, results);
  }
  m_writer.leave(outside);
  code.line("return {}{{{}}};", m_type, list(results));
  code.close(";");
}

// One expression for each field of the fold.
void StageText::joinFields(int index, std::vector<std::string>& results) {
  Code& code = m_writer.code();
  const Compute compute = computeOf(index);
  const std::string_view type = m_writer.dialect().typeName(compute);
  const auto a = [&](std::string_view role) { return in("a", index, role); };
  const auto b = [&](std::string_view role) { return in("b", index, role); };
  switch (fold(index).kind) {
    case FoldKind::Sum: results.push_back(fmt::format("{} + {}", a("value"), b("value"))); break;
    case FoldKind::Product: results.push_back(fmt::format("{} * {}", a("value"), b("value"))); break;
    case FoldKind::Maximum: results.push_back(fmt::format("maximum({}, {})", a("value"), b("value"))); break;
    case FoldKind::Minimum: results.push_back(fmt::format("minimum({}, {})", a("value"), b("value"))); break;
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: {
      const std::string better = m_writer.unique("is_better");
      code.line("const bool {0} = isBetter({2} {1} {4}, {2}, {3}, {4}, {5});", better,
                fold(index).kind == FoldKind::ArgMaximum ? ">" : "<", b("value"), b("place"), a("value"), a("place"));
      results.push_back(fmt::format("{} ? {} : {}", better, b("value"), a("value")));
      results.push_back(fmt::format("{} ? {} : {}", better, b("place"), a("place")));
      break;
    }
    case FoldKind::SoftmaxPair: {
      const std::string largest = m_writer.unique("largest");
      code.line("const {} {} = maximum({}, {});", type, largest, a("largest"), b("largest"));
      results.push_back(largest);
      results.push_back(fmt::format("{} * {} + {} * {}", a("sum"), weightOfSum(compute, a("largest") + " - " + largest),
                                    b("sum"), weightOfSum(compute, b("largest") + " - " + largest)));
      break;
    }
    case FoldKind::MomentPair: {
      const std::string n = m_writer.unique("n");
      const std::string share = m_writer.unique("share");
      const std::string d = m_writer.unique("d");
      const std::string zero = m_writer.dialect().constant(0.0, compute);
      code.line("const {} {} = {} + {};", type, n, a("n"), b("n"));
      code.line("const {0} {1} = {2} > {3} ? {4} : {3};", type, share, n, zero, part(compute, b("n"), n));
      code.line("const {} {} = {} - {};", type, d, b("mean"), a("mean"));
      results.push_back(n);
      results.push_back(fmt::format("{} + {} * {}", a("mean"), d, share));
      results.push_back(fmt::format("{0} + ({1} + {2} * {2} * {3} * {4})", a("m2"), b("m2"), d, a("n"), share));
      break;
    }
  }
}

// Sums of many; each keeps what rounding took from it.
void StageText::defineTotal() {
  Code& code = m_writer.code();
  m_total = m_writer.unique("Total");
  code.comment("Many of them joined; ExactSum keeps what rounding takes from a sum.");
  code.open("struct {}", m_total);
  for (const Field& field : m_fields) {
    const bool isSum = losesDigits(field.fold) &&
                       (field.role == "value" || field.role == "sum" || field.role == "mean" || field.role == "m2");
    if (isSum) {
      code.line("ExactSum<{}> {};", field.type, field.name);
    } else {
      code.line("{} {} = {};", field.type, field.name, field.none);
    }
  }
  code.open("__device__ void add(const {}& b)", m_type);
  const KernelWriter::Scope outside = m_writer.scope();
  std::vector<std::string> settled;
  for (const int index : m_folds) {
    totalFields(index, settled);
  }
  m_writer.leave(outside);
  code.close();
  code.line("__device__ {0} settled() const {{ return {0}{{{1}}}; }}", m_type, list(settled));
  code.close(";");
}

// Statements of add(), and one expression of the settled state for each field.
void StageText::totalFields(int index, std::vector<std::string>& settled) {
  Code& code = m_writer.code();
  const Compute compute = computeOf(index);
  const std::string_view type = m_writer.dialect().typeName(compute);
  const FoldKind kind = fold(index).kind;
  const auto b = [&](std::string_view role) { return in("b", index, role); };
  const auto own = [&](std::string_view role) { return field(index, role).name; };
  if (!losesDigits(index)) {
    std::vector<std::string> results;
    if (isArg(kind)) {
      const std::string sign = kind == FoldKind::ArgMaximum ? ">" : "<";
      code.open("if (isBetter({1} {0} {3}, {1}, {2}, {3}, {4}))", sign, b("value"), b("place"), own("value"),
                own("place"));
      code.line("{} = {};", own("value"), b("value"));
      code.line("{} = {};", own("place"), b("place"));
      code.close();
      settled.push_back(own("value"));
      settled.push_back(own("place"));
      return;
    }
    const std::string name = own("value");
    const std::string value = kind == FoldKind::Sum       ? fmt::format("{} + {}", name, b("value"))
                              : kind == FoldKind::Product ? fmt::format("{} * {}", name, b("value"))
                              : kind == FoldKind::Maximum ? fmt::format("maximum({}, {})", name, b("value"))
                                                          : fmt::format("minimum({}, {})", name, b("value"));
    code.line("{} = {};", name, value);
    settled.push_back(name);
    return;
  }
  if (kind == FoldKind::Sum) {
    code.line("{}.add({});", own("value"), b("value"));
    settled.push_back(own("value") + ".settled()");
    return;
  }
  if (kind == FoldKind::SoftmaxPair) {
    const std::string next = m_writer.unique("larger");
    const std::string w = m_writer.unique("w");
    code.line("const {} {} = maximum({}, {});", type, next, own("largest"), b("largest"));
    code.line("const {} {} = {};", type, w, weightOfSum(compute, own("largest") + " - " + next));
    code.line("{0} = {{{0}.sum * {1}, {0}.lost * {1}}};", own("sum"), w);
    code.line("{}.add({} * {});", own("sum"), b("sum"), weightOfSum(compute, b("largest") + " - " + next));
    code.line("{} = {};", own("largest"), next);
    settled.push_back(own("largest"));
    settled.push_back(own("sum") + ".settled()");
    return;
  }
  const std::string all = m_writer.unique("both");
  const std::string share = m_writer.unique("share");
  const std::string d = m_writer.unique("d");
  const std::string zero = m_writer.dialect().constant(0.0, compute);
  code.line("const {} {} = {} + {};", type, all, own("n"), b("n"));
  code.line("const {0} {1} = {2} > {3} ? {4} : {3};", type, share, all, zero, part(compute, b("n"), all));
  code.line("const {0} {1} = {2} - {3}.sum - {3}.lost;", type, d, b("mean"), own("mean"));
  code.line("{}.add({} * {});", own("mean"), d, share);
  code.line("{0}.add({1} + {2} * {2} * {3} * {4});", own("m2"), b("m2"), d, own("n"), share);
  code.line("{} = {};", own("n"), all);
  settled.push_back(own("n"));
  settled.push_back(own("mean") + ".settled()");
  settled.push_back(own("m2") + ".settled()");
}

void StageText::declare() {
  if (m_lanes == 1) {
    m_writer.code().line("{} {} = {};", m_type, m_name, m_none);
    return;
  }
  const bool isZero = isNumber() && fold(m_folds.front()).kind == FoldKind::Sum;
  const std::string values = isZero ? "" : list(std::vector<std::string>(static_cast<std::size_t>(m_lanes), m_none));
  m_writer.code().line("{} {}[{}] = {{{}}};", m_type, m_name, m_lanes, values);
}

void StageText::clear() {
  std::string text;
  for (std::int64_t lane = 0; lane < m_lanes; ++lane) {
    text += m_lanes == 1 ? m_name + " = " : fmt::format("{}[{}] = ", m_name, lane);
  }
  m_writer.code().line("{}{};", text, m_none);
}

void StageText::accumulate(const std::string& lane, const std::string& inverse) {
  for (const int index : m_folds) {
    m_writer.mentionLine(fold(index).input);
    accumulateFold(index, m_name + lane, inverse);
  }
}

void StageText::accumulateFold(int index, const std::string& variable, const std::string& inverse) {
  Code& code = m_writer.code();
  const Compute compute = computeOf(index);
  const std::string_view type = m_writer.dialect().typeName(compute);
  const Expression x = m_writer.value(fold(index).input);
  const auto f = [&](std::string_view role) { return in(variable, index, role); };
  // What is used more than once has a name.
  const auto named = [&] {
    if (x.binding == Expression::Atom && x.text.find('(') == std::string::npos) {
      return x.text;
    }
    const std::string name = m_writer.unique("value");
    code.line("const {} {} = {};", type, name, x.text);
    return name;
  };
  const std::string zero = m_writer.dialect().constant(0.0, compute);
  const std::string one = m_writer.dialect().constant(1.0, compute);
  switch (fold(index).kind) {
    case FoldKind::Sum: code.line("{} += {};", f("value"), x.text); break;
    case FoldKind::Product: code.line("{} *= {};", f("value"), operand(x, Expression::Term)); break;
    case FoldKind::Maximum:
    case FoldKind::Minimum:
      code.line("{0} = {1}{2}({0}, {3});", f("value"), fold(index).kind == FoldKind::Maximum ? "maximum" : "minimum",
                compute == Compute::Bool  ? "<int>"
                : compute == Compute::I64 ? "<long long>"
                                          : "",
                x.text);
      break;
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: {
      const std::string value = named();
      const std::string here = m_writer.placeInFold().text;
      code.open("if (isBetter({0} {1} {2}, {0}, {3}, {2}, {4}))", value,
                fold(index).kind == FoldKind::ArgMaximum ? ">" : "<", f("value"), here, f("place"));
      code.line("{} = {};", f("value"), value);
      code.line("{} = {};", f("place"), here);
      code.close();
      break;
    }
    case FoldKind::SoftmaxPair: {
      const std::string value = named();
      const std::string d = m_writer.unique("d");
      const std::string w = m_writer.unique("w");
      code.line("const {} {} = {} - {};", type, d, value, f("largest"));
      code.line("const {} {} = {};", type, w,
                weight(compute, fmt::format("-fabs{}({})", compute == Compute::F64 ? "" : "f", d)));
      code.line("{0} = {1} > {2} ? {0} * {3} + {4} : {0} + {3};", f("sum"), d, zero, w, one);
      code.line("{0} = maximum({0}, {1});", f("largest"), value);
      break;
    }
    case FoldKind::MomentPair: {
      const std::string value = named();
      const std::string d = m_writer.unique("d");
      code.line("const {} {} = {} - {};", type, d, value, f("mean"));
      code.line("{} += {};", f("n"), one);
      // Welford's update; 1 over the number is good to the places of a float.
      if (compute == Compute::F64) {
        code.line("{} += {} / {};", f("mean"), d, f("n"));
      } else {
        code.line("{} += {} * {};", f("mean"), d, inverse);
      }
      code.line("{} += {} * ({} - {});", f("m2"), d, value, f("mean"));
      break;
    }
  }
}

// Lanes first, first + distance, …: the halves of them joined.
std::string StageText::pairwise(std::int64_t first, std::int64_t distance) const {
  if (distance >= m_lanes) {
    return fmt::format("{}[{}]", m_name, first);
  }
  const std::string left = pairwise(first, 2 * distance);
  const std::string right = pairwise(first + distance, 2 * distance);
  const bool isInfix =
      isNumber() && (fold(m_folds.front()).kind == FoldKind::Sum || fold(m_folds.front()).kind == FoldKind::Product);
  const bool isLeaf = 2 * distance >= m_lanes;
  return isInfix && !isLeaf ? joined("(" + left + ")", "(" + right + ")") : joined(left, right);
}

std::string StageText::lanesJoined() const {
  return m_lanes == 1 ? m_name : pairwise(0, 1);
}

std::string StageText::totalType() const {
  if (!losesDigits()) {
    return m_type;
  }
  return isNumber() ? fmt::format("ExactSum<{}>", m_type) : m_total;
}

void StageText::declareTotal(const std::string& name) {
  m_writer.code().line("{} {}{};", totalType(), name, losesDigits() ? "" : " = " + m_none);
}

void StageText::addToTotal(const std::string& total, const std::string& one) {
  if (losesDigits()) {
    m_writer.code().line("{}.add({});", total, one);
  } else {
    m_writer.code().line("{} = {};", total, joined(total, one));
  }
}

std::string StageText::settled(const std::string& total) const {
  return losesDigits() ? total + ".settled()" : total;
}

std::string StageText::resultName(const std::string& group) {
  return m_writer.unique(fmt::format("{}_{}", group, m_name));
}

// Whether it is the sum of a MomentPair over the number of its elements.
bool StageText::isMeanOf(int folded, const Prim& prim) const {
  if (prim.kind != Prim::Kind::Call || (prim.function != "mul" && prim.function != "div") || prim.args[0] != folded) {
    return false;
  }
  const Prim& scale = m_region.prims[static_cast<std::size_t>(prim.args[1])];
  const auto count = static_cast<double>(fold(m_region.prims[static_cast<std::size_t>(folded)].fold).count);
  return scale.kind == Prim::Kind::Constant && scale.number == (prim.function == "mul" ? 1.0 / count : count);
}

void StageText::bindResults(const std::string& found) {
  for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
    const Prim& self = m_region.prims[prim];
    if (self.kind != Prim::Kind::Folded || std::find(m_folds.begin(), m_folds.end(), self.fold) == m_folds.end()) {
      continue;
    }
    const auto f = [&](std::string_view role) { return in(found, self.fold, role); };
    Expression result;
    switch (fold(self.fold).kind) {
      case FoldKind::ArgMaximum:
      case FoldKind::ArgMinimum: result = {f(self.slot == 0 ? "value" : "place")}; break;
      case FoldKind::SoftmaxPair: result = {f(self.slot == 0 ? "largest" : "sum")}; break;
      case FoldKind::MomentPair:
        result = self.slot == 0 ? Expression{f("mean") + " * " + f("n"), Expression::Term} : Expression{f("m2")};
        for (std::size_t other = 0; self.slot == 0 && other < m_region.prims.size(); ++other) {
          if (isMeanOf(static_cast<int>(prim), m_region.prims[other])) {
            m_writer.bind(static_cast<int>(other), {f("mean")});
          }
        }
        break;
      default: result = {f("value")};
    }
    m_writer.bind(static_cast<int>(prim), std::move(result));
  }
}

}  // namespace swage::synth::cuda
