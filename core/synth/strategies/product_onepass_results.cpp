// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/synth/strategies/product_onepass_text.h"
#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

// Binds the sum of a result, and computes what follows from it.
void bindSum(OnepassText& text, const std::string& value) {
  for (std::size_t prim = 0; prim < text.region.prims.size(); ++prim) {
    if (text.region.prims[prim].kind == Prim::Kind::Folded) {
      text.writer.bind(static_cast<int>(prim), {value});
    }
  }
  text.writer.compute(storedPrims(text.region.groupStores));
}

// From the sums of a tile to memory.
class OnepassResults final : OnepassPart {
 public:
  explicit OnepassResults(OnepassText& text) : OnepassPart(text) {}

  void run() {
    m_code.comment(copiesRows() ? "Sums change places within a warp, which then has the copy engine write its rows."
                                : "Sums change places within a warp, so that it writes whole lines of memory.");
    m_code.line("const int first_row = tile.row + warp * 16, first_column = tile.column{};",
                isBatched() ? ", batch = tile.batch" : "");
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    if (copiesRows()) {
      m_code.line("waitForStores();  // of the tile before");
    }
    m_code.line("__syncwarp();");
    openPieces("i", m_tiles.sums());
    m_code.line("rows[(lane / 4 + i / 2 % 2 * 8) * {} + i / 4 * 8 + lane % 4 * 2 + i % 2] = sum[i] * {}f;",
                m_tiles.stagedStride(), 1.0 / static_cast<double>(std::int64_t{1} << (2 * kOnepassScale)));
    m_code.close();
    if (!copiesRows() || !storesSums()) {
      m_code.line("__syncwarp();");
      computeResults();
    }
    if (copiesRows()) {
      copyRows();
    }
  }

 private:
  [[nodiscard]] bool hasRowTail() const { return m_shape.rowCount % m_tiles.rows != 0; }
  [[nodiscard]] bool hasColumnTail() const { return m_shape.columnCount % m_tiles.columns != 0; }

  // Whether the results are the sums, with nothing computed from them.
  [[nodiscard]] bool storesSums() const {
    return isCut() ||
           m_region.prims[static_cast<std::size_t>(m_region.groupStores.front().prim)].kind == Prim::Kind::Folded;
  }

  void computeResults() {
    const KernelWriter::Scope outside = m_writer.scope();
    openPieces("c", m_tiles.columns / 32);
    m_code.line("const int column = first_column + c * 32 + lane;");
    if (hasColumnTail()) {
      m_code.open("if (column < {})", m_shape.columnCount);
    }
    m_writer.decode("column", m_shape.columns);
    openPieces("r", 16);
    m_code.line("const int row = {};", clamped("first_row + r", m_shape.rowCount - 1, hasRowTail()));
    m_writer.decode("row", m_shape.rows);
    const std::string place = fmt::format("rows[r * {} + c * 32 + lane]", m_tiles.stagedStride());
    bindSum(m_text, place);
    if (copiesRows()) {
      m_writer.storeAt(place, m_region.groupStores.front());
    } else {
      if (hasRowTail()) {
        m_code.open("if (first_row + r < {})", m_shape.rowCount);
      }
      m_writer.store(m_region.groupStores);
      if (hasRowTail()) {
        m_code.close();
      }
    }
    m_code.close();
    if (hasColumnTail()) {
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
  }

  void copyRows() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t width = isCut() ? partStride(m_shape) : m_shape.columnCount;
    m_code.line("publishShared();");
    m_code.line("__syncwarp();");
    m_code.line("const int row = first_row + lane;");
    m_code.open("if (lane < 16{})", hasRowTail() ? fmt::format(" && row < {}", m_shape.rowCount) : "");
    std::string to;
    if (isCut()) {
      const std::string part = isBatched() ? fmt::format("(tile.part * {} + batch)", m_shape.batchCount) : "tile.part";
      to = fmt::format("partial + ({} * {}LL + row) * {} + first_column", part, m_shape.rowCount, width);
    } else {
      m_writer.decode("row", m_shape.rows);
      m_writer.decode("first_column", m_shape.columns);
      to = "&" + m_writer.element(m_region.operands[static_cast<std::size_t>(m_region.groupStores.front().operand)]);
    }
    m_code.line("storeRow({}, rows + lane * {}, {});", to, m_tiles.stagedStride(),
                width % m_tiles.columns == 0 ? fmt::format("{}", m_tiles.columns * 4)
                                             : fmt::format("min({}, {} - first_column) * 4", m_tiles.columns, width));
    m_code.close();
    m_writer.leave(outside);
  }
};

// The kernel behind the product.
class OnepassFinish final : OnepassPart {
 public:
  explicit OnepassFinish(OnepassText& text) : OnepassPart(text) {}

