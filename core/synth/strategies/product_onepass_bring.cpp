// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/synth/strategies/product_onepass_text.h"

namespace swage::synth {
namespace {

// Operands are split on their way through registers.
class OnepassBring final : OnepassPart {
 public:
  explicit OnepassBring(OnepassText& text) : OnepassPart(text) {}

  void run() {
    m_code.comment(
        "--- Each thread splits what it has brought for this step into the next slot, and asks for the same pieces of "
        "the step after it.");
    setRegisters(std::min<std::int64_t>(232, m_tiles.bringRegisters()));
    m_code.line("const int thread = threadIdx.x - {};", m_tiles.groups() * 128);
    m_code.line("const int major = thread / 16, minor = thread % 16 * 4;  // of a piece in 64 by 64 numbers");
    m_code.line("const unsigned int mine = slots + major * 128 + (minor / 8 ^ major % 8) * 16 + minor % 8 * 2;");
    if (!isPlain()) {
      writeElement(m_left);
      writeElement(m_right);
    }
    m_code.line("Tile_{} next;", m_number);
    m_code.line("bool is_there = find_{}(0, next);", m_number);
    m_code.line("{} kept[{}]{};  // {} pieces of the left operand, then of the right one",
                isPlain() ? "Vec<float, 4>" : "float", m_tiles.pieces(), isPlain() ? "" : "[4]", m_tiles.leftPieces());
    m_code.line("float largest[{}] = {{}};", m_tiles.pieces());
    m_code.open("const auto bring = [&](int p, int step)");
    bringPiece();
    m_code.close(";");
    m_code.line("int number = 0, step = next.first;");
    openPieces("p", m_tiles.pieces());
    m_code.line("bring(p, step);");
    m_code.close();
    bringSteps();
  }

 private:
  void bringSteps() {
    m_code.open("while (is_there)");
    m_code.line("tile = next;");
    m_code.line("const bool is_last = ++step == tile.last;");
    m_code.open("if (is_last)");
    m_code.line("is_there = find_{}(++number, next);", m_number);
    m_code.line("next = is_there ? next : tile;  // at the end once more the same");
    m_code.line("step = next.first;");
    m_code.close();
    splitStep();
    m_code.open("if (is_last)");
    report();
    m_code.close();
    m_code.close();
  }

  void writeElement(const OnepassSource& source) {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto {}_at = [&]({}int {}, int depth)", source.lines, source.batch > 1 ? "int batch, " : "",
                source.line);
    if (source.batch > 1) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_writer.decode(source.line, *source.axes);
    m_writer.decode("depth", m_shape.depth);
    if (source.isVector) {
      m_code.line("return &{};", elementOfTensor(source));
    } else {
      m_writer.compute({source.prim});
      m_code.line("return {};", m_writer.value(source.prim).text);
    }
    m_code.close(";");
    m_writer.leave(outside);
  }

  // Where a piece lies: lines beyond the last are the last again, whose results nobody stores.
  void bringPiece() {
    if (isPlain()) {
      bringPlainPiece();
      return;
    }
    m_code.open("if (p < {})", m_tiles.leftPieces());
    bringPieceOf(m_left);
    m_code.otherwise();
    bringPieceOf(m_right);
    m_code.close();
  }

  // Whether all pieces are 16 bytes that lie inside, of matrices whose neighbours in memory are along the depth.
  [[nodiscard]] bool isPlain() const {
    return !isBatched() && !hasDepthTail() && m_left.isVector && m_right.isVector && m_left.isAlongDepth &&
           m_right.isAlongDepth;
  }

  void bringPlainPiece() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int depth = step * 64 + minor;");
    m_writer.decode("depth", m_shape.depth);
    for (const OnepassSource* source : {&m_left, &m_right}) {
      const std::string line = fmt::format("next.{} + {} * 16 + major", source->line, pieceOf(*source));
      m_code.line("const int {} = {};", source->line, clamped(line, source->count - 1, hasLineTail(*source)));
      m_writer.decode(source->line, *source->axes);
    }
    m_code.line("kept[p] = load<float, 4>(p < {} ? &{} : &{});", m_tiles.leftPieces(), elementOfTensor(m_left),
                elementOfTensor(m_right));
    m_writer.leave(outside);
  }

