// SPDX-License-Identifier: Apache-2.0
// Products of operands that are copied into panels first, so that a block of sums in registers reads both one after the
// other: the layout of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/product.h"

namespace swage::synth {
namespace {

// A thread's stack is 2 MiB or more; what a tile needs lies on it.
constexpr std::int64_t kMaxPanelBytes = 768 << 10;
// Of the copy of a whole operand.
constexpr std::int64_t kMaxScratchBytes = std::int64_t{1} << 30;
// With fewer, the copies cost more than they save.
constexpr std::int64_t kFewestRows = 8;

// How a product is cut. A panel has `rows` rows of the left operand, or `columns` columns of the right one.
struct PackedTiles {
  PackedTiles(const Instance& instance, const ProductShape& shape)
      : rows(instance.value("rows", 1)),
        vector(instance.value("vector", 1)),
        vectors(instance.value("vectors", 1)),
        columns(vector * vectors),
        depth(std::min(instance.value("depth", 1), shape.depthCount)),
        rowPanels(
            std::min(std::max<std::int64_t>(1, instance.value("tile_rows", 1) / rows), divideUp(shape.rowCount, rows))),
        columnPanels(std::min(std::max<std::int64_t>(1, instance.value("tile_columns", 1) / columns),
                              divideUp(shape.columnCount, columns))),
        isWhole(instance.value("whole", 0) != 0),
        elementBytes(instance.region.prims[static_cast<std::size_t>(instance.region.folds.front().input)].type ==
                             Compute::F64
                         ? 8
                         : 4) {}

  [[nodiscard]] std::int64_t tileRows() const { return rows * rowPanels; }
  [[nodiscard]] std::int64_t tileColumns() const { return columns * columnPanels; }
  // Of the right operand, over all batches.
  [[nodiscard]] std::int64_t wholeElements(const ProductShape& shape) const {
    return shape.batchCount * divideUp(shape.columnCount, columns) * columns * shape.depthCount;
  }
  [[nodiscard]] std::int64_t stackBytes() const {
    const std::int64_t right = isWhole ? 0 : tileColumns() * depth;
    return (tileRows() * tileColumns() + tileRows() * depth + right) * elementBytes;
  }

  std::int64_t rows;
  std::int64_t vector;
  std::int64_t vectors;
  std::int64_t columns;
  std::int64_t depth;
  std::int64_t rowPanels;     // of a tile
  std::int64_t columnPanels;  // of a tile
  bool isWhole;
  std::int64_t elementBytes;
};

// Writes one kernel.
class PackedProduct {
 public:
  PackedProduct(const Instance& instance, ProductShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance, m_shape),
        m_allColumnPanels(divideUp(m_shape.columnCount, m_tiles.columns)),
        m_writer(instance, Dialect::of(domain::Language::Cpp),
                 {"left",   "right", "sum",       "sums",        "row",          "column",     "depth",
                  "batch",  "tile",  "first_row", "first_depth", "first_column", "Vector",     "panel",
                  "packed", "down",  "across",    "from_left",   "from_right",   "columns",    "to",
                  "k",      "r",     "c",         "v",           "depths",       "row_panels", "column_panels"}),
        m_code(m_writer.code()),
        m_type(m_tiles.elementBytes == 8 ? "double" : "float") {}

