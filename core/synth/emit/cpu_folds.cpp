// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cpu_folds.h"

#include <algorithm>
#include <limits>

#include "core/base/assert.h"
#include "core/synth/region_shape.h"

namespace swage::synth {
namespace {

bool isArg(FoldKind kind) {
  return kind == FoldKind::ArgMaximum || kind == FoldKind::ArgMinimum;
}

// Whether the order in which much is added up matters to what is kept in the input's own type.
bool isLossy(FoldKind kind, Compute type) {
  return kind == FoldKind::SoftmaxPair || kind == FoldKind::MomentPair ||
         (kind == FoldKind::Sum && type == Compute::F64);
}

std::vector<std::string> arrayNames(FoldKind kind) {
  switch (kind) {
    case FoldKind::Sum: return {"sums"};
    case FoldKind::Product: return {"products"};
    case FoldKind::Maximum: return {"maxima"};
    case FoldKind::Minimum: return {"minima"};
    case FoldKind::SoftmaxPair: return {"maxima", "sums"};
    case FoldKind::MomentPair: return {"counts", "means", "squares"};
    default: return {"bests", "places"};
  }
}

std::vector<std::string> valueNames(FoldKind kind) {
  switch (kind) {
    case FoldKind::Sum: return {"sum"};
    case FoldKind::Product: return {"product"};
    case FoldKind::Maximum: return {"largest"};
    case FoldKind::Minimum: return {"smallest"};
    case FoldKind::SoftmaxPair: return {"largest", "sum"};
    case FoldKind::MomentPair: return {"count", "centre", "squared"};
    default: return {"best", "place"};
  }
}

std::string at(const std::string& array, const std::string& index) {
  return array + "[" + index + "]";
}

std::vector<std::string> at(std::vector<std::string> arrays, const std::string& index) {
  for (std::string& array : arrays) {
    array = at(array, index);
  }
  return arrays;
}

}  // namespace

LaneFolds::LaneFolds(KernelWriter& writer, const Region& region, int stage, Lanes lanes, std::int64_t steps)
    : m_writer(writer), m_code(writer.code()), m_region(region), m_lanes(std::move(lanes)) {
  for (std::size_t i = 0; i < region.folds.size(); ++i) {
    const Fold& fold = region.folds[i];
    if (fold.stage != stage) {
      continue;
    }
    State state;
    state.fold = &fold;
    state.index = static_cast<int>(i);
    state.type = region.prims[static_cast<std::size_t>(fold.input)].type;
    state.isLong = isLossy(fold.kind, state.type) && steps > kRun;
    m_hasRuns = m_hasRuns || state.isLong;
    m_countsSteps = m_countsSteps || (fold.kind == FoldKind::MomentPair && state.type == Compute::F32);
    name(state);
    m_states.push_back(std::move(state));
  }
  if (m_countsSteps) {
    m_steps = writer.unique("steps");
    m_inverse = writer.unique("inverse");
  }
}

void LaneFolds::name(State& state) {
  for (const std::string& array : arrayNames(state.fold->kind)) {
    state.parts.push_back(m_writer.unique(array));
    state.whole.push_back(state.isLong ? m_writer.unique("all_" + array) : state.parts.back());
  }
  if (state.isLong && state.type == Compute::F64) {
    const bool isMoments = state.fold->kind == FoldKind::MomentPair;
    state.lost.push_back(m_writer.unique(isMoments ? "lost_means" : "lost_sums"));
    if (isMoments) {
      state.lost.push_back(m_writer.unique("lost_squares"));
    }
  }
}

std::string LaneFolds::what() const {
  std::string text;
  for (const State& state : m_states) {
    text += text.empty() ? "" : ", ";
    switch (state.fold->kind) {
      case FoldKind::Sum: text += "sum"; break;
      case FoldKind::Product: text += "product"; break;
      case FoldKind::Maximum: text += "maximum"; break;
      case FoldKind::Minimum: text += "minimum"; break;
      case FoldKind::SoftmaxPair: text += "maximum, and sum of exponentials relative to it"; break;
      case FoldKind::MomentPair: text += "mean and squared deviations (Welford)"; break;
      case FoldKind::ArgMaximum: text += "maximum and its place"; break;
      case FoldKind::ArgMinimum: text += "minimum and its place"; break;
    }
  }
  return text;
}

Compute LaneFolds::fieldCompute(const State& state, std::size_t field, bool isPart) const {
  const bool isWide = state.isLong && !isPart;
  switch (state.fold->kind) {
    case FoldKind::Sum: return state.type == Compute::F32 ? Compute::F64 : state.type;
    case FoldKind::SoftmaxPair:
    case FoldKind::MomentPair: return isWide && field > 0 ? Compute::F64 : state.type;
    case FoldKind::ArgMaximum:
    case FoldKind::ArgMinimum: return field == 1 ? Compute::I64 : state.type;
    default: return state.type;
  }
}

std::string_view LaneFolds::fieldType(const State& state, std::size_t field, bool isPart) const {
  return m_writer.dialect().typeName(fieldCompute(state, field, isPart));
}

std::string LaneFolds::identity(const State& state, std::size_t field, Compute type) const {
  const Dialect& dialect = m_writer.dialect();
  const FoldKind kind = state.fold->kind;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case FoldKind::Product: return dialect.constant(1.0, type);
    case FoldKind::SoftmaxPair:
      // The lowest finite number, so that a first element of -infinity does not make infinity minus infinity.
      return field == 1             ? dialect.constant(0.0, type)
             : type == Compute::F64 ? dialect.constant(std::numeric_limits<double>::lowest(), type)
                                    : dialect.constant(std::numeric_limits<float>::lowest(), type);
    case FoldKind::Maximum:
    case FoldKind::ArgMaximum:
    case FoldKind::Minimum:
    case FoldKind::ArgMinimum: break;
    default: return dialect.constant(0.0, type);
  }
  if (field == 1) {
    return "0x7fffffffffffffffLL";
  }
  const bool isLowest = kind == FoldKind::Maximum || kind == FoldKind::ArgMaximum;
  switch (type) {
    case Compute::Bool: return isLowest ? "false" : "true";
    case Compute::I64: return isLowest ? "-0x7fffffffffffffffLL - 1" : "0x7fffffffffffffffLL";
    default: return dialect.constant(isLowest ? -kInfinity : kInfinity, type);
  }
}