  [[nodiscard]] std::string elementOfTensor(const OnepassSource& source) const {
    const int operand = m_region.prims[static_cast<std::size_t>(source.prim)].operand;
    return m_writer.element(m_region.operands[static_cast<std::size_t>(operand)]);
  }

  // Zeros beyond the depth, so that they add nothing.
  void keepPiece(const std::string& value, bool isAlongDepth) {
    openPieces("v", 4);
    if (hasDepthTail()) {
      m_code.line("const float value = {};", value);
      m_code.line("kept[p][v] = depth{} < {} ? value : 0.0f;", isAlongDepth ? " + v" : "", m_shape.depthCount);
    } else {
      m_code.line("kept[p][v] = {};", value);
    }
    m_code.close();
  }

  [[nodiscard]] bool hasDepthTail() const { return m_shape.depthCount % kOnepassDepth != 0; }
  [[nodiscard]] bool hasLineTail(const OnepassSource& source) const {
    return source.count % (source.line == "row" ? m_tiles.rows : m_tiles.columns) != 0;
  }

  void bringPieceOf(const OnepassSource& source) {
    const std::string p = pieceOf(source);
    std::string line = fmt::format("next.{} + {} * 16 + major", source.line, p);
    std::string depth = "step * 64 + minor";
    if (!source.isAlongDepth) {
      line = fmt::format("next.{} + {} / 4 * 64 + minor", source.line, p);
      depth = fmt::format("step * 64 + {} % 4 * 16 + major", p);
    }
    const bool isLineWide = !source.isAlongDepth && source.isWide;
    m_code.line(
        "const int {} = {};", source.line,
        clamped(line, source.count - (isLineWide ? 4 : 1), hasLineTail(source) && (source.isAlongDepth || isLineWide)));
    m_code.line("const int depth = {};", depth);
    const auto [lineAt, depthAt] = elementOf(source);
    const std::string value =
        fmt::format("{}_at({}{}, {})", source.lines, source.batch > 1 ? "next.batch, " : "", lineAt, depthAt);
    if (source.isVector) {
      m_code.line("Vec<float, 4> piece = load<float, 4>({});", value);
      keepPiece("piece[v]", source.isAlongDepth);
    } else {
      keepPiece(value, source.isAlongDepth);
    }
  }

  // Line and depth of the first, or of number v, of four neighbours; none lies outside.
  [[nodiscard]] std::pair<std::string, std::string> elementOf(const OnepassSource& source) const {
    const std::string v = source.isVector ? "" : " + v";
    if (!source.isAlongDepth) {
      return {source.isWide ? source.line + v : clamped(source.line + " + v", source.count - 1, hasLineTail(source)),
              clamped("depth", m_shape.depthCount - 1, hasDepthTail())};
    }
    return {source.line, source.isWide ? clamped("depth", m_shape.depthCount - 4, hasDepthTail()) + v
                                       : clamped("depth + v", m_shape.depthCount - 1, hasDepthTail())};
  }

  // Which of the largest magnitudes element v of piece p belongs to, relative to those of the operand.
  static std::string largestIndex(const OnepassSource& source) {
    const std::string p = pieceOf(source);
    const std::string index = source.isAlongDepth ? "p" : fmt::format("{} / 4 * 4 + v", p);
    return source.isAlongDepth || source.firstPiece == 0 ? index : fmt::format("{} + {}", source.firstPiece, index);
  }

