// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_wgmma_results.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

// Of all positions that there are.
bool holdsEverywhere(const Region& region, const Bound& bound) {
  std::int64_t least = bound.offset;
  std::int64_t most = bound.offset;
  for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
    const std::int64_t last = bound.factors[axis] * (region.axes[axis].extent - 1);
    (last < 0 ? least : most) += last;
  }
  return least >= 0 && most < bound.extent;
}

}  // namespace

void HaloResults::write() {
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.comment(std::string("The results, with what follows the sum.") +
                 (joinsPhases() ? " Phases come side by side within a warp."
                  : isStaged()  ? fmt::format(" A warp stores {} positions of a channel side by side.", slots())
                  : isShifted() ? " Rows begin anywhere in a sector of memory: four threads pass their positions on so "
                                  "that they write whole sectors together."
                                : ""));
  m_code.line("const int place = tile.place{};", m_tiles.parts > 1 ? " + part" : "");
  if (m_layout.places % m_tiles.parts != 0) {
    m_code.open("if (place >= {})", m_layout.places);
    m_code.line("continue;");
    m_code.close();
  }
  m_text.locate();
  if (m_text.isFolded()) {
    writeHaloFolds(m_text);
  }
  if (m_problem.resultStores.empty()) {
    m_writer.leave(outside);
    return;
  }
  if (isScaled()) {
    m_code.line("float odd = 0.0f;  // or NaN, where something that is no number has been seen");
  }
  if (isStaged()) {
    m_code.line("float* const staged = reinterpret_cast<float*>(behind + {}) + threadIdx.x / 32 * {};", m_layout.staged,
                8 * m_layout.stagedStride);
  }
  unroll("half", halves());
  const KernelWriter::Scope channel = m_writer.scope();
  openChannel("lane / 4");
  scaleChannel();
  if (isAhead()) {
    finishAhead();
  } else if (!isStaged()) {
    writeFinish();
  }
  m_isFinished = isAhead();
  unroll("y", m_tiles.height());
  if (isStaged()) {
    unroll("k", ofRow() / m_layout.stagedBlocks);
    stage();
    writeSlots();
  } else {
    openRow();
    unroll("j", blocksOfRow());
    writePair();
  }
  for (int i = 0; i < 3; ++i) {
    m_code.close();
  }
  m_writer.leave(channel);
  m_isFinished = false;
  if (isScaled()) {
    writeOdd();
  }
  m_writer.leave(outside);
}

bool HaloResults::isAhead() const {
  constexpr double kCheap = 8.0;  // instructions
  const std::vector<int> prims = storedPrims(stores());
  return returnsValue() && result().dtype == domain::ScalarType::Float32 &&
         std::none_of(prims.begin(), prims.end(), [this](int prim) { return m_problem.readsPositions(prim); }) &&
         instructionsOf(m_region, prims, m_text.held) > (isStaged() ? 0.0 : kCheap);
}

void HaloResults::openChannel(const std::string& of) {
  if (hasFewChannels()) {
    m_code.line("const {0} column = {1} < {2} ? warp * {2} + {1} : {3};", m_writer.index(), of, m_weights.ofWarp,
                m_shape.columnCount);
  } else {
    m_code.line("const {} column = tile.column + first + warp * 16 + half * 8 + {};", m_writer.index(), of);
  }
  m_writer.decode("column", m_shape.columns);
}

void HaloResults::finishAhead() {
  const KernelWriter::Scope outside = m_writer.scope();
  const bool isFolded = m_problem.folds == HaloFolds::Channels;
  if (hasTail()) {
    m_code.line("const {0} channel = min(column, ({0}){1});", m_writer.index(), m_shape.columnCount - 1);
    m_writer.decode("channel", m_shape.columns);
  }
  loadOfChannel();
  m_code.open("const auto finish = [&](float total{})", isFolded ? ", int in_tile" : "");
  const KernelWriter::Scope inside = m_writer.scope();
  m_text.bindSum("total");
  if (isFolded) {
    m_text.bindFound("in_tile");
  }
  m_writer.compute(storedPrims(stores()));
  m_code.line("return {};", m_writer.stored(stores().front()));
  m_code.close(";");
  m_writer.leave(inside);
  unroll("block", blocks());
  unroll("s", 2);
  m_code.line("float& of = {};", sumOf());
  if (isScaled()) {
    m_code.line("of *= {};",
                joinsPhases() ? fmt::format("scales[{}]", over("block", m_tiles.pixels / kOfBlock)) : "scale");
    m_code.line("odd += of * 0.0f;");
  }
  m_code.line("of = finish(of{});", isFolded ? fmt::format(", block * {} + lane % 4 * 2 + s", kOfBlock) : "");
  m_code.close();
  m_code.close();
  unroll("c", m_problem.phases * m_tiles.instructions());
  m_code.line("makeHere(sum[c]);");
  m_code.close();
  m_writer.leave(outside);
}