  KernelText run(const std::string& entry) {
    describe();
    openCppKernel(m_writer, entry);
    // Inside the kernel: another one of the same file may have vectors of another size.
    m_code.line("typedef {} Vector __attribute__((vector_size({}), aligned({})));", m_type,
                m_tiles.vector * m_tiles.elementBytes, m_tiles.elementBytes);
    if (m_tiles.isWhole) {
      m_code.line("{0}* __restrict__ packed = *static_cast<{0}**>(arguments[{1}]);", m_type, m_writer.buffers().size());
    }
    m_code.pragma("#pragma omp parallel");
    m_code.openBlock();
    if (m_tiles.isWhole) {
      packWhole();
    }
    openTile();
    m_code.line("{} left[{}][{}];", m_type, m_tiles.rowPanels, m_tiles.depth * m_tiles.rows);
    if (!m_tiles.isWhole) {
      m_code.line("{} right[{}][{}];", m_type, m_tiles.columnPanels, m_tiles.depth * m_tiles.columns);
    }
    m_code.line("{} sum[{}][{}] = {{}};", m_type, m_tiles.tileRows(), m_tiles.tileColumns());
    sumUp();
    finish();
    m_code.close();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  void describe() {
    m_code.comment(fmt::format(
        "A product of {} by {}, summed over {}{}. A thread makes tiles of {} by {}. {} so that a block of {} by {} "
        "sums, "
        "which stays in registers for {} of the depth, reads both from front to back.",
        m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
        m_shape.batchCount > 1 ? fmt::format(", {} times", m_shape.batchCount) : "", m_tiles.tileRows(),
        m_tiles.tileColumns(),
        m_tiles.isWhole ? "The right operand is copied into panels first, of the left one what a tile needs,"
                        : "What it needs of both operands is copied into panels,",
        m_tiles.rows, m_tiles.columns, m_tiles.depth));
  }

  [[nodiscard]] std::string inside(const std::string& name, std::int64_t count, std::int64_t step) const {
    return count % step == 0 ? "" : fmt::format("{} < {}", name, count);
  }

  // place = the element of a side, or 0 where there is none.
  void element(const std::string& place, int prim, const std::string& condition, const std::string& line,
               const std::vector<std::size_t>& axes) {
    if (!condition.empty()) {
      m_code.line("{} = 0;", place);
      m_code.open("if ({})", condition);
    }
    m_writer.decode(line, axes);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({prim});
    m_code.line("{} = {};", place, m_writer.value(prim).text);
    if (!condition.empty()) {
      m_code.close();
    }
  }

  // One panel: `depths` steps of so many lines each, the loop over neighbours in memory further in.
  void pack(const std::string& depths, const std::string& firstDepth, std::int64_t lines, const std::string& firstLine,
            bool isLeft) {
    const int prim = isLeft ? m_shape.left : m_shape.right;
    const std::string line = isLeft ? "row" : "column";
    const std::string place = isLeft ? "r" : "c";
    const std::int64_t count = isLeft ? m_shape.rowCount : m_shape.columnCount;
    const KernelWriter::Scope outside = m_writer.scope();
    const auto openDepth = [&] {
      m_code.open("for (long long k = 0; k < {}; ++k)", depths);
      m_code.line("const long long depth = {}k;", firstDepth.empty() ? "" : firstDepth + " + ");
    };
    const auto openLine = [&] {
      m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", place, lines);
      m_code.line("const long long {} = {} + {};", line, firstLine, place);
    };
    if (isContiguousAlong(m_region, prim, m_shape.depth)) {
      openLine();
      openDepth();
    } else {
      openDepth();
      openLine();
    }
    element(fmt::format("to[k * {} + {}]", lines, place), prim, inside(line, count, lines), line,
            isLeft ? m_shape.rows : m_shape.columns);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  void decodeBatch(const std::string& number, std::int64_t inEach) {
    if (m_shape.batchCount > 1) {
      m_code.line("const long long batch = {} / {};", number, inEach);
      m_writer.decode("batch", m_shape.batch);
    }
  }

  void packWhole() {
    m_code.comment("The right operand in panels of neighbouring columns.");
    m_code.pragma("#pragma omp for schedule(static)");
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (long long panel = 0; panel < {}; ++panel)", m_allColumnPanels * m_shape.batchCount);
    decodeBatch("panel", m_allColumnPanels);
    m_code.line("const long long first_column = panel{} * {};",
                m_shape.batchCount > 1 ? fmt::format(" % {}", m_allColumnPanels) : "", m_tiles.columns);
    m_code.line("{}* to = packed + panel * {};", m_type, m_tiles.columns * m_shape.depthCount);
    pack(std::to_string(m_shape.depthCount), "", m_tiles.columns, "first_column", false);
    m_code.close();
    m_writer.leave(outside);
    m_code.blank();
  }

  void openTile() {
    const std::int64_t across = divideUp(m_shape.columnCount, m_tiles.tileColumns());
    const std::int64_t down = divideUp(m_shape.rowCount, m_tiles.tileRows());
    m_code.pragma("#pragma omp for schedule(dynamic)");
    m_code.open("for (long long tile = 0; tile < {}; ++tile)", across * down * m_shape.batchCount);
    m_code.line("const long long first_column = tile % {} * {};", across, m_tiles.tileColumns());
    m_code.line("const long long first_row = tile / {}{} * {};", across,
                m_shape.batchCount > 1 ? fmt::format(" % {}", down) : "", m_tiles.tileRows());
    decodeBatch("tile", across * down);
    m_code.line("const long long row_panels = {};",
                panelsInside("first_row", m_shape.rowCount, m_tiles.rows, m_tiles.rowPanels));
    m_code.line("const long long column_panels = {};",
                panelsInside("first_column", m_shape.columnCount, m_tiles.columns, m_tiles.columnPanels));
  }

  // How many panels of a tile hold anything.
  [[nodiscard]] static std::string panelsInside(const std::string& first, std::int64_t count, std::int64_t lines,
                                                std::int64_t panels) {
    if (count % (lines * panels) == 0) {
      return std::to_string(panels);
    }
    return fmt::format("std::min({}LL, ({} - {}) / {})", panels, count + lines - 1, first, lines);
  }

  // A sum of its own for each step of the depth: rounding grows with the number of elements in a sum.
  void sumUp() {
    m_code.open("for (long long first_depth = 0; first_depth < {0}; first_depth += {1})", m_shape.depthCount,
                m_tiles.depth);
    m_code.line("const long long depths = {};",
                m_shape.depthCount % m_tiles.depth == 0
                    ? std::to_string(m_tiles.depth)
                    : fmt::format("std::min({}LL, {} - first_depth)", m_tiles.depth, m_shape.depthCount));
    packTile(true);
    if (!m_tiles.isWhole) {
      packTile(false);
    }
    m_code.open("for (long long across = 0; across < column_panels; ++across)");
    if (m_tiles.isWhole) {
      const std::string batch =
          m_shape.batchCount > 1 ? fmt::format("batch * {} + ", m_allColumnPanels) : std::string();
      m_code.line("const {}* from_right = packed + ({}first_column / {} + across) * {} + first_depth * {};", m_type,
                  batch, m_tiles.columns, m_tiles.columns * m_shape.depthCount, m_tiles.columns);
    } else {
      m_code.line("const {}* from_right = right[across];", m_type);
    }
    m_code.open("for (long long down = 0; down < row_panels; ++down)");
    block();
    m_code.close();
    m_code.close();
    m_code.close();
  }

  void packTile(bool isLeft) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::string side = isLeft ? "row" : "column";
    const std::int64_t lines = isLeft ? m_tiles.rows : m_tiles.columns;
    m_code.open("for (long long panel = 0; panel < {}_panels; ++panel)", side);
    m_code.line("{}* to = {}[panel];", m_type, isLeft ? "left" : "right");
    pack("depths", "first_depth", lines, fmt::format("first_{} + panel * {}", side, lines), isLeft);
    m_code.close();
    m_writer.leave(outside);
  }

  // The compiler keeps the sums in registers once the loops over them are unrolled.
  void block() {
    const auto openBlock = [&] {
      m_code.pragma(fmt::format("#pragma GCC unroll {}", m_tiles.rows));
      m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.rows);
      m_code.pragma(fmt::format("#pragma GCC unroll {}", m_tiles.vectors));
      m_code.open("for (int v = 0; v < {}; ++v)", m_tiles.vectors);
    };
    m_code.line("Vector sums[{}][{}] = {{}};", m_tiles.rows, m_tiles.vectors);
    m_code.line("const {}* from_left = left[down];", m_type);
    m_code.open("for (long long k = 0; k < depths; ++k)");
    m_code.line("const Vector* columns = reinterpret_cast<const Vector*>(from_right + k * {});", m_tiles.columns);
    openBlock();
    m_code.line("sums[r][v] += from_left[k * {} + r] * columns[v];", m_tiles.rows);
    m_code.close();
    m_code.close();
    m_code.close();
    openBlock();
    m_code.line("*reinterpret_cast<Vector*>(&sum[down * {} + r][across * {} + v * {}]) += sums[r][v];", m_tiles.rows,
                m_tiles.columns, m_tiles.vector);
    m_code.close();
    m_code.close();
  }