  void run(const std::string& entry) {
    m_code.comment(fmt::format(
        "{}A result whose row or column had its largest magnitude outside of what halves hold well, infinities among "
        "them, is made anew from floats.",
        isCut() ? "Adds the parts of each sum up, and computes what follows. "
                : "Most often there is nothing to do. "));
    m_code.open("extern \"C\" __global__ void __launch_bounds__(256) {}({})", entry, m_text.parameters(false));
    if (isCut()) {
      openEachResult();
    } else {
      openOddResults();
    }
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    m_code.line("float total = 0.0f;");
    if (isCut()) {
      m_code.open("if (is_exact)");
    }
    addExactly();
    if (isCut()) {
      m_code.otherwise();
      addParts();
      m_code.close();
    }
    bindSum(m_text, "total");
    m_writer.store(m_region.groupStores);
    m_code.close();
    m_code.close();
  }

 private:
  [[nodiscard]] static std::string largestOf(const OnepassSource& source, const std::string& line) {
    return fmt::format("largest_of[{}{}{}]", source.firstLargest > 0 ? fmt::format("{} + ", source.firstLargest) : "",
                       source.batch > 1 ? fmt::format("batch * {} + ", source.count) : "", line);
  }

  void openEachResult() {
    const std::int64_t each = m_shape.rowCount * m_shape.columnCount;
    m_code.open("for (int i = blockIdx.x * 256 + threadIdx.x; i < {}; i += gridDim.x * 256)",
                m_shape.batchCount * each);
    if (isBatched()) {
      m_code.line("const int batch = i / {};", each);
    }
    m_code.line("const int row = i / {}{};", m_shape.columnCount,
                isBatched() ? fmt::format(" % {}", m_shape.rowCount) : "");
    m_code.line("const int column = i % {};", m_shape.columnCount);
    m_code.line("const bool is_exact = isOutOfRange({}) || isOutOfRange({});", largestOf(m_left, "row"),
                largestOf(m_right, "column"));
  }

  void openOddResults() {
    const std::int64_t rows = m_schedule.finishRows;
    const std::int64_t chunks = (m_shape.rowCount + rows - 1) / rows;
    if (isBatched()) {
      m_code.line("const int batch = blockIdx.x / {};", chunks);
    }
    m_code.line("const int first_row = blockIdx.x{} * {};", isBatched() ? fmt::format(" % {}", chunks) : "", rows);
    std::string count = fmt::format("{}", rows);
    if (m_shape.rowCount % rows != 0) {
      m_code.line("const int rows = min({}, {} - first_row);", rows, m_shape.rowCount);
      count = "rows";
    }
    m_code.line("int is_any = threadIdx.x < {} && isOutOfRange({});", count,
                largestOf(m_left, "first_row + threadIdx.x"));
    m_code.pragma("#pragma unroll 8");
    m_code.open("for (int column = threadIdx.x; column < {}; column += 256)", m_shape.columnCount);
    m_code.line("is_any |= isOutOfRange({});", largestOf(m_right, "column"));
    m_code.close();
    m_code.open("if (__syncthreads_or(is_any) == 0)");
    m_code.line("return;");
    m_code.close();
    m_code.open("for (int i = threadIdx.x; i < {} * {}; i += 256)", count, m_shape.columnCount);
    m_code.line("const int row = first_row + i / {};", m_shape.columnCount);
    m_code.line("const int column = i % {};", m_shape.columnCount);
    m_code.open("if (!isOutOfRange({}) && !isOutOfRange({}))", largestOf(m_left, "row"), largestOf(m_right, "column"));
    m_code.line("continue;");
    m_code.close();
  }

  // In chunks, so that errors do not grow with the depth.
  void addExactly() {
    constexpr std::int64_t kChunk = 128;
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int first = 0; first < {}; first += {})", m_shape.depthCount, kChunk);
    m_code.line("float of_chunk = 0.0f;");
    m_code.open("for (int depth = first; depth < {}; ++depth)",
                m_shape.depthCount % kChunk == 0 ? fmt::format("first + {}", kChunk)
                                                 : fmt::format("min(first + {}, {})", kChunk, m_shape.depthCount));
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_left.prim, m_right.prim});
    m_code.line("of_chunk += {} * {};", operand(m_writer.value(m_left.prim), Expression::Term),
                operand(m_writer.value(m_right.prim), Expression::Term, swage::synth::Side::Right));
    m_code.close();
    m_code.line("total += of_chunk;");
    m_code.close();
    m_writer.leave(outside);
  }

  void addParts() {
    const std::int64_t part = m_shape.batchCount * m_shape.rowCount * partStride(m_shape);
    const std::string row = isBatched() ? fmt::format("(batch * {} + row)", m_shape.rowCount) : "row";
    m_code.line("const float* const of = partial + {} * {}LL + column;", row, partStride(m_shape));
    m_code.line("float sum[4] = {{}};  // of every fourth part");
    m_code.pragma("#pragma unroll 4");
    m_code.open("for (int part = 0; part < {}; ++part)", m_schedule.parts);
    m_code.line("sum[part % 4] += of[part * {}LL];", part);
    m_code.close();
    m_code.line("total = (sum[0] + sum[1]) + (sum[2] + sum[3]);");
  }
};

}  // namespace

void writeOnepassResults(OnepassText& text) {
  OnepassResults(text).run();
}

void writeOnepassFinish(OnepassText& text, const std::string& entry) {
  OnepassFinish(text).run(entry);
}

}  // namespace swage::synth
