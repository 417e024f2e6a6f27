// SPDX-License-Identifier: Apache-2.0
// Products in tiles: a thread packs a tile of both operands, and multiplies four rows by one or two vectors at a time.
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/cpu_tiled.h"
#include "core/synth/strategies/product.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kRows = 4;  // that are multiplied at a time: their sums stay in registers
// A thread's stack is 2 MiB or more; the tiles of both operands and of the result lie on it.
constexpr std::int64_t kMaxTileBytes = 512 << 10;

// Writes one kernel.
class CpuProductText {
 public:
  CpuProductText(const Instance& instance, ProductShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tileRows(instance.value("tile_rows", kRows)),
        m_tileColumns(instance.value("tile_columns", 16)),
        m_tileDepth(instance.value("tile_depth", 1)),
        m_vector(instance.value("vector", 16)),
        m_writer(instance, Dialect::of(domain::Language::Cpp),
                 {"left",  "right", "sum",       "part",         "row",         "column", "depth",
                  "batch", "tile",  "first_row", "first_column", "first_depth", "Vector", "columns",
                  "part0", "part1", "part2",     "part3",        "k",           "r",      "c"}),
        m_code(m_writer.code()),
        m_type(
            m_writer.dialect().typeName(m_region.prims[static_cast<std::size_t>(m_region.folds.front().input)].type)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(
        fmt::format("A product of {} by {}, summed over {}{}. A thread makes tiles of {} by {}: it packs {} of "
                    "the sum at a time, and multiplies {} rows by a vector of {} columns in registers.",
                    m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
                    m_shape.batchCount > 1 ? fmt::format(", {} times", m_shape.batchCount) : "", m_tileRows,
                    m_tileColumns, m_tileDepth, kRows, m_vector));
    openCppKernel(m_writer, entry);
    m_code.line("typedef {} Vector __attribute__((vector_size({}), aligned({})));", m_type,
                m_vector * (m_type == "double" ? 8 : 4), m_type == "double" ? 8 : 4);
    const std::int64_t across = divideUp(m_shape.columnCount, m_tileColumns);
    const std::int64_t down = divideUp(m_shape.rowCount, m_tileRows);
    m_code.pragma("#pragma omp parallel for schedule(static)");
    m_code.open("for (long long tile = 0; tile < {}; ++tile)", across * down * m_shape.batchCount);
    m_code.line("const long long first_column = tile % {} * {};", across, m_tileColumns);
    m_code.line("const long long first_row = tile / {}{} * {};", across,
                m_shape.batchCount > 1 ? fmt::format(" % {}", down) : "", m_tileRows);
    if (m_shape.batchCount > 1) {
      m_code.line("const long long batch = tile / {};", across * down);
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.line("{} left[{}][{}];", m_type, m_tileRows, m_tileDepth);
    m_code.line("{} right[{}][{}];", m_type, m_tileDepth, m_tileColumns);
    m_code.line("{} sum[{}][{}] = {{}};", m_type, m_tileRows, m_tileColumns);
    m_code.open("for (long long first_depth = 0; first_depth < {}; first_depth += {})", m_shape.depthCount,
                m_tileDepth);
    packLeft();
    packRight();
    multiply();
    m_code.close();
    finish();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string inside(const std::string& name, std::int64_t count, std::int64_t tile) const {
    return count % tile == 0 ? "" : fmt::format("{} < {}", name, count);
  }
  static std::string both(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? a + b : a + " && " + b;
  }

  void element(const std::string& place, int prim, const std::string& condition, const std::string& side,
               const std::vector<std::size_t>& axes) {
    if (!condition.empty()) {
      m_code.line("{} = 0;", place);
      m_code.open("if ({})", condition);
    }
    m_writer.decode(side, axes);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({prim});
    m_code.line("{} = {};", place, m_writer.value(prim).text);
    if (!condition.empty()) {
      m_code.close();
    }
  }

  void packLeft() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int r = 0; r < {}; ++r)", m_tileRows);
    m_code.line("const long long row = first_row + r;");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tileDepth);
    m_code.line("const long long depth = first_depth + k;");
    element("left[r][k]", m_shape.left,
            both(inside("row", m_shape.rowCount, m_tileRows), inside("depth", m_shape.depthCount, m_tileDepth)), "row",
            m_shape.rows);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  void packRight() {
    const KernelWriter::Scope outside = m_writer.scope();
    // The outer loop is the one whose neighbours are further apart in memory.
    const bool depthInside = isContiguousAlong(m_region, m_shape.right, m_shape.depth);
    const auto openDepth = [&] {
      m_code.open("for (int k = 0; k < {}; ++k)", m_tileDepth);
      m_code.line("const long long depth = first_depth + k;");
    };
    const auto openColumn = [&] {
      m_code.open("for (int c = 0; c < {}; ++c)", m_tileColumns);
      m_code.line("const long long column = first_column + c;");
    };
    if (depthInside) {
      openColumn();
      openDepth();
    } else {
      openDepth();
      openColumn();
    }
    element(
        "right[k][c]", m_shape.right,
        both(inside("column", m_shape.columnCount, m_tileColumns), inside("depth", m_shape.depthCount, m_tileDepth)),
        "column", m_shape.columns);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  // A sum of its own for each step of the depth: rounding grows with the number of elements in a sum.
  void multiply() {
    m_code.open("for (int r = 0; r < {}; r += {})", m_tileRows, kRows);
    m_code.open("for (int c = 0; c < {}; c += {})", m_tileColumns, m_vector);
    for (std::int64_t i = 0; i < kRows; ++i) {
      m_code.line("Vector part{} = {{}};", i);
    }
    m_code.open("for (int k = 0; k < {}; ++k)", m_tileDepth);
    m_code.line("const Vector columns = *reinterpret_cast<Vector*>(&right[k][c]);");
    for (std::int64_t i = 0; i < kRows; ++i) {
      m_code.line("part{0} += left[r + {0}][k] * columns;", i);
    }
    m_code.close();
    for (std::int64_t i = 0; i < kRows; ++i) {
      m_code.line("*reinterpret_cast<Vector*>(&sum[r + {0}][c]) += part{0};", i);
    }
    m_code.close();
    m_code.close();
  }

  void finish() {
    const std::string rowInside = inside("first_row + r", m_shape.rowCount, m_tileRows);
    const std::string columnInside = inside("first_column + c", m_shape.columnCount, m_tileColumns);
    m_code.open("for (int r = 0; r < {}{}; ++r)", m_tileRows, rowInside.empty() ? "" : " && " + rowInside);
    m_code.line("const long long row = first_row + r;");
    m_writer.decode("row", m_shape.rows);
    if (columnInside.empty()) {
      m_code.pragma("#pragma omp simd");
    }
    m_code.open("for (int c = 0; c < {}{}; ++c)", m_tileColumns, columnInside.empty() ? "" : " && " + columnInside);
    m_code.line("const long long column = first_column + c;");
    m_writer.decode("column", m_shape.columns);
    storeResult(m_writer, m_region, "sum[r][c]");
    m_code.close();
    m_code.close();
  }

  const Region& m_region;
  ProductShape m_shape;
  std::int64_t m_tileRows;
  std::int64_t m_tileColumns;
  std::int64_t m_tileDepth;
  std::int64_t m_vector;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_type;
};

class CpuProduct final : public CpuTiledStrategy {
 public:
  CpuProduct() : CpuTiledStrategy("product") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return productShape(region).has_value(); }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return CpuProductText(instance, *productShape(instance.region)).run(launch.step.entry);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const std::int64_t rows = instance.value("tile_rows");
    const std::int64_t columns = instance.value("tile_columns");
    const std::int64_t depth = instance.value("tile_depth");
    if (rows % kRows != 0 || columns % instance.value("vector", 1) != 0) {
      return unfit("a tile is some vectors wide and four rows or more high");
    }
    if ((rows * depth + depth * columns + rows * columns) * 8 > kMaxTileBytes) {
      return unfit("the tiles need too much stack");
    }
    return {};
  }
};

}  // namespace

void addCpuProduct(StrategyTable& table) {
  table.add(std::make_unique<CpuProduct>());
}

}  // namespace swage::synth