  void finish() {
    const std::string rowInside = inside("first_row + r", m_shape.rowCount, m_tiles.tileRows());
    const std::string columnInside = inside("first_column + c", m_shape.columnCount, m_tiles.tileColumns());
    m_code.open("for (int r = 0; r < {}{}; ++r)", m_tiles.tileRows(), rowInside.empty() ? "" : " && " + rowInside);
    m_code.line("const long long row = first_row + r;");
    m_writer.decode("row", m_shape.rows);
    const std::string columns = columnInside.empty() ? std::to_string(m_tiles.tileColumns())
                                                     : fmt::format("std::min({}LL, {} - first_column)",
                                                                   m_tiles.tileColumns(), m_shape.columnCount);
    if (!columnInside.empty()) {
      m_code.line("const long long columns = {};", columns);
    }
    m_code.pragma("#pragma omp simd");
    m_code.open("for (int c = 0; c < {}; ++c)", columnInside.empty() ? columns : "columns");
    m_code.line("const long long column = first_column + c;");
    m_writer.decode("column", m_shape.columns);
    storeResult(m_writer, m_region, "sum[r][c]");
    m_code.close();
    m_code.close();
  }

  const Region& m_region;
  ProductShape m_shape;
  PackedTiles m_tiles;
  std::int64_t m_allColumnPanels;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_type;
};

class CpuPackedProduct final : public Strategy {
 public:
  CpuPackedProduct() : Strategy(domain::Language::Cpp, "product_packed") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    const std::optional<ProductShape> shape = productShape(region);
    return shape && shape->rowCount >= kFewestRows;
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    const ProductShape shape = *productShape(instance.region);
    if (const PackedTiles tiles(instance, shape); tiles.isWhole) {
      launch.scratch.push_back(
          domain::contiguousTensor(tiles.elementBytes == 8 ? domain::ScalarType::Float64 : domain::ScalarType::Float32,
                                   {tiles.wholeElements(shape)}));
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return PackedProduct(instance, *productShape(instance.region)).run(launch.step.entry);
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Wide, domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

  // Tiles and depths beyond the product are one and the same.
  void normalise(const Instance& instance, Parameters& parameters) const override {
    const ProductShape shape = *productShape(instance.region);
    const PackedTiles given(instance, shape);
    for (const char* name : {"depth", "tile_rows", "tile_columns"}) {
      for (const std::int64_t value : instance.pattern.parameter(name)->values) {
        Parameters smaller = parameters;
        smaller[name] = value;
        const PackedTiles tiles({instance.pattern, instance.region, smaller, instance.device}, shape);
        if (value < parameters[name] && tiles.depth == given.depth && tiles.rowPanels == given.rowPanels &&
            tiles.columnPanels == given.columnPanels) {
          parameters = smaller;
          break;
        }
      }
    }
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const ProductShape shape = *productShape(instance.region);
    const PackedTiles tiles(instance, shape);
    // A register file has 32 vectors of 64 bytes, or 16 of 32; two hold what is multiplied.
    if (tiles.rows * tiles.vectors + tiles.vectors + 1 > (tiles.vector > 8 ? 32 : 16)) {
      return unfit("the sums do not fit into registers");
    }
    if (tiles.stackBytes() > kMaxPanelBytes) {
      return unfit("the tiles need too much stack");
    }
    if (tiles.isWhole && tiles.wholeElements(shape) * tiles.elementBytes > kMaxScratchBytes) {
      return unfit("the copy of the right operand needs too much memory");
    }
    return {};
  }
};

}  // namespace

void addCpuPackedProduct(StrategyTable& table) {
  table.add(std::make_unique<CpuPackedProduct>());
}

}  // namespace swage::synth
