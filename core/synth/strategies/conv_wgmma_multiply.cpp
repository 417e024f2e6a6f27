// SPDX-License-Identifier: Apache-2.0
// The warp groups of a convolution by wgmma that multiply, as text.
#include <algorithm>
#include <cstdlib>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

using Axes = std::vector<std::size_t>;

class HaloMultiply : private HaloPart {
 public:
  explicit HaloMultiply(HaloText& text) : HaloPart(text) {}

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

  // Of all phases that a block makes.
  [[nodiscard]] std::int64_t sums() const { return m_problem.phases * m_tiles.instructions(); }
  void openInstructions(std::int64_t count) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", count);
  }
  // One call for the sums of each instruction.
  void forSums(const std::string& call) { forAll(call, "sum", sums()); }
  void forAll(const std::string& call, std::string_view name, std::int64_t count) {
    for (std::int64_t c = 0; c < count; ++c) {
      m_code.line("{}({}[{}]);", call, name, c);
    }
  }
  void openEach() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.instructionPixels() / 2);
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
    m_code.line("float sum[{}][{}];", sums(), m_tiles.instructionPixels() / 2);
    if (m_layout.isPromoted) {
      m_code.line("float recent[{}][{}];  // of a few places of the window", m_tiles.instructions(),
                  m_tiles.instructionPixels() / 2);
    }
    const std::string isEmpty = m_text.isEmptyTile();
    if (!isEmpty.empty()) {
      m_code.line("const bool is_empty = {};  // this phase has nothing of the window", isEmpty);
    }
    if (m_text.isScaled()) {
      m_code.line("float unscale = 0.0f;");
      m_code.open("while (unscale == 0.0f)");
    }
    if (!m_layout.isPromoted) {
      m_code.line("bool keep = {};", m_problem.hasPhases ? "true" : "false");
    }
    if (m_problem.hasPhases || m_layout.isPromoted) {
      openInstructions(sums());
      openEach();
      m_code.line("sum[c][i] = 0.0f;");
      m_code.close();
      m_code.close();
    }
    m_text.openSteps(isEmpty.empty() ? std::string() : fmt::format("(is_empty ? 0 : {})", m_layout.steps));
    multiplyStep();
    m_code.close();
    if (m_text.isScaled() && !isEmpty.empty()) {
      m_code.open("if (is_empty)");
      m_code.line("unscale = 1.0f;");
      m_code.close();
    }
    if (m_text.isScaled()) {
      m_code.close();
    }
    writeHaloResults(m_text);
    m_code.close();
    m_writer.leave(outside);
  }

  // Of the weights of a place of the window, and of the patch.
  void describeLeft(const std::string& stage, std::int64_t lead) {
    m_code.line("const unsigned long long left = plainDescriptor(stages + {} * {} + first * 16, {}, 128);", stage,
                m_tiles.stageBytes(), lead);
  }
  void describeRight(const std::string& pixels, std::int64_t lead) {
    m_code.line("const unsigned long long right = plainDescriptor(memory + slot * {} + ({}{}) * 16, {}, {});",
                m_layout.patchBytes, m_tiles.parts > 1 ? fmt::format("part * {} + ", m_layout.pixels) : "", pixels,
                lead, m_tiles.isByRows() ? 128 : m_layout.pitch * 16);
  }

  // Which halves of weights and patch are multiplied: those that make small sums first.
  struct Product {
    bool isLeftLow = false;
    bool isRightLow = false;
  };
  // The products of 16 of the sum number `i`, of all instructions. `left`, `right`: what is added to the descriptors.
  void multiplyAll(const Product& product, const std::string& left, const std::string& right, const std::string& keep) {
    const std::string sum = m_layout.isPromoted    ? "recent[c]"
                            : m_problem.phases > 1 ? fmt::format("sum[p * {} + c]", m_tiles.instructions())
                                                   : std::string("sum[c]");
    openInstructions(m_tiles.instructions());
    m_code.line("multiply_{}({}, left + {}{}, right + {}{} + c * {}, {});", m_text.number, sum, left,
                product.isLeftLow ? fmt::format(" + {}", m_tiles.halfBytes() / 16) : "", right,
                product.isRightLow ? fmt::format(" + {}", m_layout.allPixels * m_tiles.pieces()) : "",
                m_layout.instructionStep(m_tiles), keep);
    m_code.close();
  }
  // Of one place of the window.
  void multiplyPlace(const Product& product, const std::string& keep) {
    multiplyAll(product, fmt::format("i * {}", 2 * m_tiles.columns), fmt::format("i * {}", 2 * m_layout.allPixels),
                keep);
  }
  void openDepth() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.depth / 16);
  }

  // All channels of a patch at one place of the window.
  void multiplyPlace() {
    std::string stage = m_text.stageNumber();
    if (!m_layout.isKept) {
      m_code.line("waitFor(full + {} + stage * 8, phase);", HaloLayout::kFullStage);
      stage = "stage";
    }
    describeLeft(stage, m_tiles.columns * 16);
    describeRight(shift(), m_layout.allPixels * 16);
    forSums("openProducts");
    openDepth();
    multiplyPlace({}, "i > 0 || keep");
    m_code.close();
  }

  // --- exact products, and two places of the window at once
  // Sums of a few places: begins them, and ends them.
  void openRecent() {
    if (m_layout.isPromoted) {
      forAll("openProducts", "recent", m_tiles.instructions());
    } else {
      forSums("openProducts");
    }
  }
  void closeRecent(const std::string& condition) {
    m_code.line("closeProducts();");
    if (!m_layout.isPromoted) {
      m_code.line("keep = true;");
      forSums("waitForProducts<0>");
      return;
    }
    forAll("waitForProducts<0>", "recent", m_tiles.instructions());
    openInstructions(m_tiles.instructions());
    openEach();
    m_code.line("sum[{}c][i] += {};", m_problem.phases > 1 ? fmt::format("p * {} + ", m_tiles.instructions()) : "",
                condition.empty() ? "recent[c][i]" : fmt::format("{} ? recent[c][i] : 0.0f", condition));
    m_code.close();
    m_code.close();
  }

  // Weights that come in turns: place by place.
  void multiplyStages() {
    const int phases = m_text.openPhases("#pragma unroll");
    m_text.openTaps();
    m_code.line("waitFor(full + {} + stage * 8, phase);", HaloLayout::kFullStage);
    describeLeft("stage", m_tiles.columns * 16);
    describeRight(shift(), m_layout.allPixels * 16);
    openRecent();
    openDepth();
    multiplyPlace({true, false}, "i > 0");
    multiplyPlace({false, true}, "1");
    m_code.close();
    openDepth();
    multiplyPlace({}, "1");
    m_code.close();
    closeRecent("");
    arrive(fmt::format("full + {} + stage * 8", HaloLayout::kEmptyStage));
    m_text.advanceStage();
    for (int i = 0; i < 1 + phases; ++i) {
      m_code.close();
    }
  }

  // Kept weights: all places, or as many as may be added up at a time.
  void multiplyWindows() {
    const bool hasWindows = m_layout.window < m_layout.taps;
    const int phases = m_text.openPhases("#pragma unroll");
    HaloText::TapRange range;
    if (hasWindows) {
      m_code.pragma("#pragma unroll 1");
      m_code.open("for (int start = 0; start < {}; start += {})", m_layout.taps, m_layout.window);
      range = {"start",
               fmt::format("{}start + {}{}", m_layout.taps % m_layout.window == 0 ? "" : "min(", m_layout.window,
                           m_layout.taps % m_layout.window == 0 ? "" : fmt::format(", {})", m_layout.taps))};
    }
    if (m_layout.isPromoted) {
      m_code.line("bool keep = false;");
    }
    openRecent();
    for (const bool isMain : {false, true}) {
      const KernelWriter::Scope outside = m_writer.scope();
      m_text.openTaps(HaloText::EmptyPlaces::Skipped, range);
      describeLeft(m_text.stageNumber(), m_tiles.columns * 16);
      describeRight(shift(), m_layout.allPixels * 16);
      openDepth();
      if (isMain) {
        multiplyPlace({}, "1");
      } else {
        multiplyPlace({true, false}, "i > 0 || keep");
        multiplyPlace({false, true}, "1");
      }
      m_code.close();
      if (!isMain) {
        m_code.line("keep = true;");
      }
      m_code.close();
      m_writer.leave(outside);
    }
    closeRecent(m_problem.hasPhases ? "keep" : "");
    for (int i = 0; i < (hasWindows ? 1 : 0) + phases; ++i) {
      m_code.close();
    }
  }

  // Two places of the window at once, whose distance is in the descriptors. Behind an odd count of places there is one
  // with weights of zero, which the pixels of the last place are multiplied by once more.
  void multiplyPairs() {
    const std::int64_t pairs = m_layout.ofPatch / 2;
    const std::int64_t atOnce = m_layout.isPromoted ? std::min(m_layout.window / 2, pairs) : pairs;
    if (!m_layout.hasPairTable(m_tiles)) {
      std::string list;
      for (const std::string& pair : m_text.pairs()) {
        list += (list.empty() ? "" : ", ") + pair;
      }
      m_code.line("constexpr unsigned int pairs[{}] = {{{}}};  // {}", pairs, list, HaloText::kPairs);
    }
    describeLeft(m_layout.steps > 1 ? fmt::format("step * {}", m_layout.ofPatch) : "0", m_tiles.stageBytes());
    describeRight("0", 0);
    std::string begin = "0";
    std::string end = std::to_string(pairs);
    if (atOnce < pairs) {
      m_code.pragma("#pragma unroll 1");
      m_code.open("for (int start = 0; start < {}; start += {})", pairs, atOnce);
      begin = "start";
      end = pairs % atOnce == 0 ? fmt::format("start + {}", atOnce) : fmt::format("min(start + {}, {})", atOnce, pairs);
    }
    openRecent();
    const std::string keep = m_layout.isPromoted ? fmt::format("i > {}", begin) : "i > 0 || keep";
    if (m_tiles.isExact()) {
      openPairs(begin, end);
      multiplyPair({true, false}, keep);
      multiplyPair({false, true}, "1");
      m_code.close();
    }
    openPairs(begin, end);
    multiplyPair({}, m_tiles.isExact() ? "1" : keep);
    m_code.close();
    closeRecent("");
    if (atOnce < pairs) {
      m_code.close();
    }
  }
  void openPairs(const std::string& begin, const std::string& end) {
    m_code.pragma(m_layout.hasPairTable(m_tiles) ? "#pragma unroll 1" : "#pragma unroll");
    m_code.open("for (int i = {}; i < {}; ++i)", begin, end);
  }
  void multiplyPair(const Product& product, const std::string& keep) {
    multiplyAll(product, fmt::format("i * {}", 2 * m_tiles.stageBytes() / 16), "pairs[i]", keep);
  }

  void multiplyStep() {
    m_code.line("waitFor(full + slot * 8, turn);");
    if (m_tiles.isPaired()) {
      multiplyPairs();
    } else if (m_tiles.isExact() && m_layout.isKept) {
      multiplyWindows();
    } else if (m_tiles.isExact()) {
      multiplyStages();
    } else {
      multiplyPlaces();
    }
    if (m_text.isScaled()) {
      m_code.line("unscale = verdict[slot];  // of the last patch: 0 if the tile is made again");
    }
    arrive("empty + slot * 8");
    m_code.line("advance();");
  }

  // Place by place.
  void multiplyPlaces() {
    if (!m_layout.isKept) {
      m_code.line("int previous = -1;");
    }
    const int phases = m_text.openPhases("#pragma unroll");
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
    for (int i = 0; i < 1 + phases; ++i) {
      m_code.close();
    }
    forSums("waitForProducts<0>");
    if (!m_layout.isKept) {
      m_code.open("if (previous >= 0)");
      arrive(fmt::format("full + {} + previous * 8", HaloLayout::kEmptyStage));
      m_code.close();
    }
  }
};

}  // namespace

void writeHaloMultiply(HaloText& text) {
  HaloMultiply(text).consume();
}

}  // namespace swage::synth
