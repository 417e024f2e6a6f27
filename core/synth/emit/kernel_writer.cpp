// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/kernel_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/base/assert.h"
#include "core/synth/emit/names.h"
#include "core/synth/region_shape.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

// Longer expressions get a name.
constexpr std::size_t kLongest = 72;

}  // namespace

KernelWriter::KernelWriter(const Instance& instance, const Dialect& dialect,
                           std::initializer_list<std::string_view> own)
    : m_instance(instance),
      m_region(instance.region),
      m_dialect(dialect),
      m_taken(reservedWords()),
      m_bound(instance.region.prims.size()),
      m_axes(instance.region.axes.size()) {
  m_taken.insert(own.begin(), own.end());
  if (instance.model != nullptr) {
    m_taken.insert(instance.model->functions.begin(), instance.model->functions.end());
  }
  assignBuffers();
  chooseIndexType(m_region.groupCount() * m_region.reducedCount());
}

// One parameter for each tensor; a value read in two ways is one parameter.
void KernelWriter::assignBuffers() {
  std::vector<bool> used(m_region.operands.size(), false);
  for (const Prim& prim : m_region.prims) {
    if (prim.kind == Prim::Kind::Load) {
      used[asIndex(prim.operand)] = true;
    }
  }
  for (const auto* stores : {&m_region.elementStores, &m_region.groupStores}) {
    for (const Store& store : *stores) {
      used[asIndex(store.operand)] = true;
    }
  }
  if (m_region.recurrence) {
    for (const int operand : m_region.recurrence->operands()) {
      used[asIndex(operand)] = true;
    }
  }
  for (const bool output : {false, true}) {
    for (std::size_t i = 0; i < m_region.operands.size(); ++i) {
      const Operand& operand = m_region.operands[i];
      const KernelBuffer buffer{operand.value, output};
      if (operand.output == output && used[i] &&
          std::find(m_buffers.begin(), m_buffers.end(), buffer) == m_buffers.end()) {
        m_buffers.push_back(buffer);
        m_parameterNames.push_back(unique(identifier(m_instance.nameOf(operand.value))));
      }
    }
  }
}

// `positions`: the most that one number counts.
void KernelWriter::chooseIndexType(std::int64_t positions) {
  if (m_instance.device.kind == domain::DeviceKind::Cpu) {
    m_index = "long long";  // the compiler makes vectors of loads where it need not think of wrapping
    return;
  }
  std::int64_t last = positions;
  for (const Operand& operand : m_region.operands) {
    std::int64_t reach = std::abs(operand.offset);
    for (std::size_t axis = 0; axis < m_region.axes.size(); ++axis) {
      reach += (m_region.axes[axis].extent - 1) * std::abs(operand.strides[axis]);
    }
    for (const Bound& bound : operand.bounds) {
      reach += bound.extent * std::abs(bound.stride);
    }
    last = std::max(last, reach);
  }
  m_index = last < (std::int64_t{1} << 31) ? "int" : "long long";
}

std::string KernelWriter::unique(std::string wanted) {
  std::string name = wanted;
  for (int number = 2; !m_taken.insert(name).second; ++number) {
    name = fmt::format("{}{}", wanted, number);
  }
  return name;
}

const std::string& KernelWriter::parameterOf(const Operand& operand) const {
  const auto found = std::find(m_buffers.begin(), m_buffers.end(), KernelBuffer{operand.value, operand.output});
  SWAGE_ASSERT(found != m_buffers.end());
  return m_parameterNames[static_cast<std::size_t>(found - m_buffers.begin())];
}

