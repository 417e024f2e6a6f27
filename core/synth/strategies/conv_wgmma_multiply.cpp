// SPDX-License-Identifier: Apache-2.0
// The warp groups of a convolution by wgmma that multiply, as text.
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
  void forSums(const std::string& call) {
    for (std::int64_t c = 0; c < sums(); ++c) {
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
    const std::string isEmpty = m_text.isEmptyTile();
    if (!isEmpty.empty()) {
      m_code.line("const bool is_empty = {};  // this phase has nothing of the window", isEmpty);
    }
    if (m_text.isScaled()) {
      m_code.line("float unscale = 0.0f;");
      m_code.open("while (unscale == 0.0f)");
    }
    m_code.line("bool keep = {};", m_problem.hasPhases ? "true" : "false");
    if (m_problem.hasPhases) {
      openInstructions(sums());
      m_code.pragma("#pragma unroll");
      m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.instructionPixels() / 2);
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

  // All channels of a patch at one place of the window.
  void multiplyPlace() {
    std::string stage = m_text.stageNumber();
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
    openInstructions(m_tiles.instructions());
    m_code.line("multiply_{}(sum[{}c], left + i * {}, right + i * {} + c * {}, i > 0 || keep);", m_text.number,
                m_problem.phases > 1 ? fmt::format("p * {} + ", m_tiles.instructions()) : "", 2 * m_tiles.columns,
                2 * m_layout.allPixels, m_layout.instructionStep(m_tiles));
    m_code.close();
    m_code.close();
  }

  void multiplyStep() {
    m_code.line("waitFor(full + slot * 8, turn);");
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
    if (m_text.isScaled()) {
      m_code.line("unscale = verdict[slot];  // of the last patch: 0 if the tile is made again");
    }
    arrive("empty + slot * 8");
    m_code.line("advance();");
  }
};

}  // namespace

void writeHaloMultiply(HaloText& text) {
  HaloMultiply(text).consume();
}

}  // namespace swage::synth
