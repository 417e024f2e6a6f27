// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a convolution by wgmma, as text. A thread has the sums of two channels of the result: of
// each, pairs of neighbours in every 8 positions. Four threads side by side have 8 positions of a channel, which are a
// sector of memory. Where shared memory has room, warps bring results of a channel side by side there first, so that
// they store whole lines.
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

using Axes = std::vector<std::size_t>;

constexpr std::int64_t kLeastShifted = 32;  // positions of a row, from which on shifting them pays

class HaloResults : private HaloPart {
 public:
  explicit HaloResults(HaloText& text) : HaloPart(text) {}

  void write() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment(std::string("The results, with what follows the sum.") +
                   (joinsPhases() ? " Phases come side by side within a warp."
                    : isStaged()  ? fmt::format(" A warp stores {} positions of a channel side by side.", slots())
                    : isShifted()
                        ? " Rows begin anywhere in a sector of memory: four threads pass their positions on so "
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
      m_code.line("float* const staged = reinterpret_cast<float*>(behind + {}) + threadIdx.x / 32 * {};",
                  m_layout.staged, 8 * m_layout.stagedStride);
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

 private:
  // --- what lies where
  [[nodiscard]] const std::vector<Store>& stores() const { return m_problem.resultStores; }
  [[nodiscard]] bool returnsValue() const { return stores().size() == 1; }
  [[nodiscard]] const Operand& result() const { return m_text.operandAt(stores().front().operand); }
  // Whether sums come without their scale, and may be of infinities and NaN; and whether they have none yet.
  [[nodiscard]] bool isScaled() const { return m_text.isScaled() && !m_text.isFolded(); }
  [[nodiscard]] bool lacksScale() const { return isScaled() && !m_isFinished; }
  [[nodiscard]] std::int64_t resultBytes() const { return static_cast<std::int64_t>(domain::byteSize(result().dtype)); }
  [[nodiscard]] std::int64_t blocksOfRow() const { return ofRow() + (isShifted() ? 1 : 0); }

  // Whether all rows begin at a multiple of so many results.
  [[nodiscard]] bool isMultiple(std::int64_t count) const {
    bool is = result().offset % count == 0;
    for (std::size_t axis = 0; axis < result().strides.size(); ++axis) {
      is = is && (axis == m_problem.across().position || result().strides[axis] % count == 0);
    }
    return is;
  }
  // Whether results go through shared memory: those of phases, or of rows.
  [[nodiscard]] bool isStaged() const { return m_layout.stagedStride > 0; }
  [[nodiscard]] bool joinsPhases() const { return m_problem.phases > 1; }
  // Results of a channel that are brought side by side at a time.
  [[nodiscard]] std::int64_t slots() const { return m_layout.stagedBlocks * kOfBlock * m_problem.phases; }
  [[nodiscard]] std::int64_t neighbours() const { return m_layout.stagedNeighbours; }
  [[nodiscard]] bool hasNeighbours() const {
    return returnsValue() && resultBytes() <= 4 && result().bounds.empty() &&
           result().strides[m_problem.across().position] == 1;
  }
  [[nodiscard]] bool isShifted() const {
    return !isStaged() && hasNeighbours() && m_tiles.width() >= kLeastShifted && !isMultiple(kOfBlock);
  }
  // Whether both results of a pair are there, or none, side by side in a place for two.
  [[nodiscard]] bool hasWholePairs() const {
    return hasNeighbours() && isMultiple(2) && m_problem.across().positions % 2 == 0;
  }

  // Of the rows of a warp, those that have channels.
  [[nodiscard]] bool hasFewChannels() const { return m_weights.ofWarp < HaloTiles::kRowsOfWarp; }
  [[nodiscard]] int halves() const { return hasFewChannels() ? 1 : 2; }

  // Whether all results of a channel take the place of its sums before any is stored: so a thread has many that do not
  // wait for each other, and the compiler makes no branches around what takes long. For more than a few instructions,
  // which read nothing of a position; of phases, which meet in shared memory, for any.
  [[nodiscard]] bool isAhead() const {
    constexpr double kCheap = 8.0;  // instructions
    const std::vector<int> prims = storedPrims(stores());
    return returnsValue() && result().dtype == domain::ScalarType::Float32 &&
           std::none_of(prims.begin(), prims.end(), [this](int prim) { return m_problem.readsPositions(prim); }) &&
           instructionsOf(m_region, prims, m_text.held) > (isStaged() ? 0.0 : kCheap);
  }

  // --- loops
  void openChannel(const std::string& of) {
    if (hasFewChannels()) {
      m_code.line("const {0} column = {1} < {2} ? warp * {2} + {1} : {3};", m_writer.index(), of, m_weights.ofWarp,
                  m_shape.columnCount);
    } else {
      m_code.line("const {} column = tile.column + first + warp * 16 + half * 8 + {};", m_writer.index(), of);
    }
    m_writer.decode("column", m_shape.columns);
  }

  // All sums of the channel; the last one that there is stands for those that are not there.
  void finishAhead() {
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

  // Loads what all results of a channel have in common. The channel must be there.
  void loadOfChannel() {
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

  // Whether a row is there in this channel.
  void openRow() {
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
  [[nodiscard]] bool hasPartialRows() const {
    return !joinsPhases() && m_problem.across().positions % m_tiles.width() != 0;
  }

  // The first of two positions of a thread.
  void openPair() {
    m_code.line("const int in = j * {} + start;", kOfBlock);
    m_code.line("const {} x_at = x_first + in, x_next = x_at + 1;", m_writer.index());
    bind(false);
  }

  // Whether a position of a thread is a result.
  [[nodiscard]] std::string isThere(bool isSecond) {
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
    Axes axes = m_shape.batch;
    axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
    add(insideAll(m_writer, m_problem.results, axes));
    bind(false);
    return condition;
  }

  [[nodiscard]] static std::string nameOf(bool isSecond) { return isSecond ? "x_next" : "x_at"; }
  void bind(bool isSecond) { m_writer.bindAxis(m_problem.across().position, nameOf(isSecond)); }

  // --- sums
  // Those of 8 positions of a row, by the number of these.
  [[nodiscard]] std::string sumsOf(const std::string& block, const std::string& more,
                                   std::string_view phaseNumber = {}) const {
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

  void scaleChannel() {
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

  // Some positions of a channel side by side in shared memory, with all their phases.
  void stage() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("__syncwarp();");
    unroll("i", m_layout.stagedBlocks);
    m_code.line("const int j = k * {} + i;", m_layout.stagedBlocks);
    const std::int64_t phases = m_problem.phases;
    m_code.line("float* const to = &staged[lane / 4 * {} + {}];", m_layout.stagedStride,
                phases == 1 ? "i * 8 + lane % 4 * 2" : fmt::format("(i * 8 + lane % 4 * 2) * {}", phases));
    const auto sum = [&](std::string_view phase, const std::string& more) {
      return sumsOf("j", more, phase) + (!lacksScale()   ? std::string()
                                         : joinsPhases() ? fmt::format(" * scales[{}]", phase)
                                                         : " * scale");
    };
    if (phases == 1) {
      m_code.line("const Vec<float, 2> both{{{{{}, {}}}}};", sum("", ""), sum("", " + 1"));
      m_code.line("store<float, 2>(to, both);");
    } else if (phases == 2) {
      m_code.line("const Vec<float, 4> both{{{{{}, {}, {}, {}}}}};", sum("0", ""), sum("1", ""), sum("0", " + 1"),
                  sum("1", " + 1"));
      m_code.line("store<float, 4>(to, both);");
    } else {
      m_text.openPhases("#pragma unroll");
      const std::string at = m_problem.phaseStep == 1 ? "p" : fmt::format("p * {} % {}", m_problem.phaseStep, phases);
      m_code.line("to[{}] = {};", at, sum("p", ""));
      m_code.line("to[{} + {}] = {};", at, phases, sum("p", " + 1"));
      m_code.close();
    }
    m_code.close();
    m_code.line("__syncwarp();");
    m_writer.leave(outside);
  }

  // Of what lies side by side, where a thread has its first in turn `i`.
  [[nodiscard]] std::string slotOfTurn() const {
    return neighbours() == 1 ? "i * 32 + lane" : fmt::format("(i * 32 + lane) * {}", neighbours());
  }

  // Binds the place of a result, by its number in what lies side by side.
  void openSlot(const std::string& number) {
    const std::int64_t phases = m_problem.phases;
    m_code.line("const int slot_at = {}, in = slot_at % {};", number, slots());
    openChannel(fmt::format("slot_at / {}", slots()));
    openRow();
    if (joinsPhases()) {
      std::int64_t inverse = 1;
      while (inverse * m_problem.phaseStep % phases != 1) {
        ++inverse;
      }
      m_code.line("const int p = in % {}{};", phases, inverse == 1 ? "" : fmt::format(" * {} % {}", inverse, phases));
      m_writer.bindAxis(*m_problem.phase, "p");
    }
    m_code.line("const {} x_at = x_first + k * {} + in{};", m_writer.index(), m_layout.stagedBlocks * kOfBlock,
                joinsPhases() ? fmt::format(" / {}", phases) : "");
    bind(false);
    if (!m_isFinished) {
      writeFinish();
    }
  }

  // All turns are read before the first is stored: the compiler would read each behind the branch around its store.
  void writeSlots() {
    const std::int64_t turns = slots() / 4 / neighbours();
    m_code.line("float found[{}];", slots() / 4);
    unroll("i", turns);
    m_code.line("const int slot_at = {};", slotOfTurn());
    const std::string place =
        fmt::format("staged[slot_at / {0} * {1} + slot_at % {0}]", slots(), m_layout.stagedStride);
    const std::string one = neighbours() == 1 ? "found[i]" : fmt::format("found[i * {} + e]", neighbours());
    if (neighbours() > 1) {
      m_code.line("Vec<float, {0}> some = load<float, {0}>(&{1});", neighbours(), place);
      unroll("e", neighbours());
    }
    m_code.line("{} = {};", one, neighbours() > 1 ? "some[e]" : place);
    if (lacksScale()) {
      m_code.line("odd += {} * 0.0f;", one);
    }
    if (neighbours() > 1) {
      m_code.close();
    }
    m_code.close();
    m_code.line("makeHere(found);");
    unroll("i", turns);
    const KernelWriter::Scope outside = m_writer.scope();
    openSlot(slotOfTurn());
    if (neighbours() > 1) {
      storeNeighbours(one);
    } else {
      storeOneIf(isThere(false), one, false);
    }
    m_code.close();
    m_writer.leave(outside);
  }

  void storeNeighbours(const std::string& one) {
    const std::string_view type = m_writer.dialect().storageName(result().dtype);
    m_code.open("if ({})", isThere(false));
    m_code.line("Vec<{}, {}> values;", type, neighbours());
    unroll("e", neighbours());
    m_code.line("values[e] = {};", m_isFinished ? one : fmt::format("finish({}, {})", one, argumentsAt("x_at + e")));
    m_code.close();
    m_code.line("store<{}, {}>(&{}, values);", type, neighbours(), m_writer.element(result()));
    m_code.close();
  }

  // Of positions that begin `shift` earlier, a thread has some of these 8 and some of those before.
  void shiftPair() {
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

  void writePair() {
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

  // --- stores
  // What is stored for a sum.
  [[nodiscard]] std::string finished(const std::string& total, bool isSecond) const {
    return m_isFinished ? total : fmt::format("finish({}, {})", total, arguments(isSecond));
  }

  [[nodiscard]] std::string arguments(bool isSecond) const { return argumentsAt(nameOf(isSecond)); }
  [[nodiscard]] std::string argumentsAt(const std::string& across) const {
    return fmt::format("{}{}{}", across, m_problem.down() == nullptr ? "" : ", y_at", joinsPhases() ? ", p" : "");
  }

  // The function of a sum and its place that computes what follows, and returns or stores it.
  void writeFinish() {
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
                  m_problem.down() == nullptr
                      ? std::string()
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

  void storePair(const std::string& left, const std::string& right) {
    const std::string_view type = m_writer.dialect().storageName(result().dtype);
    m_code.line("const Vec<{}, 2> both{{{{{}, {}}}}};", type, finished(left, false), finished(right, true));
    m_code.line("store<{}, 2>(&{}, both);", type, m_writer.element(result()));
  }

  void storeOne(const std::string& total, bool isSecond) {
    bind(isSecond);
    if (returnsValue()) {
      m_code.line("{} = {};", m_writer.element(result()), finished(total, isSecond));
    } else {
      m_code.line("finish({}, {});", total, arguments(isSecond));
    }
    bind(false);
  }

  void storeOneIf(const std::string& condition, const std::string& total, bool isSecond) {
    m_code.open("if ({})", condition);
    storeOne(total, isSecond);
    m_code.close();
  }

  // --- infinities and NaN
  void writeOdd() {
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

  void addUp(bool isSecond) {
    m_code.line("float total = 0.0f;");
    const KernelWriter::Scope outside = m_writer.scope();
    bind(isSecond);
    addProducts();
    m_writer.leave(outside);
    storeOne("total", isSecond);
  }

  bool m_isFinished = false;  // the sums are results already
};

}  // namespace

void writeHaloResults(HaloText& text) {
  HaloResults(text).write();
}

}  // namespace swage::synth