void LaneFolds::declareArrays(const State& state, const Texts& names, bool isPart) {
  for (std::size_t field = 0; field < names.size(); ++field) {
    const Compute type = fieldCompute(state, field, isPart);
    const std::string first = identity(state, field, type);
    const bool isZero = first == m_writer.dialect().constant(0.0, type);
    m_code.line("{} {}[{}]{};", fieldType(state, field, isPart), names[field], m_lanes.count, isZero ? " = {}" : "");
    if (!isZero) {
      m_code.line("std::fill_n({}, {}, {});", names[field], m_lanes.count, first);
    }
  }
}

void LaneFolds::declare() {
  for (const State& state : m_states) {
    declareArrays(state, state.whole, !state.isLong);
    for (const std::string& lost : state.lost) {
      m_code.line("double {}[{}] = {{}};", lost, m_lanes.count);
    }
  }
  if (m_countsSteps && !m_hasRuns) {
    declareSteps();
  }
}

void LaneFolds::beginRun() {
  for (const State& state : m_states) {
    if (state.isLong) {
      declareArrays(state, state.parts, true);
    }
  }
  if (m_countsSteps) {
    declareSteps();
  }
}

// A row that fills its lanes once has two steps in one scope.
void LaneFolds::declareSteps() {
  m_code.line("int {} = 0;", m_steps);
  m_code.line("float {} = 1.0f;", m_inverse);
}

void LaneFolds::beginStep() {
  if (m_countsSteps) {
    m_code.line("{} = 1.0f / float(++{});", m_inverse, m_steps);
  }
}