void HaloResults::loadOfChannel() {
  std::set<int> needed;
  for (const Store& store : stores()) {
    m_text.collectLoads(store.prim, needed);
  }
  for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
    const Prim& load = m_region.prims[prim];
    if (!needed.contains(static_cast<int>(prim)) || load.perElement) {
      continue;
    }
    const Operand& from = m_text.operandAt(load.operand);
    const auto isMoved = [&](std::size_t axis) { return from.strides[axis] != 0; };
    if (from.bounds.empty() && std::none_of(m_shape.rows.begin(), m_shape.rows.end(), isMoved) &&
        !(m_problem.phase && isMoved(*m_problem.phase))) {
      m_writer.define(static_cast<int>(prim));
    }
  }
}

void HaloResults::openRow() {
  if (m_problem.down() != nullptr) {
    m_code.line("const {} y_at = y_first{};", m_writer.index(), m_tiles.height() > 1 ? " + y" : "");
    m_writer.bindAxis(m_problem.down()->position, "y_at");
  }
  std::string condition;
  const HaloDim* const down = m_problem.down();
  if (down != nullptr && down->positions % m_tiles.height() != 0) {
    condition = fmt::format("y_at < {}", down->positions);
  }
  if (hasTail()) {
    condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
  }
  m_code.line("const bool is_row = {};", condition.empty() ? "true" : condition);
  if (isShifted()) {
    m_writer.bindAxis(m_problem.across().position, "x_first");
    m_code.line("const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(&{}) / {} % {});",
                m_writer.element(result()), resultBytes(), kOfBlock);
  }
  if (!isStaged()) {
    m_code.line("const int start = lane % 4 * 2{};", isShifted() ? " - shift" : "");
  }
  if (hasPartialRows() && !isStaged()) {
    m_code.line("const int left = {} - static_cast<int>(x_first) - start;  // positions from there on",
                m_problem.across().positions);
  }
}

void HaloResults::openPair() {
  m_code.line("const int in = j * {} + start;", kOfBlock);
  m_code.line("const {} x_at = x_first + in, x_next = x_at + 1;", m_writer.index());
  bind(false);
}

std::string HaloResults::isThere(bool isSecond) {
  bind(isSecond);
  std::string condition = "is_row";
  const auto add = [&](const std::string& more) { condition += more.empty() ? "" : " && " + more; };
  const std::string_view next = isSecond ? " + 1" : "";
  if (isShifted()) {
    add(fmt::format("(j > 0 || in{0} >= 0) && (j < {1} || in{0} < {2})", next, ofRow(), m_tiles.width()));
  }
  if (hasPartialRows()) {
    add(isStaged() ? fmt::format("x_at < {}", m_problem.across().positions)
                   : fmt::format("j * {}{} < left", kOfBlock, next));
  }
  std::vector<std::size_t> axes = m_shape.batch;
  axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
  std::vector<Bound> bounds = m_problem.results;
  const bool areWhole = m_problem.across().positions % m_tiles.width() == 0;
  std::erase_if(bounds, [&](const Bound& bound) {
    return (areWhole || bound.factors[m_problem.across().position] == 0) && holdsEverywhere(m_region, bound);
  });
  add(insideAll(m_writer, bounds, axes));
  bind(false);
  return condition;
}

