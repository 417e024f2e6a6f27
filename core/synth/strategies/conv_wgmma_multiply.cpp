// SPDX-License-Identifier: Apache-2.0
// The warp groups of a convolution by wgmma that multiply, and what becomes of their sums, as text.
#include <cstdlib>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

using Axes = std::vector<std::size_t>;

class HaloMultiply {
 public:
  explicit HaloMultiply(HaloText& text)
      : m_text(text),
        m_problem(text.problem),
        m_region(text.region),
        m_shape(text.shape),
        m_tiles(text.tiles),
        m_layout(text.layout),
        m_weights(text.weights),
        m_writer(text.writer),
        m_code(text.code) {}

  // Of a dimension, from the first pixel of the patch to those that belong to a place of the window.
  struct Shift {
    std::string plane;
    std::string pixels;
  };
  [[nodiscard]] static Shift shiftOf(const HaloDim& dim, const std::string& place) {
    if (!dim.window) {
      return {"0", "0"};
    }
    std::string of = std::abs(dim.step) == 1 ? place : fmt::format("{} * {}", place, std::abs(dim.step));
    if (dim.step < 0) {
      of = fmt::format("{} - {}", dim.behind(), of);
    }
    if (dim.stride == 1) {
      return {"0", fmt::format("({})", of)};
    }
    return {fmt::format("({}) % {}", of, dim.stride), fmt::format("({}) / {}", of, dim.stride)};
  }

  [[nodiscard]] std::string shift() const {
    const HaloDim* const down = m_problem.down();
    const Shift x = shiftOf(m_problem.across(), "x_place");
    const Shift y = down == nullptr ? Shift{"0", "0"} : shiftOf(*down, "y_place");
    return fmt::format("(({} * {} + {}) * {} + {}) * {} + {}", y.plane, m_problem.across().planes(), x.plane,
                       m_layout.rows, y.pixels, m_layout.pitch, x.pixels);
  }