void LaneFolds::accumulate() {
  std::vector<int> inputs;
  for (const State& state : m_states) {
    inputs.push_back(state.fold->input);
  }
  m_writer.compute(inputs);
  for (const State& state : m_states) {
    take(state);
  }
}

// One more element for the arrays of the run.
void LaneFolds::take(const State& state) {
  const FoldKind kind = state.fold->kind;
  const bool isNamed = isArg(kind) || kind == FoldKind::SoftmaxPair || kind == FoldKind::MomentPair;
  if (isNamed) {
    m_writer.define(state.fold->input);
  }
  const Dialect& dialect = m_writer.dialect();
  const Expression x = m_writer.value(state.fold->input);
  const std::string_view type = dialect.typeName(state.type);
  const Texts to = at(state.parts, m_lanes.lane);
  switch (kind) {
    case FoldKind::Sum: m_code.line("{} += {};", to[0], x.text); return;
    case FoldKind::Product: m_code.line("{} *= {};", to[0], operand(x, Expression::Term)); return;
    case FoldKind::Maximum:
    case FoldKind::Minimum: {
      const char* function = kind == FoldKind::Maximum ? "max" : "min";
      m_code.line("{} = {};", to[0], dialect.call(function, state.type, {{to[0]}, x}).text);
      return;
    }
    case FoldKind::SoftmaxPair: {
      const std::string above = m_writer.unique("above");
      const std::string weight = m_writer.unique("weight");
      const std::string size = dialect.call("abs", state.type, {{above}}).text;
      m_code.line("const {} {} = {} - {};", type, above, x.text, to[0]);
      m_code.line("const {} {} = {};", type, weight,
                  dialect.call("exp", state.type, {{"-" + size, Expression::Unary}}).text);
      m_code.line("{0} = {1} > 0 ? {0} * {2} + 1 : {0} + {2};", to[1], above, weight);
      m_code.line("{} = {};", to[0], dialect.call("max", state.type, {{to[0]}, x}).text);
      return;
    }
    case FoldKind::MomentPair: {
      const std::string off = m_writer.unique("off");
      m_code.line("const {} {} = {} - {};", type, off, x.text, to[1]);
      m_code.line("{} += 1;", to[0]);
      if (state.type == Compute::F32) {
        m_code.line("{} += {} * {};", to[1], off, m_inverse);
      } else {
        m_code.line("{} += {} / {};", to[1], off, to[0]);
      }
      m_code.line("{} += {} * ({} - {});", to[2], off, x.text, to[1]);
      return;
    }
    default: break;
  }
  merge(state, to, {x.text, operand(m_writer.placeInFold(), Expression::Sum)});
}

// Of folds that join two results in one way, whatever they are of.
void LaneFolds::merge(const State& state, const Texts& into, const Texts& from) {
  const Dialect& dialect = m_writer.dialect();
  const FoldKind kind = state.fold->kind;
  switch (kind) {
    case FoldKind::Sum: m_code.line("{} += {};", into[0], from[0]); return;
    case FoldKind::Product: m_code.line("{} *= {};", into[0], from[0]); return;
    case FoldKind::Maximum:
    case FoldKind::Minimum: {
      const char* function = kind == FoldKind::Maximum ? "max" : "min";
      m_code.line("{} = {};", into[0], dialect.call(function, state.type, {{into[0]}, {from[0]}}).text);
      return;
    }
    default: break;
  }
  SWAGE_ASSERT(isArg(kind));
  const std::string isNew = m_writer.unique("is_new");
  m_code.line("const bool {} = isBetter({} {} {}, {}, {}, {}, {});", isNew, from[0],
              kind == FoldKind::ArgMaximum ? ">" : "<", into[0], from[0], from[1], into[0], into[1]);
  m_code.line("{0} = {1} ? {2} : {0};", into[0], isNew, from[0]);
  m_code.line("{0} = {1} ? {2} : {0};", into[1], isNew, from[1]);
}

