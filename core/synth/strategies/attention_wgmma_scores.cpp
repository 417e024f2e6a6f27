// SPDX-License-Identifier: Apache-2.0
// The scores of attention by wgmma, from products to exponentials, as text.
#include "core/synth/strategies/attention_wgmma_text.h"

namespace swage::synth {
namespace {

class AttentionScores : private AttentionPart {
 public:
  explicit AttentionScores(AttentionText& text) : AttentionPart(text) {}

  void write() {
    writePieces();
    changeScores();
    weigh();
  }

 private:
  // What is to be brought ahead of the products it belongs to: 8 keys at a time, of 32 to four lanes.
  void writePieces() {
    if (m_tiles.pieces.empty()) {
      return;
    }
    for (const int prim : m_tiles.pieces) {
      m_pieces.push_back(m_writer.unique(m_writer.parameterOf(m_text.operandOf(prim)) + "_ahead"));
      m_code.line("unsigned int {}[{}][4];", m_pieces.back(), m_tiles.keys / 16);
    }
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto bringPieces = [&](int first_key)");
    m_code.line("const int first_row = tile.row{};", m_text.isBatched() ? ", batch = tile.batch" : "");
    if (m_text.isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 16);
    const auto kept = [](const std::string& place, bool hasTail, std::int64_t last) {
      return hasTail ? fmt::format("min({}, {})", place, last) : place;
    };
    m_code.line("const int row = {};",
                kept("first_row + warp * 16 + lane / 4 + i % 2 * 8", m_text.hasRowTail(), m_shape.rowCount - 1));
    m_code.line("const int key = {};", kept("first_key + i / 2 * 32 + lane % 4 * 8",
                                            m_shape.keyCount % m_tiles.keys != 0, m_shape.keyCount - 8));
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("key", m_shape.keys);
    for (std::size_t i = 0; i < m_pieces.size(); ++i) {
      m_code.line("loadWords({}[i], &{});", m_pieces[i], m_writer.element(m_text.operandOf(m_tiles.pieces[i])));
    }
    m_code.close();
    m_code.close(";");
    m_writer.leave(outside);
  }

  // Each lane gets what belongs to its scores.
  void turnPieces() {
    if (m_pieces.empty()) {
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 16);
    for (const std::string& name : m_pieces) {
      m_code.line("turnQuads({}[i]);", name);
    }
    m_code.close();
  }

  void bindPieces() {
    for (std::size_t i = 0; i < m_pieces.size(); ++i) {
      m_writer.bind(
          m_tiles.pieces[i],
          {fmt::format("toFloat({}{{static_cast<unsigned short>({}[i / 16 * 2 + i / 2 % 2][i / 4 % 4] >> i % 2 "
                       "* 16)}})",
                       m_writer.dialect().storageName(m_text.operandOf(m_tiles.pieces[i]).dtype), m_pieces[i])});
    }
  }

  void openScores() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 2);
    m_code.line("const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;");
    m_code.line("const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2;");
  }

  // From products to what the softmax is taken of, and away with what does not take part.
  void changeScores() {
    if (!m_text.changesScores()) {
      return;
    }
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto changeScores = [&](int first_key)");
    m_code.line("const int first_row = tile.row;");
    if (!m_tiles.isPlain) {
      changeAnyScores();
    }
    const bool hasTail = m_shape.keyCount % m_tiles.keys != 0;
    if (m_shape.isCausal || (hasTail && m_tiles.isPlain)) {
      // Rows of the last tile may lie behind the last key.
      const bool isBehind = hasTail && m_shape.keyCount < m_text.schedule.down * m_tiles.rows();
      const std::string last = std::to_string(m_shape.keyCount - 1);
      const auto lastOf = [&](const std::string& row) {
        return !m_shape.isCausal ? last : isBehind ? fmt::format("min({}, {})", row, last) : row;
      };
      m_code.open("if (first_key + {} > {})", m_tiles.keys - 1, lastOf("first_row + warp * 16"));
      openScores();
      m_code.line("score[i] = key > {} ? -kInfinity : score[i];", lastOf("row"));
      m_code.close();
      m_code.close();
    }
    m_code.close(";");
    m_writer.leave(outside);
  }

  void changeAnyScores() {
    const KernelWriter::Scope outside = m_writer.scope();
    turnPieces();
    if (m_text.isBatched()) {
      m_code.line("const int batch = tile.batch;");
      m_writer.decode("batch", m_shape.batch);
    }
    openScores();
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows() != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.keyCount % m_tiles.keys != 0) {
      condition += fmt::format("{}key < {}", condition.empty() ? "" : " && ", m_shape.keyCount);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("key", m_shape.keys);
    m_code.line("float changed = -kInfinity;");
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.bind(m_shape.products, {"score[i]"});
    bindPieces();
    m_writer.compute({m_shape.score});
    m_code.line("changed = {};", m_writer.value(m_shape.score).text);
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.line("score[i] = changed;");
    m_code.close();
    m_writer.leave(outside);
  }

  [[nodiscard]] std::string constant(double value) const { return m_writer.dialect().constant(value, Compute::F32); }

  // From scores to powers of two. Where they are products times a number, the exponent takes it in.
  void weigh() {
    m_code.open("const auto weigh = [&]");
    m_code.line("is_less = false;");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int h = 0; h < 2; ++h)");
    m_code.line("float most = score[2 * h];");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 2 * h; i < {}; i += 4)", m_tiles.keys / 2);
    m_code.line("most = fmaxf(most, fmaxf(score[i], score[i + 1]));");
    m_code.close();
    m_text.meet("most", "fmaxf({0}, {1})");
    const std::string factor = constant(m_tiles.isPlain ? m_shape.factor * kLog2E : kLog2E);
    m_code.comment(fmt::format("Shrinking sums costs time: weights may be 2^{:.0f} before.", kLargestWeight));
    m_code.line("most = __fmul_ru(most, {});  // no exponent is above zero, however large scores are", factor);
    m_code.line("most = most - largest[h] > {0} ? most : largest[h];", constant(kLargestWeight));
    m_code.line("const float base = most == -kInfinity ? 0.0f : most;");
    m_code.line("remaining[h] = powerOfTwo(largest[h] - base);");
    m_code.line("is_less |= most != largest[h];");
    m_code.line("largest[h] = most;");
    if (m_text.hasWeights()) {
      m_code.line("float sum = 0.0f;");
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 2 * h; i < {}; i += 4)", m_tiles.keys / 2);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = i; j < i + 2; ++j)");
    m_code.line("score[j] = powerOfTwo(score[j] * {} - base);", factor);
    if (m_text.hasWeights()) {
      m_code.line("sum += score[j];");
    }
    m_code.close();
    m_code.close();
    if (m_text.hasWeights()) {
      m_code.line("weights[h] = weights[h] * remaining[h] + sum;");
    }
    m_code.close();
    m_code.close(";");
  }

  std::vector<std::string> m_pieces;  // variables for WarpGroupTiles::pieces
};

}  // namespace

void writeAttentionScores(AttentionText& text) {
  AttentionScores(text).write();
}

}  // namespace swage::synth
