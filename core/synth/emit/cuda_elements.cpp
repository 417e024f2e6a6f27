// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cuda_elements.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/synth/region_shape.h"

namespace swage::synth::cuda {
namespace {

// What a thread moves at once at most.
constexpr std::int64_t kWideBytes = 16;

// "x4", "out0_4"
std::string vectorName(const std::string& parameter, std::int64_t width) {
  const bool endsInDigit = std::isdigit(static_cast<unsigned char>(parameter.back())) != 0;
  return fmt::format("{}{}{}", parameter, endsInDigit ? "_" : "", width);
}

// Whether neighbours along the innermost axis are neighbours in memory, inside of bounds.
bool isAlongMemory(const Operand& operand) {
  std::int64_t step = operand.innerStride();
  for (const Bound& bound : operand.bounds) {
    step += bound.factors.empty() || bound.divisor != 1 ? 0 : bound.factors.back() * bound.stride;
  }
  return step == 1;
}

}  // namespace

void markNeeded(const Region& region, int prim, std::vector<bool>& needed) {
  if (needed[static_cast<std::size_t>(prim)]) {
    return;
  }
  needed[static_cast<std::size_t>(prim)] = true;
  for (const int arg : region.prims[static_cast<std::size_t>(prim)].args) {
    markNeeded(region, arg, needed);
  }
}

bool comesTogether(const Operand& operand, std::int64_t width) {
  if (width == 1 || operand.bounds.empty() || !operand.walksAlong(operand.strides.size() - 1)) {
    return true;
  }
  return isAlongMemory(operand) &&
         std::all_of(operand.bounds.begin(), operand.bounds.end(), [width](const Bound& bound) {
           if (bound.factors.back() == 0) {
             return true;
           }
           const bool startsWhole = std::all_of(bound.factors.begin(), bound.factors.end() - 1,
                                                [width](std::int64_t factor) { return factor % width == 0; });
           return startsWhole && bound.factors.back() == 1 && bound.divisor == 1 && bound.offset % width == 0 &&
                  bound.extent % width == 0;
         });
}

bool allowsVectors(const Region& region, std::int64_t width) {
  if (width == 1 || region.axes.empty() || region.axes.back().extent % width != 0) {
    return width == 1;
  }
  const auto isMultiple = [width](std::int64_t number) { return number % width == 0; };
  return std::all_of(region.operands.begin(), region.operands.end(), [&](const Operand& operand) {
    if (!isAlongMemory(operand) || !comesTogether(operand, width)) {
      return true;
    }
    const bool isAligned =
        isMultiple(operand.offset) && std::all_of(operand.strides.begin(), operand.strides.end() - 1, isMultiple) &&
        std::all_of(operand.bounds.begin(), operand.bounds.end(),
                    [&](const Bound& bound) { return bound.factors.back() != 0 || isMultiple(bound.stride); });
    constexpr std::int64_t kMostBytes = 32;
    return isAligned && static_cast<std::int64_t>(domain::byteSize(operand.dtype)) * width <= kMostBytes;
  });
}

Elements::Elements(KernelWriter& writer, const Region& region, std::int64_t width)
    : m_writer(writer), m_region(region), m_width(width) {
  for (const int load : elementLoads(region)) {
    const std::string& parameter = writer.parameterOf(operandOf(load));
    m_names[load] = writer.unique(isVector(operandOf(load)) ? vectorName(parameter, width) : parameter + "_k");
  }
}

const Operand& Elements::operandOf(int load) const {
  return m_region.operands[static_cast<std::size_t>(prim(load).operand)];
}

std::int64_t Elements::bytes(const Operand& operand) const {
  return static_cast<std::int64_t>(domain::byteSize(operand.dtype)) * m_width;
}

std::vector<int> Elements::loadsFor(const std::vector<int>& prims) const {
  std::vector<bool> needed(m_region.prims.size(), false);
  for (const int prim : prims) {
    markNeeded(m_region, prim, needed);
  }
  std::vector<int> loads;
  const std::vector<int> all = elementLoads(m_region);
  std::copy_if(all.begin(), all.end(), std::back_inserter(loads),
               [&](int load) { return needed[static_cast<std::size_t>(load)]; });
  return loads;
}

std::vector<int> Elements::streamed(const std::vector<int>& loads) const {
  std::vector<int> found;
  std::copy_if(loads.begin(), loads.end(), std::back_inserter(found),
               [&](int load) { return differsForEachElement(m_region, operandOf(load)); });
  return found;
}

std::vector<int> Elements::shared(const std::vector<int>& loads) const {
  std::vector<int> found;
  std::copy_if(loads.begin(), loads.end(), std::back_inserter(found),
               [&](int load) { return !differsForEachElement(m_region, operandOf(load)); });
  return found;
}

std::string Elements::typeOf(const Operand& operand) const {
  const std::string_view type = m_writer.dialect().storageName(operand.dtype);
  return isVector(operand) ? fmt::format("Vec<{}, {}>", type, m_width) : std::string(type);
}

void Elements::declare(const std::vector<int>& loads, std::int64_t steps) {
  for (const int load : loads) {
    m_held.insert(load);
    m_writer.code().line("{} {}[{}];", typeOf(operandOf(load)), nameOf(load), steps);
  }
}

bool Elements::isVector(const Operand& operand) const {
  return m_width > 1 && operand.walksAlong(operand.strides.size() - 1);
}

// Together, or where they lie outside, what is read instead.
void Elements::loadBounded(const Operand& operand, const std::string& target) {
  Code& code = m_writer.code();
  const KernelWriter::Scope outside = m_writer.scope();
  code.openBlock();
  std::string condition;
  const std::string element = m_writer.boundedElement(operand, condition);
  const std::string_view type = m_writer.dialect().storageName(operand.dtype);
  const Compute compute = computeType(operand.dtype);
  const std::string fill =
      m_writer.dialect().stored({m_writer.dialect().constant(operand.fill, compute)}, compute, operand.dtype);
  if (!isVector(operand)) {
    code.line("{} = {} ? {} : {};", target, condition, element, fill);
  } else {
    code.open("if ({})", condition);
    code.line("{} = load<{}, {}>(&{});", target, type, m_width, element);
    code.otherwise();
    code.pragma("#pragma unroll");
    code.open("for (int v = 0; v < {}; ++v)", m_width);
    code.line("{}[v] = {};", target, fill);
    code.close();
    code.close();
  }
  code.close();
  m_writer.leave(outside);
}

// One by one, because they are no neighbours in memory.
void Elements::loadStrided(const Operand& operand, const std::string& target) {
  Code& code = m_writer.code();
  const KernelWriter::Scope outside = m_writer.scope();
  code.pragma("#pragma unroll");
  code.open("for (int v = 0; v < {}; ++v)", m_width);
  const std::size_t inner = m_region.axes.size() - 1;
  m_writer.bindAxis(inner, fmt::format("({} + v)", m_writer.coordinate(inner)));
  code.line("{}[v] = {};", target, m_writer.element(operand));
  code.close();
  m_writer.leave(outside);
}

void Elements::load(const std::vector<int>& loads, const std::string& subscript, Caching streamed) {
  Code& code = m_writer.code();
  for (const int load : loads) {
    const Operand& operand = operandOf(load);
    if (m_width == 1 && subscript.empty()) {
      m_held.erase(load);
      continue;
    }
    m_held.insert(load);
    const std::string target = nameOf(load) + subscript;
    const std::string declared = subscript.empty() ? typeOf(operand) + " " + target : target;
    if (!operand.bounds.empty()) {
      if (subscript.empty()) {
        code.line("{};", declared);
      }
      loadBounded(operand, target);
    } else if (!isVector(operand)) {
      code.line("{}{} = {};", subscript.empty() ? "const " : "", declared, m_writer.element(operand));
    } else if (operand.innerStride() != 1) {
      if (subscript.empty()) {
        code.line("{};", declared);
      }
      loadStrided(operand, target);
    } else {
      const bool leaves =
          streamed == Caching::Leave && differsForEachElement(m_region, operand) && bytes(operand) == kWideBytes;
      code.line("{} = {}<{}, {}>({});", declared, leaves ? "loadStreaming" : "load",
                m_writer.dialect().storageName(operand.dtype), m_width, address(operand));
    }
  }
}

void Elements::loadFrom(int load, const std::string& place) {
  m_held.insert(load);
  m_floats.insert(load);
  if (m_width > 1) {
    m_writer.code().line("Vec<float, {0}> {1} = load<float, {0}>(&{2});", m_width, nameOf(load), place);
  } else {
    m_writer.code().line("const float {} = {};", nameOf(load), place);
  }
}

void Elements::copyTo(int load, const std::string& place) {
  Code& code = m_writer.code();
  const Operand& operand = operandOf(load);
  if (m_width == 1) {
    code.line("{} = {};", place, m_writer.dialect().loaded(m_writer.element(operand), operand.dtype).text);
    return;
  }
  this->load({load}, "", Caching::Leave);
  if (operand.dtype == domain::ScalarType::Float32) {
    code.line("store(&{}, {});", place, nameOf(load));
    return;
  }
  const std::string floats = m_writer.unique(parameterOf(load) + "_floats");
  code.line("Vec<float, {}> {};", m_width, floats);
  code.pragma("#pragma unroll");
  code.open("for (int v = 0; v < {}; ++v)", m_width);
  code.line("{}[v] = {};", floats, m_writer.dialect().loaded(laneOf(nameOf(load), operand, ""), operand.dtype).text);
  code.close();
  code.line("store(&{}, {});", place, floats);
}

std::string Elements::laneOf(const std::string& name, const Operand& operand, const std::string& subscript) const {
  return name + subscript + (isVector(operand) ? "[v]" : "");
}

void Elements::bindLoads(const std::vector<int>& loads, const std::string& subscript) {
  for (const int load : loads) {
    if (m_held.count(load) == 0) {
      continue;
    }
    const Operand& operand = operandOf(load);
    if (m_floats.count(load) != 0) {
      m_writer.bind(load, {laneOf(nameOf(load), operand, subscript)});
      continue;
    }
    Expression element = m_writer.dialect().loaded(laneOf(nameOf(load), operand, subscript), operand.dtype);
    const std::string_view type = m_writer.dialect().typeName(prim(load).type);
    if (type != m_writer.dialect().storageName(operand.dtype)) {
      const std::string name = m_writer.unique(m_writer.parameterOf(operand) + "_i");
      m_writer.code().line("const {} {} = {};", type, name, element.text);
      element = {name};
    }
    m_writer.bind(load, std::move(element));
  }
}

void Elements::openLanes(const std::vector<int>& loads, const std::string& subscript) {
  m_outside.push_back(m_writer.scope());
  if (m_width > 1) {
    m_writer.code().pragma("#pragma unroll");
    m_writer.code().open("for (int v = 0; v < {}; ++v)", m_width);
    const std::size_t inner = m_region.axes.size() - 1;
    if (!m_writer.coordinate(inner).empty()) {
      m_writer.bindAxis(inner, fmt::format("({} + v)", m_writer.coordinate(inner)));
    }
  }
  bindLoads(loads, subscript);
}

void Elements::closeLanes() {
  KernelWriter::Scope outside = std::move(m_outside.back());
  m_outside.pop_back();
  if (m_width > 1) {
    m_writer.code().close();
  } else {
    outside.taken = m_writer.scope().taken;  // no block ends here
  }
  m_writer.leave(std::move(outside));
}

void Elements::evaluate(const std::vector<int>& loads, const std::string& subscript, Caching results) {
  Code& code = m_writer.code();
  std::vector<std::string> names;  // of vectors of results
  for (const Store& store : m_region.elementStores) {
    const Operand& operand = m_region.operands[static_cast<std::size_t>(store.operand)];
    const bool isMoved = m_width > 1 && operand.innerStride() == 1;
    names.push_back(isMoved ? m_writer.unique(vectorName(m_writer.parameterOf(operand), m_width)) : "");
    if (isMoved) {
      code.line("{} {};", typeOf(operand), names.back());
    }
  }
  openLanes(loads, subscript);
  std::vector<int> stored;
  for (const Store& store : m_region.elementStores) {
    stored.push_back(store.prim);
  }
  m_writer.compute(stored);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Store& store = m_region.elementStores[i];
    if (names[i].empty()) {
      m_writer.store({store});
    } else {
      m_writer.mentionLine(store.prim);
      code.line("{}[v] = {};", names[i], m_writer.stored(store));
    }
  }
  closeLanes();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Operand& operand = m_region.operands[static_cast<std::size_t>(m_region.elementStores[i].operand)];
    if (!names[i].empty()) {
      const bool leaves = results == Caching::Leave && bytes(operand) == kWideBytes;
      code.line("{}({}, {});", leaves ? "storeStreaming" : "store", address(operand), names[i]);
    }
  }
}

}  // namespace swage::synth::cuda
