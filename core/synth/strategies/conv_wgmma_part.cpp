// SPDX-License-Identifier: Apache-2.0
// What the parts of the text of a convolution by wgmma have in common.
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {

void HaloPart::unroll(const std::string& name, std::int64_t count) {
  m_code.pragma("#pragma unroll");
  m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, count);
}

std::string HaloPart::over(const std::string& number, std::int64_t by) {
  return by == 1 ? number : fmt::format("{} / {}", number, by);
}

std::string HaloPart::rest(const std::string& number, std::int64_t of, std::int64_t by) {
  return by == 1 ? "0" : of == by ? number : fmt::format("{} % {}", number, by);
}

std::string HaloPart::sumOf() const {
  const std::int64_t ofInstruction = m_tiles.instructionPixels() / kOfBlock;
  const std::int64_t ofPhase = m_tiles.pixels / kOfBlock;
  const std::string block = rest("block", blocks(), ofPhase);
  std::string instruction;
  std::string inside;
  if (m_tiles.isByRows()) {
    instruction = m_tiles.instructions() == 1 ? "0" : fmt::format("{} / {}", block, ofInstruction);
    inside = m_tiles.instructions() == 1 ? block : fmt::format("{} % {}", block, ofInstruction);
  } else {
    instruction = m_tiles.instructions() == 1 ? "0" : fmt::format("{} % {}", block, ofRow());
    inside = over(block, ofRow());
  }
  const std::string phase =
      m_problem.phases > 1 ? fmt::format("block / {} * {} + ", ofPhase, m_tiles.instructions()) : "";
  return fmt::format("sum[{}{}][({}) * 4 + half * 2 + s]", phase, instruction, inside);
}

void HaloPart::addProducts() {
  m_code.pragma("#pragma unroll 1");
  m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
  m_writer.decode("depth", m_shape.depth);
  std::vector<std::size_t> axes = m_shape.batch;
  axes.insert(axes.end(), m_shape.columns.begin(), m_shape.columns.end());
  axes.insert(axes.end(), m_shape.depth.begin(), m_shape.depth.end());
  const std::string inside = insideAll(m_writer, m_problem.allWeightBounds(), axes);
  if (!inside.empty()) {
    m_code.open("if (!({}))", inside);
    m_code.line("continue;");
    m_code.close();
  }
  m_writer.compute({m_shape.left, m_shape.right});
  m_code.line("total += {} * {};", operand(m_writer.value(m_shape.left), Expression::Term),
              operand(m_writer.value(m_shape.right), Expression::Term, swage::synth::Side::Right));
  m_code.close();
}

void HaloPart::openPosition() {
  const std::int64_t inPhase = m_tiles.pixels / kOfBlock;
  const std::string_view type = m_writer.index();
  if (m_problem.phases > 1) {
    m_code.line("const int p = block / {};", inPhase);
    m_writer.bindAxis(*m_problem.phase, "p");
  }
  m_code.line("const {} x_at = x_first + block % {} * {} + lane % 4 * 2 + s;", type, ofRow(), kOfBlock);
  m_writer.bindAxis(m_problem.across().position, "x_at");
  if (m_problem.down() != nullptr) {
    m_code.line("const {} y_at = y_first{};", type,
                m_tiles.height() > 1 ? fmt::format(" + block / {} % {}", ofRow(), m_tiles.height()) : "");
    m_writer.bindAxis(m_problem.down()->position, "y_at");
  }
}

std::string HaloPart::isThere() const {
  std::string condition;
  const auto add = [&](const std::string& more) { condition += (condition.empty() ? "" : " && ") + more; };
  const HaloDim* const down = m_problem.down();
  if (m_problem.across().positions % m_tiles.width() != 0) {
    add(fmt::format("x_at < {}", m_problem.across().positions));
  }
  if (down != nullptr && down->positions % m_tiles.height() != 0) {
    add(fmt::format("y_at < {}", down->positions));
  }
  std::vector<std::size_t> axes = m_shape.batch;
  axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
  if (const std::string inside = insideAll(m_writer, m_problem.results, axes); !inside.empty()) {
    add(inside);
  }
  return condition;
}

std::string HaloPart::none(FoldKind kind) {
  return kind == FoldKind::Maximum ? "-kInfinity" : kind == FoldKind::Minimum ? "kInfinity" : "0.0f";
}

std::string HaloPart::joined(FoldKind kind, const std::string& a, const std::string& b) {
  return kind == FoldKind::Maximum   ? fmt::format("maximum({}, {})", a, b)
         : kind == FoldKind::Minimum ? fmt::format("minimum({}, {})", a, b)
                                     : fmt::format("{} + {}", a, b);
}

}  // namespace swage::synth
