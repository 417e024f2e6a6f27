// SPDX-License-Identifier: Apache-2.0
// What a convolution by wgmma folds of its results, as text. A thread has the sums of two channels: of each, pairs of
// neighbours in every 8 positions. So the 8 threads that are 4 apart in a warp have the same positions in 16 channels,
// and 4 neighbours have 8 positions of two channels.
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kBlocksOfRun = 8;  // that a warp folds at a time

class HaloFoldText : private HaloPart {
 public:
  explicit HaloFoldText(HaloText& text) : HaloPart(text) {}

  void write() {
    if (m_text.isScaled()) {
      scale();
      mend();
    }
    if (m_problem.folds == HaloFolds::Windows) {
      writeHaloPool(m_text);
      return;
    }
    if (m_problem.folds == HaloFolds::Positions) {
      foldPositions();
      return;
    }
    m_code.comment(
        "All channels of a position are folded: in a thread, across a warp, and by shared memory across the others.");
    m_code.line("float* const found_of = reinterpret_cast<float*>(behind + {}){};  // [warp][position]",
                m_layout.folded, m_tiles.parts > 1 ? fmt::format(" + part * {}", m_layout.foldedFloats) : "");
    m_code.line("float* const kept = found_of + {};  // of all channels", warps() * positions());
    for (int stage = 1; stage < m_region.stageCount(); ++stage) {
      for (int fold = 0; fold < static_cast<int>(m_region.folds.size()); ++fold) {
        if (foldAt(fold).stage == stage) {
          foldChannels(fold);
        }
      }
    }
    if (!m_problem.foldStores.empty()) {
      storeFound();
    }
  }

 private:
  // --- what a thread has
  [[nodiscard]] const Fold& foldAt(int fold) const { return m_region.folds[static_cast<std::size_t>(fold)]; }
  [[nodiscard]] std::int64_t warps() const { return 4 * m_tiles.groupsAcross(); }
  [[nodiscard]] std::int64_t threads() const { return warps() * 32; }  // that make the same positions
  [[nodiscard]] std::int64_t ofInstruction() const { return m_tiles.instructionPixels() / 2; }

  // --- sums as they are meant
  void scale() {
    m_code.line("float odd = 0.0f;  // or NaN, where something that is no number has been seen");
    unroll("half", 2);
    m_code.line("const int line = tile.column + first + warp * 16 + half * 8 + lane / 4;");
    const int phases = m_text.openPhases("#pragma unroll");
    const std::string batch = m_text.weightsBatch("p");
    m_code.line("const int e = {}[{}line];", m_text.exponents,
                batch.empty() ? "" : fmt::format("{} * {} + ", batch, m_weights.lines));
    m_code.line("const float scale = e == kNotFinite ? kNan : __int_as_float((e + 127) << 23) * unscale;");
    unroll("c", m_tiles.instructions());
    unroll("i", ofInstruction() / 2);
    m_code.line("float& of = sum[{}c][i / 2 * 4 + half * 2 + i % 2];",
                phases > 0 ? fmt::format("p * {} + ", m_tiles.instructions()) : "");
    m_code.line("of *= scale;");
    m_code.line("odd += of * 0.0f;");
    for (int i = 0; i < 3 + phases; ++i) {
      m_code.close();
    }
  }