std::string KernelWriter::parameters() const {
  std::vector<std::size_t> all(m_buffers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return parameters(all);
}

std::string KernelWriter::parameters(const std::vector<std::size_t>& places) const {
  std::string text;
  for (const std::size_t i : places) {
    text += fmt::format("{}{}{}* __restrict__ {}", text.empty() ? "" : ", ", m_buffers[i].output ? "" : "const ",
                        m_dialect.storageName(m_instance.typeOf(m_buffers[i].value)), m_parameterNames[i]);
  }
  return text;
}

std::set<std::size_t> KernelWriter::buffersOf(int prim) const {
  const Prim& self = m_region.prims[asIndex(prim)];
  std::set<std::size_t> places;
  if (self.kind == Prim::Kind::Load) {
    const KernelBuffer buffer{m_region.operands[asIndex(self.operand)].value, false};
    places.insert(static_cast<std::size_t>(std::find(m_buffers.begin(), m_buffers.end(), buffer) - m_buffers.begin()));
  }
  for (const int arg : self.args) {
    places.merge(buffersOf(arg));
  }
  return places;
}

std::string KernelWriter::arguments() const {
  std::string text;
  for (const std::string& name : m_parameterNames) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

void KernelWriter::unpackArguments() {
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const std::string type = fmt::format("{}{}*", m_buffers[i].output ? "" : "const ",
                                         m_dialect.storageName(m_instance.typeOf(m_buffers[i].value)));
    m_code.line("{0} __restrict__ {1} = *static_cast<{0}*>(arguments[{2}]);", type, m_parameterNames[i], i);
  }
}

void KernelWriter::bindAxis(std::size_t axis, std::string coordinate) {
  m_axes[axis] = std::move(coordinate);
}

void KernelWriter::decode(const std::string& number, const std::vector<std::size_t>& axes) {
  if (axes.empty()) {
    return;  // a single position
  }
  if (axes.size() == 1) {
    bindAxis(axes.front(), number);
    return;
  }
  std::int64_t inside = 1;  // positions of the axes further in
  Decoded decoded{number, axes, std::vector<std::string>(axes.size())};
  for (std::size_t position = axes.size(); position-- > 0;) {
    const std::int64_t extent = m_region.axes[axes[position]].extent;
    const std::string name = unique(fmt::format("{}{}", number, position));
    std::string text = inside == 1 ? number : fmt::format("{} / {}", number, inside);
    if (position > 0) {
      text += fmt::format(" % {}", extent);
    }
    m_code.line("const {} {} = {};", m_index, name, text);
    bindAxis(axes[position], name);
    decoded.coordinates[position] = name;
    inside *= extent;
  }
  m_decoded.push_back(std::move(decoded));
}

// Whether the factors of its axes are those of its number: in steps of the innermost.
bool KernelWriter::isNumbered(const Decoded& decoded, const std::vector<std::int64_t>& factors) const {
  const std::int64_t unit = factors[decoded.axes.back()];
  std::int64_t inside = 1;
  for (std::size_t position = decoded.axes.size(); position-- > 0;) {
    const std::size_t axis = decoded.axes[position];
    if (m_axes[axis] != decoded.coordinates[position] || factors[axis] != unit * inside) {
      return false;
    }
    inside *= m_region.axes[axis].extent;
  }
  return unit != 0;
}

void KernelWriter::bind(int prim, Expression expression) {
  m_bound[asIndex(prim)] = std::move(expression);
}

void KernelWriter::leave(Scope scope) {
  m_bound = std::move(scope.prims);
  m_axes = std::move(scope.axes);
  m_taken = std::move(scope.taken);
  m_decoded.resize(scope.decoded);
}

// offset + sum of coordinate * factor
std::string KernelWriter::sum(const std::vector<std::int64_t>& factors, std::int64_t offset) const {
  std::string text;
  const auto append = [&](bool isNegative, const std::string& term) {
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    text += term;
  };
  std::vector<std::int64_t> left = factors;
  std::vector<std::string> coordinates = m_axes;
  for (const Decoded& decoded : m_decoded) {
    if (!isNumbered(decoded, factors)) {
      continue;
    }
    coordinates[decoded.axes.back()] = decoded.number;
    for (std::size_t i = 0; i + 1 < decoded.axes.size(); ++i) {
      left[decoded.axes[i]] = 0;
    }
  }
  for (std::size_t axis = 0; axis < factors.size(); ++axis) {
    const std::string& at = coordinates[axis];
    const std::int64_t factor = left[axis];
    if (factor == 0 || at == "0") {
      continue;
    }
    SWAGE_ASSERT(!at.empty());
    const std::string factorText = fmt::format(" * {}", std::abs(factor));
    if (factor == 1) {
      append(false, at);
    } else {
      append(factor < 0, at + (factor == -1 ? "" : factorText));
    }
  }
  if (offset != 0 || text.empty()) {
    append(offset < 0, fmt::format("{}", std::abs(offset)));
  }
  return text;
}

std::string KernelWriter::element(const Operand& operand) const {
  return fmt::format("{}[{}]", parameterOf(operand), sum(operand.strides, operand.offset));
}

std::string KernelWriter::boundedElement(const Operand& operand, std::string& condition) {
  static constexpr std::array<std::string_view, 3> kNames{"d", "h", "w"};
  std::string offset = sum(operand.strides, operand.offset);
  for (std::size_t i = 0; i < operand.bounds.size(); ++i) {
    const Bound& bound = operand.bounds[i];
    const std::size_t fromEnd = std::min(operand.bounds.size() - 1 - i, kNames.size() - 1);
    std::string at = unique(std::string(kNames[kNames.size() - 1 - fromEnd]));
    m_code.line("const {} {} = {};", m_index, at, sum(bound.factors, bound.offset));
    if (bound.divisor != 1) {
      condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ", at, bound.divisor);
      at = fmt::format("{} / {}", at, bound.divisor);
    }
    condition += fmt::format("{}inside({}, {})", condition.empty() ? "" : " && ", at, bound.extent);
    offset = fmt::format("{}{}{}", offset == "0" ? "" : offset + " + ", at,
                         bound.stride == 1 ? "" : fmt::format(" * {}", bound.stride));
  }
  return fmt::format("{}[{}]", parameterOf(operand), offset);
}

void KernelWriter::load(int prim) {
  const Prim& self = m_region.prims[asIndex(prim)];
  const Operand& operand = m_region.operands[asIndex(self.operand)];
  std::string condition;
  std::string text = operand.bounds.empty() ? element(operand) : boundedElement(operand, condition);
  Expression value = m_dialect.loaded(std::move(text), operand.dtype);
  const std::string name = unique(parameterOf(operand) + "_i");
  const std::string otherwise =
      condition.empty() ? "" : fmt::format(" : {}", m_dialect.constant(operand.fill, self.type));
  m_code.line("const {} {} = {}{}{};", m_dialect.typeName(self.type), name, condition.empty() ? "" : condition + " ? ",
              value.text, otherwise);
  bind(prim, {name});
}

// The prims that have to be made for `prim`, in their order, with how often each is used.
void KernelWriter::collect(int prim, std::vector<int>& order, std::vector<int>& uses) const {
  if (m_bound[asIndex(prim)]) {
    return;
  }
  if (uses[asIndex(prim)]++ > 0) {
    return;
  }
  for (const int arg : m_region.prims[asIndex(prim)].args) {
    collect(arg, order, uses);
  }
  order.push_back(prim);
}

bool KernelWriter::isParameter(const std::string& name) const {
  return std::find(m_parameterNames.begin(), m_parameterNames.end(), name) != m_parameterNames.end();
}

// As the model's statement has it, where no tensor is called so here.
std::string KernelWriter::assignedNameOf(const Prim& prim) const {
  const std::string assigned = prim.value.isValid() ? m_instance.assignedNameOf(prim.value) : std::string();
  const std::string name = assigned.empty() ? assigned : identifier(assigned);
  return isParameter(name) ? std::string() : name;
}

std::string KernelWriter::nameOf(int prim) const {
  const Prim& self = m_region.prims[asIndex(prim)];
  if (const std::string name = assignedNameOf(self); !name.empty()) {
    return name;
  }
  if (const std::string name = m_instance.nameOf(self.value); self.value.isValid() && !name.empty()) {
    return identifier(name) + (self.perElement ? "_i" : "");
  }
  const FoldKind fold = self.fold >= 0 ? m_region.folds[asIndex(self.fold)].kind : FoldKind::Sum;
  return std::string(resultName(self, fold));
}

void KernelWriter::mentionLine(int prim) {
  const std::string line = m_instance.lineOf(m_region.prims[asIndex(prim)].value);
  // What only hands on a value that has a name says nothing new.
  const bool isKnown = m_bound[asIndex(prim)] && m_mentioned.contains(line);
  if (!line.empty() && line != m_lastLine && !isKnown) {
    m_code.note(line);
    m_lastLine = line;
    m_mentioned.insert(line);
  }
}

void KernelWriter::compute(const std::vector<int>& roots) {
  std::vector<int> order;
  std::vector<int> uses(m_region.prims.size(), 0);
  for (const int root : roots) {
    collect(root, order, uses);
  }
  for (const int prim : order) {
    if (m_region.prims[asIndex(prim)].kind == Prim::Kind::Load) {
      load(prim);
    }
  }
  for (const int prim : order) {
    const Prim& self = m_region.prims[asIndex(prim)];
    if (self.kind != Prim::Kind::Call) {
      continue;
    }
    const Expression expression = value(prim);
    const bool isRoot = std::find(roots.begin(), roots.end(), prim) != roots.end();
    if (uses[asIndex(prim)] > 1 || (!isRoot && (expression.text.size() > kLongest || self.value.isValid()))) {
      mentionLine(prim);
      const std::string name = nameFor(prim);
      m_code.line("const {} {} = {};", m_dialect.typeName(self.type), name, expression.text);
      bind(prim, {name});
    }
  }
}

// A value of a whole group: as the model calls it, or after the sum that it is made of.
std::string KernelWriter::groupName(int prim) const {
  const Prim& self = m_region.prims[asIndex(prim)];
  if (std::string name = assignedNameOf(self); !name.empty()) {
    return name;
  }
  std::string name = self.value.isValid() ? identifier(m_instance.nameOf(self.value)) : "v";
  if (name != "v" && !isParameter(name)) {
    return name;
  }
  for (std::size_t fold = 0; fold < m_region.folds.size(); ++fold) {
    if (isMeanOf(m_region, self, static_cast<int>(fold))) {
      return m_region.folds[fold].stage == 0 ? "mean" : "variance";
    }
  }
  return std::string(resultName(self, self.fold >= 0 ? m_region.folds[asIndex(self.fold)].kind : FoldKind::Sum));
}

std::string KernelWriter::nameFor(int prim) {
  return unique(m_region.prims[asIndex(prim)].perElement ? nameOf(prim) : groupName(prim));
}

void KernelWriter::define(int prim) {
  compute({prim});
  const Expression expression = value(prim);
  const bool isName = std::all_of(expression.text.begin(), expression.text.end(),
                                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (isName && std::isdigit(static_cast<unsigned char>(expression.text.front())) == 0) {
    return;
  }
  mentionLine(prim);
  const std::string name = nameFor(prim);
  m_code.line("const {} {} = {};", m_dialect.typeName(m_region.prims[asIndex(prim)].type), name, expression.text);
  bind(prim, {name});
}

void KernelWriter::computeOnce(const std::vector<int>& prims) {
  compute(prims);
  for (const int prim : prims) {
    if (m_bound[asIndex(prim)]) {
      continue;
    }
    mentionLine(prim);
    const std::string name = nameFor(prim);
    m_code.line("const {} {} = {};", m_dialect.typeName(m_region.prims[asIndex(prim)].type), name, value(prim).text);
    bind(prim, {name});
  }
}

// In a product whose results are folded later, the place is one in that later fold.
Expression KernelWriter::placeInFold() const {
  const bool isLater =
      std::any_of(m_region.axes.begin(), m_region.axes.end(), [](const Axis& axis) { return axis.isFoldedLater; });
  std::vector<std::int64_t> factors(m_region.axes.size(), 0);
  std::int64_t step = 1;
  for (std::size_t axis = m_region.axes.size(); axis-- > 0;) {
    if (isLater ? m_region.axes[axis].isFoldedLater : m_region.axes[axis].isFolded()) {
      factors[axis] = step;
      step *= m_region.axes[axis].extent;
    }
  }
  return {sum(factors, 0), Expression::Sum};
}

// A division by a number of which the reciprocal is one, too.
bool KernelWriter::isByNumber(const Prim& prim) const {
  constexpr double kFar = 1e30;
  if (prim.function != "div" || m_region.prims[asIndex(prim.args[1])].kind != Prim::Kind::Constant) {
    return false;
  }
  const double number = std::abs(m_region.prims[asIndex(prim.args[1])].number);
  return number > 1.0 / kFar && number < kFar;
}

Expression KernelWriter::value(int prim) const {
  if (m_bound[asIndex(prim)]) {
    return *m_bound[asIndex(prim)];
  }
  const Prim& self = m_region.prims[asIndex(prim)];
  switch (self.kind) {
    case Prim::Kind::Constant: {
      std::string text = m_dialect.constant(self.number, self.type);
      return {text, text.front() == '-' ? Expression::Unary : Expression::Atom};
    }
    case Prim::Kind::Coordinate: return {fmt::format("(long long)({})", m_axes[asIndex(self.axis)])};
    case Prim::Kind::Index: return {fmt::format("(long long)({})", placeInFold().text)};
    case Prim::Kind::Call: {
      std::vector<Expression> args;
      for (const int arg : self.args) {
        args.push_back(value(arg));
      }
      return m_dialect.call(isByNumber(self) ? "ratio" : self.function, self.type, args);
    }
    default: break;
  }
  SWAGE_ASSERT(false);  // a load or a result that the strategy has not bound
  return {};
}

std::string KernelWriter::stored(const Store& store) const {
  const Prim& self = m_region.prims[asIndex(store.prim)];
  return m_dialect.stored(value(store.prim), self.type, m_region.operands[asIndex(store.operand)].dtype);
}

void KernelWriter::store(const std::vector<Store>& stores) {
  for (const Store& store : stores) {
    storeAt(element(m_region.operands[asIndex(store.operand)]), store);
  }
}

void KernelWriter::storeAt(const std::string& place, const Store& store) {
  mentionLine(store.prim);
  m_code.line("{} = {};", place,
              m_dialect.stored(value(store.prim), m_region.prims[asIndex(store.prim)].type,
                               m_region.operands[asIndex(store.operand)].dtype));
}

}  // namespace swage::synth
