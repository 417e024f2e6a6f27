// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/frame.h"

#include <algorithm>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

template <class Choice>
std::vector<std::size_t> axesWhere(const Region& region, Choice&& choice) {
  std::vector<std::size_t> found;
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (choice(region.axes[axis])) {
      found.push_back(axis);
    }
  }
  return found;
}

constexpr std::size_t kWidth = 110;

// On as many lines as it needs, which end at commas after `from`.
std::string brokenAtCommas(std::string text, std::size_t from) {
  for (std::size_t line = 0; text.size() - line > kWidth;) {
    const std::size_t cut = text.rfind(", ", line + kWidth);
    if (cut == std::string::npos || cut <= std::max(line, from)) {
      break;
    }
    text.replace(cut, 2, ",\n    ");
    line = cut + 2;
  }
  return text;
}

}  // namespace

void openCudaKernel(KernelWriter& writer, const std::string& entry, std::int64_t threads, const std::string& bounds,
                    const std::string& more) {
  const std::string parameters = writer.parameters() + (more.empty() ? "" : ", " + more);
  const std::string text =
      fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}({})", threads, bounds, entry, parameters);
  writer.code().open("{}", brokenAtCommas(text, text.find(entry)));
}

void openCppKernel(KernelWriter& writer, const std::string& entry) {
  writer.code().open("extern \"C\" __attribute__((visibility(\"default\"))) void {}(void** arguments)", entry);
  writer.unpackArguments();
}

std::vector<std::size_t> foldedAxes(const Region& region) {
  return axesWhere(region, [](const Axis& axis) { return axis.isFolded(); });
}

std::vector<std::size_t> freeAxes(const Region& region) {
  return axesWhere(region, [](const Axis& axis) { return !axis.isFolded(); });
}

std::vector<std::size_t> axesOf(const Region& region, AxisRole role) {
  return axesWhere(region, [role](const Axis& axis) { return axis.role == role; });
}

std::int64_t positions(const Region& region, const std::vector<std::size_t>& axes) {
  std::int64_t count = 1;
  for (const std::size_t axis : axes) {
    count *= region.axes[axis].extent;
  }
  return count;
}

std::string extentsText(const Region& region, const std::vector<std::size_t>& axes) {
  std::string text;
  for (const std::size_t axis : axes) {
    text += fmt::format("{}{}", text.empty() ? "" : " x ", region.axes[axis].extent);
  }
  return text.empty() ? "1" : text;
}

std::vector<int> storedPrims(const std::vector<Store>& stores) {
  std::vector<int> prims;
  for (const Store& store : stores) {
    prims.push_back(store.prim);
  }
  return prims;
}

FoldText::FoldText(KernelWriter& writer, const Region& region, std::string lanes, std::string lane)
    : m_writer(writer), m_region(region), m_lanes(std::move(lanes)), m_lane(std::move(lane)) {
  for (const Fold& fold : region.folds) {
    Variable variable;
    variable.compute = region.prims[static_cast<std::size_t>(fold.input)].type;
    variable.type = writer.dialect().typeName(variable.compute);
    switch (fold.kind) {
      case FoldKind::Sum: variable.name = writer.unique("sum"); break;
      case FoldKind::Product: variable.name = writer.unique("product"); break;
      case FoldKind::Maximum: variable.name = writer.unique("largest"); break;
      case FoldKind::Minimum: variable.name = writer.unique("smallest"); break;
      default: variable.name = writer.unique("best"); variable.place = writer.unique("place");
    }
    m_variables.push_back(std::move(variable));
  }
}

std::string FoldText::start(const Fold& fold, Compute type) const {
  const bool isWhole = type == Compute::I64;
  switch (fold.kind) {
    case FoldKind::Sum: return m_writer.dialect().constant(0.0, type);
    case FoldKind::Product: return m_writer.dialect().constant(1.0, type);
    case FoldKind::Maximum:
    case FoldKind::ArgMaximum: return isWhole ? "-0x7fffffffffffffffLL - 1" : "-kInfinity";
    default: return isWhole ? "0x7fffffffffffffffLL" : "kInfinity";
  }
}

void FoldText::declare() {
  Code& code = m_writer.code();
  for (std::size_t i = 0; i < m_variables.size(); ++i) {
    const Variable& variable = m_variables[i];
    const std::string first = start(m_region.folds[i], variable.compute);
    if (m_lanes.empty()) {
      code.line("{} {} = {};", variable.type, variable.name, first);
    } else {
      code.line("{} {}[{}];", variable.type, variable.name, m_lanes);
    }
    if (!variable.place.empty()) {
      code.line("long long {}{};", variable.place, m_lanes.empty() ? " = 0x7fffffffffffffffLL" : "[" + m_lanes + "]");
    }
  }
  if (m_lanes.empty()) {
    return;
  }
  code.open("for (int {0} = 0; {0} < {1}; ++{0})", m_lane, m_lanes);
  for (std::size_t i = 0; i < m_variables.size(); ++i) {
    code.line("{} = {};", at(m_variables[i].name), start(m_region.folds[i], m_variables[i].compute));
    if (!m_variables[i].place.empty()) {
      code.line("{} = 0x7fffffffffffffffLL;", at(m_variables[i].place));
    }
  }
  code.close();
}

std::vector<int> FoldText::inputs() const {
  std::vector<int> inputs;
  for (const Fold& fold : m_region.folds) {
    inputs.push_back(fold.input);
  }
  return inputs;
}

void FoldText::accumulate() {
  Code& code = m_writer.code();
  for (std::size_t i = 0; i < m_variables.size(); ++i) {
    const Fold& fold = m_region.folds[i];
    const std::string name = at(m_variables[i].name);
    const Expression x = m_writer.value(fold.input);
    switch (fold.kind) {
      case FoldKind::Sum: code.line("{} += {};", name, x.text); break;
      case FoldKind::Product: code.line("{} *= {};", name, operand(x, Expression::Term)); break;
      case FoldKind::Maximum: code.line("{0} = maximum({0}, {1});", name, x.text); break;
      case FoldKind::Minimum: code.line("{0} = minimum({0}, {1});", name, x.text); break;
      default: {
        const std::string place = at(m_variables[i].place);
        const std::string here = m_writer.placeInFold().text;
        const char* sign = fold.kind == FoldKind::ArgMaximum ? ">" : "<";
        code.open("if (isBetter({0} {1} {2}, {0}, {3}, {2}, {4}))", operand(x, Expression::Sum), sign, name, here,
                  place);
        code.line("{} = {};", name, x.text);
        code.line("{} = {};", place, here);
        code.close();
      }
    }
  }
}

void FoldText::bindResults() {
  for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
    const Prim& self = m_region.prims[prim];
    if (self.kind == Prim::Kind::Folded) {
      const Variable& variable = m_variables[static_cast<std::size_t>(self.fold)];
      m_writer.bind(static_cast<int>(prim), {at(self.slot == 0 ? variable.name : variable.place)});
    }
  }
}

}  // namespace swage::synth