  // Sums of a thread with infinities or NaN are added up anew, as floats are.
  void mend() {
    const std::int64_t all = m_problem.phases * m_tiles.instructions() * ofInstruction();
    m_code.comment("A thread with infinities or NaN adds up its sums anew, as floats are.");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int turn_of = 0; !(odd == 0.0f) && turn_of < {}; ++turn_of)", all);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int half = turn_of / 2 % 2, s = turn_of % 2;");
    if (m_tiles.isByRows()) {
      m_code.line("const int block = turn_of / 4;");
    } else {
      const std::int64_t ofPhase = m_tiles.instructions() * ofInstruction();
      m_code.line("const int block = turn_of / {} * {} + turn_of % {} / 4 * {} + turn_of / {} % {};", ofPhase,
                  ofPhase / 4, ofInstruction(), ofRow(), ofInstruction(), ofRow());
    }
    m_code.line("const {} column = tile.column + first + warp * 16 + half * 8 + lane / 4;", m_writer.index());
    m_writer.decode("column", m_shape.columns);
    openPosition();
    std::string condition = isThere();
    if (hasTail()) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    m_code.open("if ({})", condition.empty() ? "true" : condition);
    m_code.line("float total = 0.0f;");
    addUp();
    unroll("c", m_problem.phases * m_tiles.instructions());
    unroll("i", ofInstruction());
    m_code.line("sum[c][i] = c * {} + i == turn_of ? total : sum[c][i];", ofInstruction());
    for (int i = 0; i < 4; ++i) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  void addUp() {
    const KernelWriter::Scope outside = m_writer.scope();
    addProducts();
    m_writer.leave(outside);
  }

  // --- one fold
  // Loads what all positions of a channel have in common, for both channels of a thread.
  void loadOfChannels(int input) {
    std::set<int> loads;
    m_text.collectLoads(input, loads);
    std::erase_if(loads, [this](int load) { return m_problem.readsPositions(load); });
    for (const int load : loads) {
      const std::string name = m_writer.nameFor(load);
      m_code.line("{} {}[2] = {{}};", m_writer.dialect().typeName(m_text.primAt(load).type), name);
      unroll("half", 2);
      const KernelWriter::Scope outside = m_writer.scope();
      m_code.line("const {} column = tile.column + first + warp * 16 + half * 8 + lane / 4;", m_writer.index());
      m_writer.decode("column", m_shape.columns);
      if (hasTail()) {
        m_code.open("if (column < {})", m_shape.columnCount);
      }
      m_writer.compute({load});
      m_code.line("{}[half] = {};", name, m_writer.value(load).text);
      for (int i = 0; i < (hasTail() ? 2 : 1); ++i) {
        m_code.close();
      }
      m_writer.leave(outside);
      m_writer.bind(load, {name + "[half]"});
    }
  }

  // Whether a prim is computed from sums other than by what `held` holds.
  [[nodiscard]] bool readsSums(int prim, int held) const {
    const Prim& self = m_text.primAt(prim);
    if (prim == held || (self.kind == Prim::Kind::Folded && foldAt(self.fold).later)) {
      return false;
    }
    return self.kind == Prim::Kind::Folded ||
           std::any_of(self.args.begin(), self.args.end(), [&](int arg) { return readsSums(arg, held); });
  }
  [[nodiscard]] bool reads(int prim, int other) const {
    const Prim& self = m_text.primAt(prim);
    return prim == other || std::any_of(self.args.begin(), self.args.end(), [&](int arg) { return reads(arg, other); });
  }

  // Whether the input of a fold can take the place of the sums: whatever follows needs these for nothing else.
  [[nodiscard]] bool canHold(int fold) const {
    const int input = foldAt(fold).input;
    std::vector<int> roots = storedPrims(m_problem.resultStores);
    for (int other = 0; other < static_cast<int>(m_region.folds.size()); ++other) {
      if (foldAt(other).later && m_problem.isBefore(fold, other)) {
        roots.push_back(foldAt(other).input);
      }
    }
    return input != m_text.held && readsSums(input, -1) &&
           std::none_of(roots.begin(), roots.end(), [&](int root) { return readsSums(root, input); }) &&
           std::any_of(roots.begin(), roots.end(), [&](int root) { return reads(root, input); });
  }

  // The input of a fold at the bound position and channel, which takes the place of the sum where it can.
  [[nodiscard]] std::string takeInput(int fold) {
    const int input = foldAt(fold).input;
    m_code.line("const float total = {};", sumOf());
    m_text.bindSum("total");
    m_writer.compute({input});
    const Expression value = m_writer.value(input);
    if (canHold(fold)) {
      m_code.line("{} = {};", sumOf(), value.text);
      return sumOf();
    }
    return operand(value, Expression::Term);
  }
  void hold(int fold) {
    if (canHold(fold)) {
      m_text.held = foldAt(fold).input;
    }
  }

  // What a thread finds of the two channels at one of its positions, in `of`.
  void foldPair(int fold) {
    const Fold& self = foldAt(fold);
    const KernelWriter::Scope outside = m_writer.scope();
    openPosition();
    m_text.bindFound(fmt::format("block * {} + lane % 4 * 2 + s", kOfBlock));
    m_code.line("float of = {};", none(self.kind));
    const std::string condition = m_problem.readsPositions(self.input) ? isThere() : "";
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    unroll("half", 2);
    const KernelWriter::Scope inside = m_writer.scope();
    if (m_problem.readsPositions(self.input)) {
      m_code.line("const {} column = {}tile.column + first + warp * 16 + half * 8 + lane / 4{};", m_writer.index(),
                  hasTail() ? "min(" : "", hasTail() ? fmt::format(", {})", m_shape.columnCount - 1) : "");
      m_writer.decode("column", m_shape.columns);
    }
    const std::string value = takeInput(fold);
    m_code.line("of = {};",
                joined(self.kind, "of",
                       hasTail() ? fmt::format("(is_channel[half] ? {} : {})", value, none(self.kind)) : value));
    m_writer.leave(inside);
    for (int i = 0; i < (condition.empty() ? 1 : 2); ++i) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  // Lanes with the same positions join what they have found: each time they keep half of it, and at the end a lane has
  // two neighbours of 64 positions.
  void joinLanes(FoldKind kind) {
    for (std::int64_t width = kBlocksOfRun, mask = 16; width > 1; width /= 2, mask /= 2) {
      unroll("i", width);
      m_code.line("const bool upper = (lane & {}) != 0;", mask);
      m_code.line("const float other = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i + {}], {});", width, mask);
      m_code.line("v[i] = {};", joined(kind, fmt::format("(upper ? v[i + {}] : v[i])", width), "other"));
      m_code.close();
    }
  }

  void foldChannels(int fold) {
    const FoldKind kind = foldAt(fold).kind;
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.openBlock();
    m_writer.mentionLine(foldAt(fold).input);
    if (hasTail()) {
      m_code.line("bool is_channel[2];");
      unroll("half", 2);
      m_code.line("is_channel[half] = tile.column + first + warp * 16 + half * 8 + lane / 4 < {};",
                  m_shape.columnCount);
      m_code.close();
    }
    loadOfChannels(foldAt(fold).input);
    const bool isWhole = blocks() % kBlocksOfRun == 0;
    unroll("k", divideUp(blocks(), kBlocksOfRun));
    m_code.line("float v[{}];", 2 * kBlocksOfRun);
    unroll("c", kBlocksOfRun);
    m_code.line("const int block = k * {} + c;", kBlocksOfRun);
    unroll("s", 2);
    if (!isWhole) {
      m_code.line("v[c * 2 + s] = {};", none(kind));
      m_code.open("if (block < {})", blocks());
    }
    foldPair(fold);
    m_code.line("v[c * 2 + s] = of;");
    for (int i = 0; i < (isWhole ? 2 : 3); ++i) {
      m_code.close();
    }
    joinLanes(kind);
    m_code.line("const Vec<float, 2> both{{{{v[0], v[1]}}}};");
    if (!isWhole) {
      m_code.open("if (k * {} + lane * 2 < {})", kBlocksOfRun * kOfBlock, positions());
    }
    m_code.line("store<float, 2>(&found_of[({}warp) * {} + k * {} + lane * 2], both);",
                m_tiles.groupsAcross() > 1 ? "first / 16 + " : "", positions(), kBlocksOfRun * kOfBlock);
    for (int i = 0; i < (isWhole ? 1 : 2); ++i) {
      m_code.close();
    }
    hold(fold);
    m_writer.leave(outside);
    joinWarps(fold);
    m_code.close();
  }

  void sync() { m_code.line("syncThreads<{}>(1{});", threads(), m_tiles.parts > 1 ? " + part" : ""); }

  // Threads join what the warps have found, and compute what follows of that alone when the stage is complete.
  void joinWarps(int fold) {
    const FoldKind kind = foldAt(fold).kind;
    const KernelWriter::Scope outside = m_writer.scope();
    sync();
    m_code.open("for (int at = threadIdx.x % {0}; at < {1}; at += {0})", threads(), positions());
    m_code.line("float of = found_of[at];");
    unroll("i", warps() - 1);
    m_code.line("of = {};", joined(kind, "of", fmt::format("found_of[(i + 1) * {} + at]", positions())));
    m_code.close();
    const std::vector<int> kept = keptOfFolds(m_problem);
    bindEarlier(kept, fold);
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded && m_region.prims[prim].fold == fold) {
        m_writer.bind(static_cast<int>(prim), {"of"});
      }
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (m_problem.lastFold(kept[i]) == fold) {
        m_writer.compute({kept[i]});
        m_code.line("kept[{} + at] = {};", static_cast<std::int64_t>(i) * positions(), m_writer.value(kept[i]).text);
      }
    }
    m_code.close();
    sync();
    m_writer.leave(outside);
  }

  // What earlier folds have kept, of the position `at`.
  void bindEarlier(const std::vector<int>& kept, int fold) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (m_problem.isBefore(m_problem.lastFold(kept[i]), fold)) {
        m_writer.bind(kept[i], {fmt::format("kept[{} + at]", static_cast<std::int64_t>(i) * positions())});
      }
    }
  }

  // What is one for all channels, of a position to a thread.
  void storeFound() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t phases = m_problem.phases;
    const std::string_view type = m_writer.index();
    m_code.open("for (int i = threadIdx.x % {0}; i < {1}; i += {0})", threads(), positions());
    m_code.line("const int pixel = {};", over("i", phases));
    if (phases > 1) {
      m_code.line("const int p = i % {};", phases);
      m_writer.bindAxis(*m_problem.phase, "p");
    }
    m_code.line("const {} x_at = x_first + pixel % {};", type, m_tiles.width());
    m_writer.bindAxis(m_problem.across().position, "x_at");
    if (m_problem.down() != nullptr) {
      m_code.line("const {} y_at = y_first + pixel / {};", type, m_tiles.width());
      m_writer.bindAxis(m_problem.down()->position, "y_at");
    }
    const std::string condition = isThere();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_code.line("const int at = {}pixel;", phases > 1 ? fmt::format("p * {} + ", m_tiles.pixels) : "");
    m_text.bindFound("at");
    m_writer.compute(storedPrims(m_problem.foldStores));
    m_writer.store(m_problem.foldStores);
    for (int i = 0; i < (condition.empty() ? 1 : 2); ++i) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  // --- positions
  void foldPositions() {
    m_code.comment("What this tile tells of its positions, for the kernel that joins it with what others have found.");
    unroll("half", 2);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const {} column = {}tile.column + first + warp * 16 + half * 8 + lane / 4{};", m_writer.index(),
                hasTail() ? "min(" : "", hasTail() ? fmt::format(", {})", m_shape.columnCount - 1) : "");
    m_writer.decode("column", m_shape.columns);
    std::set<int> loads;
    for (const Fold& fold : m_region.folds) {
      if (fold.later) {
        m_text.collectLoads(fold.input, loads);
      }
    }
    for (const int load : loads) {
      if (!m_problem.readsPositions(load)) {
        m_writer.define(load);
      }
    }
    const HaloFindings findings(m_problem, m_layout);
    m_code.line("float* const found_of = {} + {} * {} + column;", m_text.findings,
                m_text.isBatched() ? fmt::format("(place * {} + batch)", m_problem.batchCount) : "place",
                findings.numbers * findings.channels);
    std::string mine = "lane % 4 == 0";
    if (hasTail()) {
      mine += fmt::format(" && tile.column + first + warp * 16 + half * 8 + lane / 4 < {}", m_shape.columnCount);
    }
    std::int64_t number = 0;
    for (int fold = 0; fold < static_cast<int>(m_region.folds.size()); ++fold) {
      if (!foldAt(fold).later) {
        continue;
      }
      m_code.openBlock();
      const bool isPair = foldAt(fold).kind == FoldKind::MomentPair;
      isPair ? foldMoments(fold) : foldNumbers(fold);
      hold(fold);
      m_code.open("if ({})", mine);
      for (const char* const name :
           isPair ? std::vector<const char*>{"n", "mean", "q"} : std::vector<const char*>{"some"}) {
        m_code.line("found_of[{}] = {};", number * findings.channels, name);
        ++number;
      }
      m_code.close();
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
  }

  [[nodiscard]] std::int64_t blocksOfRun() const { return blocks() % kBlocksOfRun == 0 ? kBlocksOfRun : 7; }

  // Computes the input of a fold at each position of a run, and writes what becomes of it where it is there. Where it
  // can be computed anyway it is, so that the compiler makes no branches, between which nothing is mixed.
  template <class Take>
  void forPositions(int fold, Take&& take) {
    const KernelWriter::Scope outside = m_writer.scope();
    openPositions();
    const std::string condition = isThere();
    if (condition.empty() || m_problem.readsPositions(foldAt(fold).input)) {
      if (!condition.empty()) {
        m_code.open("if ({})", condition);
      }
      take(takeInput(fold), std::string());
      for (int i = 0; i < (condition.empty() ? 2 : 3); ++i) {
        m_code.close();
      }
      m_writer.leave(outside);
      return;
    }
    m_code.line("v[c * 2 + s] = {};", takeInput(fold));
    m_code.close();
    m_code.close();
    m_code.line("makeHere(v);");
    m_writer.leave(outside);
    openPositions();
    m_code.line("const bool is_there = {};", isThere());
    take("v[c * 2 + s]", "is_there");
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }
  // Of a run; the caller closes two blocks.
  void openPositions() {
    unroll("c", blocksOfRun());
    m_code.line("const int block = k * {} + c;", blocksOfRun());
    unroll("s", 2);
    openPosition();
  }
  [[nodiscard]] static std::string chosen(const std::string& condition, const std::string& value,
                                          const std::string& otherwise) {
    return condition.empty() ? value : fmt::format("({} ? {} : {})", condition, value, otherwise);
  }

  void joinQuads(FoldKind kind, const std::string& name) {
    for (const int mask : {1, 2}) {
      m_code.line("{0} = {1};", name,
                  joined(kind, name, fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", name, mask)));
    }
  }

  // In runs, so that rounding takes little.
  void foldNumbers(int fold) {
    const FoldKind kind = foldAt(fold).kind;
    m_code.line("float some = {};", none(kind));
    unroll("k", blocks() / blocksOfRun());
    m_code.line("float v[{}];", 2 * blocksOfRun());
    m_code.line("float of = {};", none(kind));
    forPositions(fold, [&](const std::string& value, const std::string& condition) {
      m_code.line("of = {};", joined(kind, "of", chosen(condition, value, none(kind))));
    });
    m_code.line("some = {};", joined(kind, "some", "of"));
    m_code.close();
    joinQuads(kind, "some");
  }

  // Deviations from the first value, which is near the mean, lose no digits where the mean is far from zero.
  void foldMoments(int fold) {
    m_code.line("float start = 0.0f;");
    m_code.openBlock();
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int block = 0, s = 0;");
    openPosition();
    const std::string condition = isThere();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_code.line("const float total = {};", sumOf());
    m_text.bindSum("total");
    m_writer.compute({foldAt(fold).input});
    m_code.line("start = {};", m_writer.value(foldAt(fold).input).text);
    for (int i = 0; i < (condition.empty() ? 1 : 2); ++i) {
      m_code.close();
    }
    m_writer.leave(outside);
    m_code.line("start = __shfl_sync(0xffffffffu, start, lane / 4 * 4);");
    m_code.line("start = start * 0.0f == 0.0f ? start : 0.0f;");
    m_code.line("float n = 0.0f, mean = 0.0f, q = 0.0f;");
    unroll("k", blocks() / blocksOfRun());
    m_code.line("float v[{}], some = 0.0f, of = 0.0f;", 2 * blocksOfRun());
    forPositions(fold, [&](const std::string& value, const std::string& there) {
      m_code.line("const float far = {};", chosen(there, value + " - start", "0.0f"));
      m_code.line("n += {};", there.empty() ? "1.0f" : there + " ? 1.0f : 0.0f");
      m_code.line("some += far;");
      m_code.line("of += far * far;");
    });
    m_code.line("mean += some;");
    m_code.line("q += of;");
    m_code.close();
    for (const char* const name : {"n", "mean", "q"}) {
      joinQuads(FoldKind::Sum, name);
    }
    m_code.open("if (n > 0.0f)");
    m_code.line("mean /= n;");
    m_code.line("q = maximum(q - mean * mean * n, 0.0f);");
    m_code.line("mean += start;");
    m_code.close();
  }
};

}  // namespace

void writeHaloFolds(HaloText& text) {
  HaloFoldText(text).write();
}

}  // namespace swage::synth