// What rounding takes from the sum goes to `lost` (Knuth 1969).
void LaneFolds::addCompensated(const std::string& whole, const std::string& part, const std::string& lost) {
  const std::string total = m_writer.unique("total");
  m_code.line("const double {} = {} + {};", total, whole, part);
  m_code.line("{} += lostIn({}, {}, {});", lost, total, whole, part);
  m_code.line("{} = {};", whole, total);
}

void LaneFolds::endRun(const std::string& lanes) {
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.pragma("#pragma omp simd");
  m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", m_lanes.lane, lanes);
  for (const State& state : m_states) {
    if (state.isLong) {
      addRun(state);
    }
  }
  m_code.close();
  m_writer.leave(outside);
}

void LaneFolds::addRun(const State& state) {
  const Dialect& dialect = m_writer.dialect();
  const Texts whole = at(state.whole, m_lanes.lane);
  const Texts part = at(state.parts, m_lanes.lane);
  const Texts lost = at(state.lost, m_lanes.lane);
  const std::string_view type = dialect.typeName(state.type);
  const auto weight = [&](const std::string& maximum, const std::string& largest) {
    return dialect.call("exp", state.type, {{maximum + " - " + largest, Expression::Sum}}).text;
  };
  if (state.fold->kind == FoldKind::Sum) {
    addCompensated(whole[0], part[0], lost[0]);
    return;
  }
  if (state.fold->kind == FoldKind::SoftmaxPair) {
    const std::string largest = m_writer.unique("largest");
    m_code.line("const {} {} = {};", type, largest, dialect.call("max", state.type, {{whole[0]}, {part[0]}}).text);
    m_code.line("{} *= {};", whole[1], weight(whole[0], largest));
    const std::string added = fmt::format("{} * {}", part[1], weight(part[0], largest));
    if (lost.empty()) {
      m_code.line("{} += {};", whole[1], added);
    } else {
      const std::string more = m_writer.unique("more");
      m_code.line("{} *= {};", lost[0], weight(whole[0], largest));
      m_code.line("const double {} = {};", more, added);
      addCompensated(whole[1], more, lost[0]);
    }
    m_code.line("{} = {};", whole[0], largest);
    return;
  }
  // Chan, Golub and LeVeque (1979).
  const std::string count = m_writer.unique("count");
  const std::string share = m_writer.unique("share");
  const std::string off = m_writer.unique("off");
  m_code.line("const {} {} = {} + {};", type, count, whole[0], part[0]);
  m_code.line("const {0} {1} = {2} > 0 ? {3} / {2} : 0;", type, share, count, part[0]);
  m_code.line("const double {} = {} - {}{};", off, part[1], whole[1], lost.empty() ? "" : " - " + lost[0]);
  const std::string squared = fmt::format("{0} + {1} * {1} * {2} * {3}", part[2], off, whole[0], share);
  if (lost.empty()) {
    m_code.line("{} += {} * {};", whole[1], off, share);
    m_code.line("{} += {};", whole[2], squared);
  } else {
    const std::string more = m_writer.unique("more");
    m_code.line("const double {} = {};", more, squared);
    const std::string step = m_writer.unique("step");
    m_code.line("const double {} = {} * {};", step, off, share);
    addCompensated(whole[1], step, lost[0]);
    addCompensated(whole[2], more, lost[1]);
  }
  m_code.line("{} = {};", whole[0], count);
}

// Gives totals what rounding has taken from them; one that has left the finite numbers has lost nothing.
void LaneFolds::settle() {
  bool isOpen = false;
  for (const State& state : m_states) {
    for (std::size_t i = 0; i < state.lost.size(); ++i) {
      if (!isOpen) {
        m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", m_lanes.lane, m_lanes.count);
        isOpen = true;
      }
      const std::string lost = at(state.lost[i], m_lanes.lane);
      const std::size_t field = state.fold->kind == FoldKind::Sum ? 0 : i + 1;
      m_code.line("{0} += {1} == {1} ? {1} : 0.0;", at(state.whole[field], m_lanes.lane), lost);
    }
  }
  if (isOpen) {
    m_code.close();
  }
}