  void openInstructions() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.instructions());
  }
  // One call for the sums of each instruction.
  void forSums(const std::string& call) {
    for (std::int64_t c = 0; c < m_tiles.instructions(); ++c) {
      m_code.line("{}(sum[{}]);", call, c);
    }
  }

  void arrive(const std::string& barrier) {
    m_code.line("__syncwarp();");
    m_code.open("if (lane == 0)");
    m_code.line("arriveAt({}, 0);", barrier);
    m_code.close();
  }

  void consume() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t across = m_tiles.groupsAcross();
    m_code.comment("--- The others multiply: 64 channels each.");
    m_code.line("const int warp = threadIdx.x / 32 % 4;");
    m_code.line("float (*const turned)[{0}] = reinterpret_cast<float (*)[{0}]>(behind + {1}) + threadIdx.x / 32 * 8;",
                HaloLayout::kTurnedStride, m_layout.turned);
    if (m_tiles.parts > 1) {
      m_code.line("const int part = group / {};", across);
    }
    m_code.line("const int first = {};  // of its channels in those of the block",
                across == 1 ? "0" : fmt::format("group{} * 64", m_tiles.parts > 1 ? fmt::format(" % {}", across) : ""));
    if (m_layout.isKept) {
      m_code.line("waitFor(full + {}, 0);  // the weights", HaloLayout::kFullStage);
    } else {
      m_code.line("int stage = 0, phase = 0;");
    }
    m_text.openTiles();
    m_code.line("float sum[{}][{}];", m_tiles.instructions(), m_tiles.instructionPixels() / 2);
    if (m_text.isScaled()) {
      m_code.line("float unscale = 0.0f;");
      m_code.open("while (unscale == 0.0f)");
    }
    m_code.line("bool keep = {};", m_problem.hasPhases ? "true" : "false");
    if (m_problem.hasPhases) {
      openInstructions();
      m_code.pragma("#pragma unroll");
      m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.instructionPixels() / 2);
      m_code.line("sum[c][i] = 0.0f;");
      m_code.close();
      m_code.close();
    }
    m_text.openSteps();
    multiplyStep();
    m_code.close();
    if (m_text.isScaled()) {
      m_code.close();
    }
    finish();
    m_code.close();
    m_writer.leave(outside);
  }

  // All channels of a patch at one place of the window.
  void multiplyPlace() {
    std::string stage = fmt::format("(step * {} + tap)", m_layout.taps);
    if (!m_layout.isKept) {
      m_code.line("waitFor(full + {} + stage * 8, phase);", HaloLayout::kFullStage);
      stage = "stage";
    }
    m_code.line("const unsigned long long left = plainDescriptor(stages + {} * {} + first * 16, {}, 128);", stage,
                m_tiles.stageBytes(), m_tiles.columns * 16);
    m_code.line("const unsigned long long right = plainDescriptor(memory + slot * {} + ({}{}) * 16, {}, {});",
                m_layout.patchBytes, m_tiles.parts > 1 ? fmt::format("part * {} + ", m_layout.pixels) : "", shift(),
                m_layout.allPixels * 16, m_tiles.isByRows() ? 128 : m_layout.pitch * 16);
    forSums("openProducts");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.depth / 16);
    openInstructions();
    m_code.line("multiply_{}(sum[c], left + i * {}, right + i * {} + c * {}, i > 0 || keep);", m_text.number,
                2 * m_tiles.columns, 2 * m_layout.allPixels, m_layout.instructionStep(m_tiles));
    m_code.close();
    m_code.close();
  }

  void multiplyStep() {
    m_code.line("waitFor(full + slot * 8, turn);");
    if (!m_layout.isKept) {
      m_code.line("int previous = -1;");
    }
    m_text.openTaps();
    multiplyPlace();
    m_code.line("closeProducts();");
    m_code.line("keep = true;");
    if (!m_layout.isKept) {
      forSums("waitForProducts<1>");
      m_code.open("if (previous >= 0)");
      arrive(fmt::format("full + {} + previous * 8", HaloLayout::kEmptyStage));
      m_code.close();
      m_code.line("previous = stage;");
      m_text.advanceStage();
    }
    m_code.close();
    forSums("waitForProducts<0>");
    if (!m_layout.isKept) {
      m_code.open("if (previous >= 0)");
      arrive(fmt::format("full + {} + previous * 8", HaloLayout::kEmptyStage));
      m_code.close();
    }
    if (m_text.isScaled()) {
      m_code.line("unscale = verdict[slot];  // of the last patch: 0 if the tile is made again");
    }
    arrive("empty + slot * 8");
    m_code.line("advance();");
  }

  // --- results
  [[nodiscard]] std::string isResult() const {
    const HaloDim* const down = m_problem.down();
    std::string condition;
    const auto add = [&](const std::string& more) {
      condition += (condition.empty() || more.empty() ? "" : " && ") + more;
    };
    if (m_problem.across().positions % m_tiles.width() != 0) {
      add(fmt::format("x_at < {}", m_problem.across().positions));
    }
    if (down != nullptr && down->positions % m_tiles.height() != 0) {
      add(fmt::format("y_at < {}", down->positions));
    }
    Axes axes = m_shape.batch;
    axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
    add(insideAll(m_writer, m_problem.results, axes));
    return condition;
  }

  bool openIf(const std::string& condition) {
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    return !condition.empty();
  }

  void bindPosition() {
    m_writer.bindAxis(m_problem.across().position, "x_at");
    if (m_problem.down() != nullptr) {
      m_writer.bindAxis(m_problem.down()->position, "y_at");
    }
  }

  // Whether two results side by side can be stored at once.
  [[nodiscard]] bool storesPairs() const {
    if (!returnsValue() || m_problem.hasPhases) {
      return false;
    }
    const Operand& out = result();
    const std::size_t x = m_problem.across().position;
    bool isEven = out.strides[x] == 1 && out.bounds.empty() && out.offset % 2 == 0 &&
                  m_problem.across().positions % 2 == 0 && domain::byteSize(out.dtype) <= 4;
    for (std::size_t axis = 0; axis < out.strides.size(); ++axis) {
      isEven = isEven && (axis == x || out.strides[axis] % 2 == 0);
    }
    return isEven;
  }

  // --- results
  // Rows of a tile of which chunks are turned one after another; or the tile as one.
  [[nodiscard]] std::int64_t runs() const { return isShifted() ? m_tiles.height() : 1; }
  [[nodiscard]] std::int64_t runPixels() const { return m_tiles.pixels / runs(); }
  [[nodiscard]] std::int64_t chunks() const { return divideUp(runPixels(), HaloLayout::kChunk); }
  // Where chunks are shifted, what is left of the last one comes after it.
  [[nodiscard]] std::int64_t windows() const { return chunks() + (isShifted() ? 1 : 0); }
  // Of 8 channels, that a lane stores of a chunk: with pairs half of the lanes take the next one.
  [[nodiscard]] std::int64_t rowsOfLane() const { return storesPairs() ? 4 : 8; }
  [[nodiscard]] bool returnsValue() const { return m_region.groupStores.size() == 1; }
  [[nodiscard]] const Operand& result() const { return m_text.operandAt(m_region.groupStores.front().operand); }

  // Whether results side by side begin somewhere in a sector of 32 bytes: then what a warp stores at once is shifted,
  // row by row, so that it is whole sectors.
  [[nodiscard]] bool isShifted() const {
    if (!returnsValue() || !m_tiles.isByRows() || m_tiles.width() % HaloLayout::kChunk != 0) {
      return false;
    }
    const auto size = static_cast<std::int64_t>(domain::byteSize(result().dtype));
    bool isAligned = result().offset * size % HaloLayout::kSector == 0;
    for (std::size_t axis = 0; axis < result().strides.size(); ++axis) {
      isAligned = isAligned &&
                  (axis == m_problem.across().position || result().strides[axis] * size % HaloLayout::kSector == 0);
    }
    return !isAligned && size <= 4 && result().strides[m_problem.across().position] == 1;
  }

  void finish() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment(
        "The results, with what follows the sum: 32 positions at a time change places within a warp, so that it writes "
        "neighbours in memory at once.");
    m_code.line("const int place = tile.place{};", m_tiles.parts > 1 ? " + part" : "");
    if (m_layout.places % m_tiles.parts != 0) {
      m_code.open("if (place >= {})", m_layout.places);
      m_code.line("continue;");
      m_code.close();
    }
    m_text.locate();
    if (m_text.isScaled()) {
      m_code.line("bool is_odd = false;  // something that is no number has been seen");
    }
    writeFinish();
    for (const auto& [name, count] : {std::pair("half", std::int64_t{2}), std::pair("y", runs()),
                                      std::pair("k", windows()), std::pair("", std::int64_t{0})}) {
      if (count > 0) {
        m_code.pragma("#pragma unroll");
        m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, count);
      }
    }
    turn();
    // With many sums there are no registers for what all rows of all chunks have in common.
    const bool isTight = isShifted() && m_tiles.pixels >= 224;
    m_code.pragma(isTight ? "#pragma unroll 2" : "#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowsOfLane());
    const KernelWriter::Scope located = m_writer.scope();
    const bool isOpen = openElement("");
    storeElement();
    closeIf(isOpen);
    m_writer.leave(located);
    for (int i = 0; i < 4; ++i) {
      m_code.close();
    }
    if (m_text.isScaled()) {
      finishOdd();
    }
    m_writer.leave(outside);
  }

  void closeIf(bool isOpen) {
    if (isOpen) {
      m_code.close();
    }
  }

  // A thread has pairs of positions of a channel; it gets positions side by side of one channel after another.
  void turn() {
    const std::int64_t ofInstruction = m_tiles.instructionPixels() / 8;
    const std::int64_t across = m_tiles.wide / 8;
    const std::int64_t groups = m_tiles.pixels / 8;
    const std::int64_t ofRun = runPixels() / 8;
    m_code.line("__syncwarp();");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
    m_code.line("const int of = {}k * 4 + i;  // 8 positions", runs() > 1 ? fmt::format("y * {} + ", ofRun) : "");
    if (m_tiles.isByRows()) {
      m_code.line("const int c = of / {0}, j = of % {0};", ofInstruction);
    } else {
      m_code.line("const int c = of % {0}, j = of / {0};", across);
    }
    const bool hasTail = isShifted() || groups % 4 != 0;
    if (hasTail) {
      m_code.open("if ({})", isShifted() ? fmt::format("k < {}", chunks()) : fmt::format("of < {}", groups));
    }
    m_code.line("const Vec<float, 2> both{{{{sum[c][j * 4 + half * 2], sum[c][j * 4 + half * 2 + 1]}}}};");
    m_code.line("store<float, 2>(&turned[lane / 4][{}i * 8 + lane % 4 * 2], both);",
                isShifted() ? fmt::format("k % 2 * {} + ", HaloLayout::kChunk) : "");
    closeIf(hasTail);
    m_code.close();
    m_code.line("__syncwarp();");
  }

  // Number `r` of those that a lane stores of a chunk, or the first of two. Returns whether a condition was opened.
  bool openElement(const std::string& more) {
    const std::string_view type = m_writer.index();
    m_code.line("const int row = {};", storesPairs() ? "r * 2 + lane / 16" : "r");
    m_code.line("const {} column = tile.column + first + warp * 16 + half * 8 + row;", type);
    m_writer.decode("column", m_shape.columns);
    std::string at = fmt::format("k * {} + {}", HaloLayout::kChunk, storesPairs() ? "lane % 16 * 2" : "lane");
    if (isShifted()) {
      m_writer.bindAxis(m_problem.across().position, "x_first");
      if (m_problem.down() != nullptr) {
        m_code.line("const {} y_at = y_first{};", type, runs() > 1 ? " + y" : "");
        m_writer.bindAxis(m_problem.down()->position, "y_at");
      }
      const auto size = static_cast<std::int64_t>(domain::byteSize(result().dtype));
      m_code.line("const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(&{}) / {} % {});",
                  m_writer.element(result()), size, HaloLayout::kSector / size);
      at += " - shift";
    }
    m_code.line("const int in = {}{};", at, more);
    const bool isOneRow = isShifted() || m_tiles.height() == 1;
    m_code.line("const {} x_at = x_first + in{};", type, isOneRow ? "" : fmt::format(" % {}", m_tiles.width()));
    if (m_problem.down() != nullptr && !isShifted()) {
      m_code.line("const {} y_at = y_first{};", type, isOneRow ? "" : fmt::format(" + in / {}", m_tiles.width()));
    }
    bindPosition();
    std::string condition = isResult();
    const auto add = [&](const std::string& another) { condition += (condition.empty() ? "" : " && ") + another; };
    if (isShifted()) {
      add("in >= 0");
    }
    if (isShifted() || runPixels() % HaloLayout::kChunk != 0) {
      add(fmt::format("in < {}", runPixels()));
    }
    if (m_shape.columnCount % m_tiles.columns != 0) {
      add(fmt::format("column < {}", m_shape.columnCount));
    }
    return openIf(condition);
  }

  [[nodiscard]] std::string arguments(const std::string& more = {}) const {
    return fmt::format("column, x_at{}{}", more, m_problem.down() == nullptr ? "" : ", y_at");
  }

  // The function of a sum and its place that computes what follows, and returns or stores it.
  void writeFinish() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::string_view type = m_writer.index();
    m_code.open("const auto finish = [&](float total, {0} column, {0} x_at{1})", type,
                m_problem.down() == nullptr ? "" : fmt::format(", {} y_at", type));
    bindPosition();
    m_writer.decode("column", m_shape.columns);
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {"total"});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    if (returnsValue()) {
      m_code.line("return {};", m_writer.stored(m_region.groupStores.front()));
    } else {
      m_writer.store(m_region.groupStores);
    }
    m_code.close(";");
    m_writer.leave(outside);
  }

  void storeElement() {
    const bool isPaired = storesPairs();
    const std::string at = fmt::format("in & {}", 2 * HaloLayout::kChunk - 1);
    std::string left = fmt::format("turned[row][{}]", isShifted() ? at : fmt::format("in % {}", HaloLayout::kChunk));
    std::string right =
        fmt::format("turned[row][({}) + 1]", isShifted() ? at : fmt::format("in % {}", HaloLayout::kChunk));
    if (m_text.isScaled()) {
      m_code.line("const int e = {}[{}column];", m_text.exponents,
                  m_text.isBatched() ? fmt::format("batch * {} + ", m_weights.lines) : "");
      m_code.line("const float scale = __int_as_float((e + 127) << 23);");
      m_code.line("const float left = {} * scale * unscale;", left);
      m_code.line("is_odd |= e == kNotFinite || !(fabsf(left) < kInfinity);");
      left = "left";
      if (isPaired) {
        m_code.line("const float right = {} * scale * unscale;", right);
        m_code.line("is_odd |= !(fabsf(right) < kInfinity);");
        right = "right";
      }
    }
    if (!isPaired) {
      storeOne(left);
      return;
    }
    const std::string_view type = m_writer.dialect().storageName(result().dtype);
    m_code.line("const Vec<{}, 2> both{{{{finish({}, {}), finish({}, {})}}}};", type, left, arguments(), right,
                arguments(" + 1"));
    m_code.line("store<{}, 2>(&{}, both);", type, m_writer.element(result()));
  }

  void storeOne(const std::string& total) {
    if (returnsValue()) {
      m_code.line("{} = finish({}, {});", m_writer.element(result()), total, arguments());
    } else {
      m_code.line("finish({}, {});", total, arguments());
    }
  }

  void finishOdd() {
    const std::int64_t ofLane = rowsOfLane() * (storesPairs() ? 2 : 1);
    m_code.comment("What a thread with infinities or NaN has stored is added up anew, as floats are.");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int i = 0; is_odd && i < {}; ++i)", 2 * runs() * windows() * ofLane);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int r = i % {}{}, k = i / {} % {};", ofLane, storesPairs() ? " / 2" : "", ofLane, windows());
    if (runs() > 1) {
      m_code.line("const int y = i / {} % {};", ofLane * windows(), runs());
    }
    m_code.line("const int half = i / {};", ofLane * windows() * runs());
    const bool isOpen = openElement(storesPairs() ? " + i % 2" : "");
    m_code.line("float total = 0.0f;");
    const KernelWriter::Scope inner = m_writer.scope();
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_shape.left, m_shape.right});
    m_code.line("total += {} * {};", operand(m_writer.value(m_shape.left), Expression::Term),
                operand(m_writer.value(m_shape.right), Expression::Term, swage::synth::Side::Right));
    m_code.close();
    m_writer.leave(inner);
    storeOne("total");
    closeIf(isOpen);
    m_code.close();
    m_writer.leave(outside);
  }

  HaloText& m_text;
  const HaloProblem& m_problem;
  const Region& m_region;
  const ProductShape& m_shape;
  const HaloTiles& m_tiles;
  const HaloLayout& m_layout;
  const HaloWeights& m_weights;
  KernelWriter& m_writer;
  Code& m_code;
};

}  // namespace

void writeHaloMultiply(HaloText& text) {
  HaloMultiply(text).consume();
}

}  // namespace swage::synth
