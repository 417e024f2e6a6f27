// SPDX-License-Identifier: Apache-2.0
// A pooling behind a convolution by wgmma, as text. Positions below each other are sums of one thread, and so are pairs
// of neighbours; four neighbours or eight are those of two threads side by side, or four.
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

class HaloPoolText : private HaloPart {
 public:
  explicit HaloPoolText(HaloText& text) : HaloPart(text), m_fold(m_region.folds.back()) {}

  // Results take the places of sums before any is stored, as elsewhere: a thread then has many that do not wait for
  // each other.
  void write() {
    m_code.comment(fmt::format("Windows of {} x {} positions are folded, and their results stored.",
                               m_problem.poolDown.size, m_problem.poolAcross.size));
    unroll("half", 2);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const {} line = tile.column + first + warp * 16 + half * 8 + lane / 4;", m_writer.index());
    m_code.line("const {} column = {};", m_writer.index(),
                hasTail() ? fmt::format("min(line, ({}){})", m_writer.index(), m_shape.columnCount - 1) : "line");
    m_writer.decode("column", m_shape.columns);
    loadOfChannel();
    openWindows();
    foldWindow();
    closeWindows();
    unroll("c", m_tiles.instructions());
    m_code.line("makeHere(sum[c]);");
    m_code.close();
    openWindows();
    storeWindow();
    closeWindows();
    m_code.close();
    m_writer.leave(outside);
  }

 private:
  [[nodiscard]] const std::vector<Store>& stores() const { return m_problem.foldStores; }
  // Whether what is stored takes the place of sums, not what the fold finds.
  [[nodiscard]] bool isAhead() const {
    return stores().size() == 1 && m_text.primAt(stores().front().prim).type == Compute::F32 &&
           !m_problem.readsPositions(stores().front().prim);
  }

  // Loads what all positions of a channel have in common.
  void loadOfChannel() {
    std::set<int> loads;
    m_text.collectLoads(m_fold.input, loads);
    for (const int prim : storedPrims(stores())) {
      m_text.collectLoads(prim, loads);
    }
    for (const int load : loads) {
      if (!m_problem.readsPositions(load)) {
        m_writer.define(load);
      }
    }
  }

  void bindFold(const std::string& value) {
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      const Prim& self = m_region.prims[prim];
      if (self.kind == Prim::Kind::Folded && m_region.folds[static_cast<std::size_t>(self.fold)].later) {
        m_writer.bind(static_cast<int>(prim), {value});
      }
    }
  }

  // Of a thread: rows of windows, and blocks of 8 positions across.
  void openWindows() {
    unroll("y", m_tiles.height() / m_problem.poolDown.size);
    unroll("j", ofRow());
  }
  void closeWindows() {
    m_code.close();
    m_code.close();
  }

  // The row of blocks number `below` of a window; the result of the window takes the place of its first sum.
  void openBlock(const std::string& below) {
    const std::int64_t down = m_problem.poolDown.size;
    const std::string row = (down == 1 ? "y" : fmt::format("y * {}", down)) + (below.empty() ? "" : " + " + below);
    m_code.line("const int block = ({}) * {} + j;", row, ofRow());
  }

  void foldWindow() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("float of = {};", none(m_fold.kind));
    unroll("below", m_problem.poolDown.size);
    openBlock("below");
    unroll("s", 2);
    takePosition();
    m_code.close();
    m_code.close();
    for (std::int64_t mask = 1; mask * 2 < m_problem.poolAcross.size; mask *= 2) {
      m_code.line("of = {};", joined(m_fold.kind, "of", fmt::format("__shfl_xor_sync(0xffffffffu, of, {})", mask)));
    }
    openBlock("");
    m_code.line("const int s = 0;");
    std::string result = "of";
    if (isAhead()) {
      const int prim = stores().front().prim;
      bindFold("of");
      m_writer.compute({prim});
      result = m_writer.value(prim).text;
    }
    m_code.line("{} = {};", sumOf(), result);
    m_writer.leave(outside);
  }

  // Windows lie inside of tiles, so that positions of one are all there or none, and what is not there may be anything
  // that nothing is read for.
  void takePosition() {
    const KernelWriter::Scope outside = m_writer.scope();
    std::string condition;
    if (m_problem.readsPositions(m_fold.input)) {
      openPosition();
      condition = isThere();
    }
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_code.line("const float total = {};", sumOf());
    m_text.bindSum("total");
    m_writer.compute({m_fold.input});
    m_code.line("of = {};", joined(m_fold.kind, "of", operand(m_writer.value(m_fold.input), Expression::Term)));
    if (!condition.empty()) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  void storeWindow() {
    const KernelWriter::Scope outside = m_writer.scope();
    openBlock("");
    m_code.line("const int s = 0;");
    const std::string condition = bindWindow();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_code.line("const float found = {};", sumOf());
    if (isAhead()) {
      m_writer.bind(stores().front().prim, {"found"});
    } else {
      bindFold("found");
      m_writer.compute(storedPrims(stores()));
    }
    m_writer.store(stores());
    if (!condition.empty()) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  // Binds the window of a thread; the condition that it has a result to store, empty: it always has.
  [[nodiscard]] std::string bindWindow() {
    const HaloPool& across = m_problem.poolAcross;
    const HaloDim* const down = m_problem.down();
    const std::int64_t below = m_problem.poolDown.size;
    std::string condition;
    const auto add = [&](const std::string& more) { condition += (condition.empty() ? "" : " && ") + more; };
    m_code.line("const {} x_window = x_first / {} + (j * {} + lane % 4 * 2) / {};", m_writer.index(), across.size,
                kOfBlock, across.size);
    m_writer.bindAxis(*across.windows, "x_window");
    if (m_problem.across().positions % m_tiles.width() != 0) {
      add(fmt::format("x_window < {}", m_problem.across().positions / across.size));
    }
    if (down != nullptr) {
      m_code.line("const {} y_window = {} + y;", m_writer.index(), over("y_first", below));
      m_writer.bindAxis(m_problem.poolDown.windows.value_or(down->position), "y_window");
      if (down->positions % m_tiles.height() != 0) {
        add(fmt::format("y_window < {}", down->positions / below));
      }
    }
    if (across.size > 2) {
      add(fmt::format("lane % {} == 0", across.size / 2));
    }
    if (hasTail()) {
      add(fmt::format("line < {}", m_shape.columnCount));
    }
    return condition;
  }

  const Fold& m_fold;
};

}  // namespace

void writeHaloPool(HaloText& text) {
  HaloPoolText(text).write();
}

}  // namespace swage::synth