void LaneFolds::joinInPairs() {
  std::vector<State*> states;
  for (State& state : m_states) {
    const bool isWide = state.fold->kind == FoldKind::Sum && state.type != Compute::F64;
    if (!isWide && state.fold->kind != FoldKind::SoftmaxPair && state.fold->kind != FoldKind::MomentPair) {
      states.push_back(&state);
      state.joined = at(state.whole, "0");
    }
  }
  const int lanes = std::stoi(m_lanes.count);
  if (states.empty() || lanes == 1) {
    return;
  }
  const KernelWriter::Scope outside = m_writer.scope();
  const std::string half = m_writer.unique("half");
  const std::string& lane = m_lanes.lane;
  m_code.open("for (int {0} = {1}; {0} > 0; {0} /= 2)", half, lanes / 2);
  m_code.pragma("#pragma omp simd");
  m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", lane, half);
  for (const State* state : states) {
    merge(*state, at(state->whole, lane), at(state->whole, lane + " + " + half));
  }
  m_code.close();
  m_code.close();
  m_writer.leave(outside);
}

bool LaneFolds::countsElements() const {
  return std::any_of(m_states.begin(), m_states.end(),
                     [](const State& state) { return state.fold->kind == FoldKind::MomentPair; });
}

void LaneFolds::join(const std::string& count, Found found) {
  settle();
  joinInPairs();
  for (State& state : m_states) {
    if (state.joined.empty()) {
      joinArrays(state, state.whole, m_lanes.count, m_lanes.lane, count, true, found);
    }
  }
}

// All of an array as one value. Sums and means are made in double, so their order does not matter.
void LaneFolds::joinArrays(State& state, const Texts& arrays, const std::string& bound, const std::string& index,
                           const std::string& count, bool inVectors, Found found) {
  const Dialect& dialect = m_writer.dialect();
  const FoldKind kind = state.fold->kind;
  Texts names;
  for (const std::string& value : valueNames(kind)) {
    names.push_back(m_writer.unique(value));
  }
  const bool isCompensated = kind == FoldKind::Sum && state.type == Compute::F64;
  const std::string lost = isCompensated ? m_writer.unique("lost") : "";
  const KernelWriter::Scope outside = m_writer.scope();
  const std::string& i = index;
  const Texts from = at(arrays, i);
  const auto open = [&](const char* reduction, const std::string& name) {
    if (inVectors) {
      m_code.pragma(fmt::format("#pragma omp simd reduction({} : {})", reduction, name));
    }
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", i, bound);
  };
  if (kind == FoldKind::SoftmaxPair) {
    m_code.line("{} {} = {};", dialect.typeName(state.type), names[0], identity(state, 0, state.type));
    open("max", names[0]);
    m_code.line("{} = {};", names[0], dialect.call("max", state.type, {{names[0]}, {from[0]}}).text);
    m_code.close();
    m_code.line("double {} = 0.0;", names[1]);
    open("+", names[1]);
    m_code.line("{} += {} * {};", names[1], from[1],
                dialect.call("exp", state.type, {{from[0] + " - " + names[0], Expression::Sum}}).text);
    m_code.close();
  } else if (kind == FoldKind::MomentPair) {
    m_code.line("double {} = 0.0;", names[1]);
    open("+", names[1]);
    m_code.line("{} += double({}) * {};", names[1], from[1], from[0]);
    m_code.close();
    m_code.line("{} /= {};", names[1], found == Found::Something ? count : fmt::format("std::max({}, 1.0)", count));
    m_code.line("double {} = 0.0;", names[2]);
    open("+", names[2]);
    const std::string off = m_writer.unique("off");
    m_code.line("const double {} = {} - {};", off, from[1], names[1]);
    m_code.line("{0} += {1} + {2} * {2} * {3};", names[2], from[2], off, from[0]);
    m_code.close();
    names[0] = count;
  } else {
    for (std::size_t field = 0; field < names.size(); ++field) {
      const Compute type = fieldCompute(state, field, false);
      m_code.line("{} {} = {};", dialect.typeName(type), names[field], identity(state, field, type));
    }
    if (isCompensated) {
      m_code.line("double {} = 0.0;", lost);
    }
    open("+", names[0]);
    if (isCompensated) {
      addCompensated(names[0], from[0], lost);
    } else {
      merge(state, names, from);
    }
    m_code.close();
    if (isCompensated) {
      m_code.line("{0} += {1} == {1} ? {1} : 0.0;", names[0], lost);
    }
  }
  m_writer.leave(outside);
  state.joined = names;
}

