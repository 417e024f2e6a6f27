// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cpu_loops.h"

#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

bool isSharedByAll(const Operand& operand) {
  return std::all_of(operand.strides.begin(), operand.strides.end(), [](std::int64_t stride) { return stride == 0; });
}

}  // namespace

LoopAxes loopAxesOf(const Region& region) {
  LoopAxes axes;
  axes.counts = loopsOf(region);
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (axis + 1 == region.axes.size()) {
      axes.inner = axis;
    } else {
      (region.axes[axis].isFolded() ? axes.outer : axes.groups).push_back(axis);
    }
  }
  return axes;
}

ElementLoops::ElementLoops(KernelWriter& writer, const Region& region, bool isStreaming,
                           std::function<void(const std::string& column)> bind)
    : m_writer(writer),
      m_code(writer.code()),
      m_region(region),
      m_inner(loopAxesOf(region).inner),
      m_isStreaming(isStreaming),
      m_bind(std::move(bind)) {}

const Operand& ElementLoops::operandOf(const Store& store) const {
  return m_region.operands[asIndex(store.operand)];
}

bool ElementLoops::isStreamed(const Store& store) const {
  return m_isStreaming && operandOf(store).innerStride() == 1;
}

void ElementLoops::range(const std::string& first, const std::string& last) {
  const KernelWriter::Scope outside = m_writer.scope();
  const std::string column = m_writer.unique("column");
  if (m_inner) {
    m_code.pragma("#pragma omp simd");
    m_code.open("for (long long {0} = {1}; {0} < {2}; ++{0})", column, first, last);
    m_writer.bindAxis(*m_inner, column);
  }
  if (m_bind) {
    m_bind(column);
  }
  m_writer.compute(storedPrims(m_region.elementStores));
  m_writer.store(m_region.elementStores);
  if (m_inner) {
    m_code.close();
  }
  m_writer.leave(outside);
}

void ElementLoops::tile(const std::string& first, const std::string& count, const std::string& room,
                        const std::string& lane) {
  const KernelWriter::Scope outside = m_writer.scope();
  std::vector<std::string> tiles(m_region.elementStores.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Store& store = m_region.elementStores[i];
    if (isStreamed(store)) {
      tiles[i] = m_writer.unique(m_writer.parameterOf(operandOf(store)) + "_tile");
      m_code.line("{} {}[{}];", m_writer.dialect().storageName(operandOf(store).dtype), tiles[i], room);
    }
  }
  const KernelWriter::Scope beforeLoop = m_writer.scope();
  m_code.pragma("#pragma omp simd");
  m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", lane, count);
  const std::string column = first == "0" ? lane : m_writer.unique("column");
  if (first != "0") {
    m_code.line("const long long {} = {} + {};", column, first, lane);
  }
  if (m_inner) {
    m_writer.bindAxis(*m_inner, column);
  }
  if (m_bind) {
    m_bind(column);
  }
  m_writer.compute(storedPrims(m_region.elementStores));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Store& store = m_region.elementStores[i];
    if (tiles[i].empty()) {
      m_writer.store({store});
    } else {
      m_writer.storeAt(fmt::format("{}[{}]", tiles[i], lane), store);
    }
  }
  m_code.close();
  m_writer.leave(beforeLoop);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (tiles[i].empty()) {
      continue;
    }
    const Operand& operand = operandOf(m_region.elementStores[i]);
    m_writer.bindAxis(*m_inner, first);
    m_code.line("streamOut(&{}, {}, {} * sizeof({}));", m_writer.element(operand), tiles[i], count,
                m_writer.dialect().storageName(operand.dtype));
  }
  m_writer.leave(outside);
}

std::vector<int> keptGroupValues(const Region& region, int stage) {
  std::vector<bool> isRead(region.prims.size(), false);  // in a loop
  std::vector<int> uses(region.prims.size(), 0);
  for (const Prim& prim : region.prims) {
    for (const int arg : prim.args) {
      isRead[asIndex(arg)] = isRead[asIndex(arg)] || prim.perElement;
      ++uses[asIndex(arg)];
    }
  }
  for (const Store& store : region.elementStores) {
    isRead[asIndex(store.prim)] = true;
  }
  for (const Store& store : region.groupStores) {
    ++uses[asIndex(store.prim)];
  }
  for (const Fold& fold : region.folds) {
    isRead[asIndex(fold.input)] = true;
  }
  std::vector<int> values;
  for (std::size_t i = 0; i < region.prims.size(); ++i) {
    const Prim& prim = region.prims[i];
    const bool isWorthIt = isRead[i] || (prim.kind == Prim::Kind::Call && uses[i] > 1);
    if (isWorthIt && !prim.perElement && prim.ready == stage && prim.kind != Prim::Kind::Constant) {
      values.push_back(static_cast<int>(i));
    }
  }
  return values;
}

void storeGroup(KernelWriter& writer, const Region& region, const std::string& isFirst) {
  std::vector<Store> own;
  std::vector<Store> shared;
  for (const Store& store : region.groupStores) {
    const bool isShared = !isFirst.empty() && isSharedByAll(region.operands[asIndex(store.operand)]);
    (isShared ? shared : own).push_back(store);
  }
  writer.compute(storedPrims(own));
  writer.store(own);
  if (!shared.empty()) {
    const KernelWriter::Scope outside = writer.scope();
    writer.code().open("if ({})", isFirst);
    writer.compute(storedPrims(shared));
    writer.store(shared);
    writer.code().close();
    writer.leave(outside);
  }
}

}  // namespace swage::synth