std::string HaloResults::sumsOf(const std::string& block, const std::string& more, std::string_view phaseNumber) const {
  const std::string at = fmt::format("half * 2{}", more);
  const std::string phase = phaseNumber.empty() ? "" : fmt::format("{} * {} + ", phaseNumber, m_tiles.instructions());
  if (!m_tiles.isByRows()) {
    return fmt::format("sum[{}{}][y * 4 + {}]", phase, block, at);
  }
  const std::int64_t ofInstruction = m_tiles.instructionPixels() / kOfBlock;
  const std::string of = m_tiles.height() > 1 ? fmt::format("(y * {} + {})", ofRow(), block) : block;
  return m_tiles.instructions() == 1
             ? fmt::format("sum[{}0][{} * 4 + {}]", phase, of, at)
             : fmt::format("sum[{0}{1} / {2}][{1} % {2} * 4 + {3}]", phase, of, ofInstruction, at);
}

void HaloResults::scaleChannel() {
  if (!isScaled()) {
    return;
  }
  const std::string batch = m_text.weightsBatch("p");
  if (joinsPhases()) {
    m_code.line("float scales[{}];", m_problem.phases);
    m_text.openPhases("#pragma unroll");
  }
  m_code.line("const int e = {}[{}column];", m_text.exponents,
              batch.empty() ? "" : fmt::format("{} * {} + ", batch, m_weights.lines));
  m_code.line("{} = e == kNotFinite ? kNan : __int_as_float((e + 127) << 23) * unscale;",
              joinsPhases() ? "scales[p]" : "const float scale");
  if (joinsPhases()) {
    m_code.close();
  } else {
    m_code.line("odd += scale * 0.0f;");
  }
}

void HaloResults::shiftPair() {
  const std::string here = m_tiles.width() > 8 ? fmt::format("min(j, {})", ofRow() - 1) : "0";
  const std::string before = "max(j - 1, 0)";
  const bool isEven = isMultiple(2);
  for (const auto& [name, number] : {std::pair("left", 0), std::pair("right", 1)}) {
    const std::string other = number == 0 ? " + 1" : "";
    const std::string own = number == 0 ? "" : " + 1";
    const auto choose = [&](const std::string& block) {
      return isEven ? sumsOf(block, own)
                    : fmt::format("(shift % 2 == 0 ? {} : {})", sumsOf(block, own), sumsOf(block, other));
    };
    const std::string parity = isEven ? fmt::format("{}", number) : number == 0 ? "shift % 2" : "1 - shift % 2";
    m_code.line("const float {0}_of = lane % 4 * 2 + {1} + shift < {2} ? {3} : {4};", name, parity, kOfBlock,
                choose(here), choose(before));
    m_code.line(
        "const float {0}_sum = __shfl_sync(0xffffffffu, {0}_of, lane / 4 * 4 + ((lane % 4 * 2 + {1} - shift) & 7) / "
        "2);",
        name, number);
  }
}

void HaloResults::writePair() {
  const KernelWriter::Scope outside = m_writer.scope();
  openPair();
  if (isShifted()) {
    shiftPair();
  } else {
    m_code.line("const float left_sum = {};", sumsOf("j", ""));
    m_code.line("const float right_sum = {};", sumsOf("j", " + 1"));
  }
  if (lacksScale()) {
    m_code.line("odd += left_sum * 0.0f;");
    m_code.line("odd += right_sum * 0.0f;");
  }
  const std::string scale = lacksScale() ? " * scale" : "";
  const std::string left = "left_sum" + scale;
  const std::string right = "right_sum" + scale;
  if (hasWholePairs()) {
    m_code.open("if ({})", isThere(false));
    storePair(left, right);
    m_code.close();
  } else if (isShifted()) {
    m_code.line("const bool is_left = {};", isThere(false));
    m_code.line("const bool is_right = {};", isThere(true));
    m_code.open("if (is_left && is_right)");
    storePair(left, right);
    m_code.otherwise();
    storeOneIf("is_left", left, false);
    storeOneIf("is_right", right, true);
    m_code.close();
  } else {
    storeOneIf(isThere(false), left, false);
    storeOneIf(isThere(true), right, true);
  }
  m_writer.leave(outside);
}