void LaneFolds::declareShared(std::int64_t threads) {
  for (State& state : m_states) {
    const Texts values = valueNames(state.fold->kind);
    state.shared.clear();
    for (std::size_t field = 0; field < values.size(); ++field) {
      const bool isWide =
          (state.fold->kind == FoldKind::SoftmaxPair && field == 1) || state.fold->kind == FoldKind::MomentPair;
      state.shared.push_back(m_writer.unique(values[field] + "_of"));
      m_code.line("{} {}[{}];", isWide ? "double" : fieldType(state, field, false), state.shared.back(), threads);
    }
  }
}

void LaneFolds::share(const std::string& thread) {
  for (const State& state : m_states) {
    for (std::size_t field = 0; field < state.shared.size(); ++field) {
      m_code.line("{} = {};", at(state.shared[field], thread), state.joined[field]);
    }
  }
}

void LaneFolds::joinShared(const std::string& threads, const std::string& count) {
  const std::string other = m_writer.unique("other");
  for (State& state : m_states) {
    joinArrays(state, state.shared, threads, other, count, false, Found::Something);
  }
}

std::string LaneFolds::single(const State& state, Compute field, const std::string& text) {
  return state.type == Compute::F32 && field == Compute::F64 ? "float(" + text + ")" : text;
}

// `types`: of the fields.
void LaneFolds::bindFields(const State& state, const Texts& fields, const std::vector<Compute>& types,
                           std::int64_t count) {
  const Dialect& dialect = m_writer.dialect();
  const bool isMoments = state.fold->kind == FoldKind::MomentPair;
  for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
    const Prim& self = m_region.prims[prim];
    if (self.kind == Prim::Kind::Call && isMoments && isMeanOf(m_region, self, state.index)) {
      m_writer.bind(static_cast<int>(prim), {single(state, types[1], fields[1])});
    }
    if (self.kind != Prim::Kind::Folded || self.fold != state.index) {
      continue;
    }
    const std::size_t field = static_cast<std::size_t>(self.slot) + (isMoments ? 1 : 0);
    std::string text = fields[field];
    if (isMoments && self.slot == 0) {
      text += " * " + dialect.constant(static_cast<double>(count), types[1]);
    }
    const bool isAtom = types[field] != state.type || !isMoments || self.slot != 0;
    m_writer.bind(static_cast<int>(prim),
                  {single(state, types[field], text), isAtom ? Expression::Atom : Expression::Term});
  }
}

void LaneFolds::bindJoined(std::int64_t count) {
  for (const State& state : m_states) {
    std::vector<Compute> types;
    for (std::size_t field = 0; field < state.joined.size(); ++field) {
      const bool isWide =
          (state.fold->kind == FoldKind::SoftmaxPair && field == 1) || state.fold->kind == FoldKind::MomentPair;
      types.push_back(isWide ? Compute::F64 : fieldCompute(state, field, false));
    }
    bindFields(state, state.joined, types, count);
  }
}

void LaneFolds::bindLanes(std::int64_t count) {
  for (const State& state : m_states) {
    std::vector<Compute> types;
    for (std::size_t field = 0; field < state.whole.size(); ++field) {
      types.push_back(fieldCompute(state, field, false));
    }
    bindFields(state, at(state.whole, m_lanes.lane), types, count);
  }
}

}  // namespace swage::synth
