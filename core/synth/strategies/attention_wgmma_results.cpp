// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of attention by wgmma, as text.
#include "core/synth/sizes.h"
#include "core/synth/strategies/attention_wgmma_text.h"

namespace swage::synth {
namespace {

class AttentionResults : private AttentionPart {
 public:
  explicit AttentionResults(AttentionText& text) : AttentionPart(text) {}

  void write() {
    m_code.comment("The results, with what follows.");
    m_code.line("const int first_row = tile.row{};", m_text.isBatched() ? ", batch = tile.batch" : "");
    if (m_text.isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int h = 0; h < 2; ++h)");
    m_code.line("const int row = first_row + warp * 16 + h * 8 + lane / 4;");
    if (m_text.hasWeights()) {
      m_text.meet("weights[h]", "{0} + {1}");
    }
    m_writer.decode("row", m_shape.rows);
    if (hasPieces()) {
      storePieces();
    } else {
      storeEach();
    }
    m_code.close();
  }

 private:
  void bindResult(const std::string& total) {
    m_writer.bind(m_shape.total, {total});
    if (m_text.hasWeights()) {
      m_writer.bind(m_shape.weights, {"weights[h]"});
    }
  }

  // Whether 8 columns of halves can be stored at once, after lanes have exchanged what they have of 32.
  [[nodiscard]] bool hasPieces() const {
    if (m_shape.columnCount % 32 != 0 || m_region.groupStores.size() != 1) {
      return false;
    }
    const Store& store = m_region.groupStores[0];
    const Operand& out = m_region.operands[asIndex(store.operand)];
    if (out.dtype != m_text.query.operand->dtype || m_region.prims[asIndex(store.prim)].type != Compute::F32 ||
        out.offset % 8 != 0 || (m_text.hasRowTail() && !m_writer.buffersOf(store.prim).empty())) {
      return false;
    }
    for (std::size_t axis = 0; axis < out.strides.size(); ++axis) {
      const bool isColumn = axis == m_shape.columns[0];
      if (isColumn ? out.strides[axis] != 1 : out.strides[axis] % 8 != 0) {
        return false;
      }
    }
    return true;
  }

  void storePieces() {
    const Store& store = m_region.groupStores[0];
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; c += 4)", m_shape.columnCount / 8);
    m_code.line("unsigned int pairs[4];  // of 8 columns each; after the exchange a lane has all of one");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 0; j < 4; ++j)");
    const std::string column = "(c + j) * 8 + lane % 4 * 2";
    const KernelWriter::Scope before = m_writer.scope();
    std::string values[2];
    for (const int side : {0, 1}) {
      // Names are kept, values are others.
      KernelWriter::Scope same = m_writer.scope();
      same.prims = before.prims;
      m_writer.leave(std::move(same));
      m_writer.bindAxis(m_shape.columns[0], fmt::format("({}{})", column, side == 0 ? "" : " + 1"));
      bindResult(fmt::format("total[(c + j) * 4 + 2 * h{}]", side == 0 ? "" : " + 1"));
      m_writer.compute({store.prim});
      values[side] = m_writer.value(store.prim).text;
    }
    m_code.line("pairs[j] = {}({}, {});", m_text.packing(), values[0], values[1]);
    m_code.close();
    m_writer.leave(before);
    m_code.line("turnQuads(pairs);");
    if (m_text.hasRowTail()) {
      m_code.open("if (row < {})", m_shape.rowCount);
    }
    m_writer.bindAxis(m_shape.columns[0], "(c * 8 + lane % 4 * 8)");
    m_code.line("storeWords(&{}, pairs);", m_writer.element(m_region.operands[asIndex(store.operand)]));
    if (m_text.hasRowTail()) {
      m_code.close();
    }
    m_code.close();
  }

  void storeEach() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.columns / 4);
    m_code.line("const int column = c / 2 * 8 + lane % 4 * 2 + c % 2;");
    std::string condition;
    if (m_text.hasRowTail()) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.columnCount != m_tiles.columns) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.decode("column", m_shape.columns);
    bindResult("total[c / 2 * 4 + 2 * h + c % 2]");
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.close();
  }
};

}  // namespace

void writeAttentionResults(AttentionText& text) {
  AttentionResults(text).write();
}

}  // namespace swage::synth