void HaloResults::writeFinish() {
  const std::string_view type = m_writer.index();
  if (!hasTail()) {
    loadOfChannel();  // else each result that is there does
  }
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.open("const auto finish = [&](float total, {0} x_at{1}{2})", type,
              m_problem.down() == nullptr ? "" : fmt::format(", {} y_at", type), joinsPhases() ? ", int p" : "");
  bind(false);
  if (joinsPhases()) {
    m_writer.bindAxis(*m_problem.phase, "p");
  }
  if (m_problem.down() != nullptr) {
    m_writer.bindAxis(m_problem.down()->position, "y_at");
  }
  m_text.bindSum("total");
  if (m_problem.folds == HaloFolds::Channels) {
    m_code.line("const int in_tile = {}{}static_cast<int>(x_at - x_first);",
                joinsPhases() ? fmt::format("p * {} + ", m_tiles.pixels) : "",
                m_problem.down() == nullptr ? std::string()
                                            : fmt::format("static_cast<int>(y_at - y_first) * {} + ", m_tiles.width()));
    m_text.bindFound("in_tile");
  }
  m_writer.compute(storedPrims(stores()));
  if (returnsValue()) {
    m_code.line("return {};", m_writer.stored(stores().front()));
  } else {
    m_writer.store(stores());
  }
  m_code.close(";");
  m_writer.leave(outside);
}

void HaloResults::storePair(const std::string& left, const std::string& right) {
  const std::string_view type = m_writer.dialect().storageName(result().dtype);
  m_code.line("const Vec<{}, 2> both{{{{{}, {}}}}};", type, finished(left, false), finished(right, true));
  m_code.line("store<{}, 2>(&{}, both);", type, m_writer.element(result()));
}

void HaloResults::storeOne(const std::string& total, bool isSecond) {
  bind(isSecond);
  if (returnsValue()) {
    m_code.line("{} = {};", m_writer.element(result()), finished(total, isSecond));
  } else {
    m_code.line("finish({}, {});", total, arguments(isSecond));
  }
  bind(false);
}

void HaloResults::storeOneIf(const std::string& condition, const std::string& total, bool isSecond) {
  m_code.open("if ({})", condition);
  storeOne(total, isSecond);
  m_code.close();
}

void HaloResults::writeOdd() {
  const std::int64_t ofRun = isStaged() ? slots() / 4 : blocksOfRow();  // turns of an inner loop
  const std::int64_t runs = isStaged() ? ofRow() / m_layout.stagedBlocks : 1;
  // Through shared memory, a thread stores what others of its warp have summed up.
  m_code.comment(fmt::format("What a {} with infinities or NaN has stored is added up anew, as floats are.",
                             isStaged() ? "warp" : "thread"));
  if (isStaged()) {
    m_code.line("const bool is_odd = __any_sync(0xffffffffu, !(odd == 0.0f));");
  }
  m_code.pragma("#pragma unroll 1");
  m_code.open("for (int turn_of = 0; {} && turn_of < {}; ++turn_of)", isStaged() ? "is_odd" : "!(odd == 0.0f)",
              halves() * m_tiles.height() * runs * ofRun);
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.line("const int half = turn_of / {};", m_tiles.height() * runs * ofRun);
  if (m_tiles.height() > 1) {
    m_code.line("const int y = turn_of / {} % {};", runs * ofRun, m_tiles.height());
  }
  if (isStaged()) {
    m_code.line("const int k = turn_of / {} % {}, i = turn_of % {};", ofRun, runs, ofRun);
    openSlot(neighbours() == 1 ? slotOfTurn() : fmt::format("(i / {0} * 32 + lane) * {0} + i % {0}", neighbours()));
  } else {
    m_code.line("const int j = turn_of % {};", ofRun);
    openChannel("lane / 4");
    writeFinish();
    openRow();
    openPair();
  }
  for (const bool isSecond : {false, true}) {
    if (!isSecond || !isStaged()) {
      m_code.open("if ({})", isThere(isSecond));
      addUp(isSecond);
      m_code.close();
    }
  }
  m_code.close();
  m_writer.leave(outside);
}

void HaloResults::addUp(bool isSecond) {
  m_code.line("float total = 0.0f;");
  const KernelWriter::Scope outside = m_writer.scope();
  bind(isSecond);
  addProducts();
  m_writer.leave(outside);
  storeOne("total", isSecond);
}

void writeHaloResults(HaloText& text) {
  HaloResults(text).write();
}

}  // namespace swage::synth