  void splitStep() {
    m_code.line("waitFor(empty + slot * 8, phase ^ 1);");
    m_code.line("const unsigned int ready = full + slot * 8;");
    m_code.line("const unsigned int to = mine + advance() * {};", m_tiles.slotBytes());
    openPieces("p", m_tiles.pieces());
    openPieces("v", 4);
    const std::string left = largestIndex(m_left);
    const std::string right = largestIndex(m_right);
    m_code.line("const int at = {};",
                left == right ? left : fmt::format("p < {} ? {} : {}", m_tiles.leftPieces(), left, right));
    m_code.line("largest[at] = fmaxf(largest[at], fabsf(kept[p][v]));");
    m_code.close();
    m_code.line("const SplitFour parts = splitFour(kept[p]{}, {}.0f);", isPlain() ? ".item" : "",
                std::int64_t{1} << kOnepassScale);
    m_code.line("storeFour(to + p * 2048, parts.high);");
    m_code.line("storeFour(to + {} + p * 2048, parts.low);", m_tiles.partBytes());
    m_code.line("bring(p, step);");
    m_code.open("if (p % 4 == 3)");
    m_code.line("__syncwarp();  // keeps the compiler from asking for all of them at the end");
    m_code.close();
    m_code.close();
    m_code.line("publishShared();");
    m_code.line("__syncwarp();");
    arrive("ready", 32);
  }

  // The first tile of a row or column of tiles tells what its lines have had.
  void report() {
    openPieces("p", m_tiles.pieces());
    if (m_left.isAlongDepth == m_right.isAlongDepth) {
      reportPiece(ofEither(isFirst(m_left), isFirst(m_right)),
                  ofEither(largestOfPiece(m_left), largestOfPiece(m_right)), m_left.isAlongDepth);
    } else {
      m_code.open("if (p < {})", m_tiles.leftPieces());
      reportPiece(isFirst(m_left), largestOfPiece(m_left), m_left.isAlongDepth);
      m_code.otherwise();
      reportPiece(isFirst(m_right), largestOfPiece(m_right), m_right.isAlongDepth);
      m_code.close();
    }
    m_code.line("largest[p] = 0.0f;");
    m_code.close();
  }

  // What holds for piece p, of either operand: loops over p are unrolled.
  [[nodiscard]] std::string ofEither(const std::string& left, const std::string& right) const {
    return fmt::format("p < {} ? {} : {}", m_tiles.leftPieces(), left, right);
  }

  [[nodiscard]] std::string isFirst(const OnepassSource& source) const {
    const bool isForAllBatches = isBatched() && source.batch == 1;
    return fmt::format("tile.{} == 0{}", source.line == "row" ? "column" : "row",
                       isForAllBatches ? " && tile.batch == 0" : "");
  }

  // Number p among the pieces of the operand.
  static std::string pieceOf(const OnepassSource& source) {
    return source.firstPiece == 0 ? "p" : fmt::format("(p - {})", source.firstPiece);
  }

  [[nodiscard]] std::string largestOfPiece(const OnepassSource& source) const {
    const std::string p = pieceOf(source);
    const std::string line = fmt::format(
        "tile.{} + {}", source.line,
        source.isAlongDepth ? fmt::format("{} * 16 + major", p) : fmt::format("{0} / 4 * 64 + minor + {0} % 4", p));
    return fmt::format("{}{}{}", source.firstLargest > 0 ? fmt::format("{} + ", source.firstLargest) : "",
                       source.batch > 1 ? fmt::format("tile.batch * {} + ", source.count) : "",
                       clamped(line, source.count - 1, hasLineTail(source)));
  }

  void reportPiece(const std::string& condition, const std::string& index, bool isAlongDepth) {
    m_code.open("if ({})", condition);
    if (isAlongDepth) {
      m_code.open("for (int mask = 8; mask > 0; mask /= 2)");
      m_code.line("largest[p] = fmaxf(largest[p], __shfl_xor_sync(0xffffffffu, largest[p], mask));");
      m_code.close();
      m_code.open("if (minor == 0)");
    }
    m_code.line("const int line = {};", index);
    m_code.line("atomicMax(&largest_of[line], __float_as_uint(largest[p]));");
    if (isAlongDepth) {
      m_code.close();
    }
    m_code.close();
  }
};

}  // namespace

void writeOnepassBring(OnepassText& text) {
  OnepassBring(text).run();
}

}  // namespace swage::synth
