// SPDX-License-Identifier: Apache-2.0
// Attention in tiles: a thread takes some queries along all keys, a tile of them at a time, with the largest score and
// the sums of what came before (Milakov and Gimelshein, 2018; Dao et al., FlashAttention, 2022).
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/attention.h"
#include "core/synth/strategies/cpu_tiled.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kRowsAtOnce = 4;  // that are multiplied at a time: their sums stay in registers
// A thread's stack is 2 MiB or more; all tiles lie on it.
constexpr std::int64_t kMostStackBytes = 768 << 10;

// Writes one kernel.
class TiledAttention {
 public:
  TiledAttention(const Instance& instance, AttentionShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tileRows(instance.value("tile_rows", kRowsAtOnce)),
        m_tileKeys(instance.value("tile_keys", 16)),
        m_vector(instance.value("vector", 16)),
        m_columns(divideUp(m_shape.columnCount, m_vector) * m_vector),
        m_writer(instance, Dialect::of(domain::Language::Cpp),
                 {"query",     "keys",  "values",    "score",     "total", "largest", "weights", "row",
                  "column",    "key",   "depth",     "batch",     "tile",  "Vector",  "part0",   "part1",
                  "part2",     "part3", "first_row", "first_key", "rows",  "count",   "most",    "base",
                  "remaining", "end",   "right",     "r",         "t",     "c",       "k"}),
        m_code(m_writer.code()),
        m_compute(m_region.prims[static_cast<std::size_t>(m_shape.products)].type),
        m_type(m_writer.dialect().typeName(m_compute)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(describeAttention(m_region, m_shape));
    m_code.comment(
        fmt::format("A thread takes {} queries along the keys, {} at a time: their scores, how far the largest of them "
                    "is above the one so far, and what the exponentials add to the sums.",
                    m_tileRows, m_tileKeys));
    openCppKernel(m_writer, entry);
    m_code.line("typedef {} Vector __attribute__((vector_size({}), aligned({})));", m_type, m_vector * bytes(),
                bytes());
    const std::int64_t down = divideUp(m_shape.rowCount, m_tileRows);
    m_code.pragma("#pragma omp parallel for schedule(dynamic)");
    m_code.open("for (long long tile = 0; tile < {}; ++tile)", down * m_shape.batchCount);
    m_code.line("const long long first_row = tile % {} * {};", down, m_tileRows);
    if (m_shape.batchCount > 1) {
      m_code.line("const long long batch = tile / {};", down);
      m_writer.decode("batch", m_shape.batch);
    }
    const bool isWhole = m_shape.rowCount % m_tileRows == 0;
    m_code.line("const int rows = {};", isWhole ? std::to_string(m_tileRows)
                                                : fmt::format("first_row + {0} < {1} ? {0} : int({1} - first_row)",
                                                              m_tileRows, m_shape.rowCount));
    declare();
    packQueries();
    loopOverKeys();
    finish();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::int64_t bytes() const { return m_compute == Compute::F64 ? 8 : 4; }

  void declare() {
    m_code.line("{} query[{}][{}] = {{}};", m_type, m_tileRows, m_shape.depthCount);
    m_code.line("{} keys[{}][{}];  // turned", m_type, m_shape.depthCount, m_tileKeys);
    m_code.line("{} values[{}][{}];", m_type, m_tileKeys, m_columns);
    m_code.line("{} score[{}][{}];", m_type, m_tileRows, m_tileKeys);
    m_code.line("{} total[{}][{}] = {{}};", m_type, m_tileRows, m_columns);
    m_code.line("{} weights[{}] = {{}};", m_type, m_tileRows);
    m_code.line("{} largest[{}];", m_type, m_tileRows);
    m_code.line("{} remaining[{}];  // of the sums so far, once the largest score is another", m_type, m_tileRows);
    m_code.open("for (int r = 0; r < {}; ++r)", m_tileRows);
    m_code.line("largest[r] = {};", nothing());
    m_code.close();
  }

  [[nodiscard]] std::string nothing() const {
    return "-" + std::string(bytes() == 8 ? "double(kInfinity)" : "kInfinity");
  }

  void bindRow() {
    m_code.line("const long long row = first_row + r;");
    m_writer.decode("row", m_shape.rows);
  }
  void bindKey() {
    m_code.line("const long long key = first_key + t;");
    m_writer.decode("key", m_shape.keys);
  }

  void put(const std::string& place, int prim) {
    m_writer.compute({prim});
    m_code.line("{} = {};", place, m_writer.value(prim).text);
  }

  void packQueries() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int r = 0; r < rows; ++r)");
    bindRow();
    m_code.open("for (long long depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    put("query[r][depth]", m_shape.query);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  // Keys behind the last are zeros; their scores are no numbers of anybody's.
  void packKeys() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int t = 0; t < {}; ++t)", m_tileKeys);
    m_code.line("const bool isInside = t < count;");
    m_code.line("const long long key = isInside ? first_key + t : first_key;");
    m_writer.decode("key", m_shape.keys);
    m_code.open("for (long long depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_shape.key});
    m_code.line("keys[depth][t] = isInside ? {} : 0;", m_writer.value(m_shape.key).text);
    m_code.close();
    m_code.open("for (long long column = 0; column < {}; ++column)", m_columns);
    m_writer.decode("column", m_shape.columns);
    if (m_columns != m_shape.columnCount) {
      m_code.line("values[t][column] = 0;");
      m_code.open("if (column < {})", m_shape.columnCount);
    }
    m_writer.compute({m_shape.value});
    m_code.line("values[t][column] = isInside ? {} : 0;", m_writer.value(m_shape.value).text);
    if (m_columns != m_shape.columnCount) {
      m_code.close();
    }
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  // sum over k of left[r][k] * right[k][c], given to `place`.
  void multiply(const std::string& left, const std::string& right, std::int64_t depth, std::int64_t columns,
                const std::string& place, bool isAdded) {
    m_code.open("for (int r = 0; r < {}; r += {})", m_tileRows, kRowsAtOnce);
    m_code.open("for (int c = 0; c < {}; c += {})", columns, m_vector);
    for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
      m_code.line("Vector part{} = {{}};", i);
    }
    m_code.open("for (int k = 0; k < {}; ++k)", depth);
    m_code.line("const Vector right = *reinterpret_cast<Vector*>(&{}[k][c]);", right);
    for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
      m_code.line("part{0} += {1}[r + {0}][k] * right;", i, left);
    }
    m_code.close();
    for (std::int64_t i = 0; i < kRowsAtOnce; ++i) {
      const std::string to = fmt::format("*reinterpret_cast<Vector*>(&{}[r + {}][c])", place, i);
      m_code.line("{0} = {1}part{2};", to, isAdded ? fmt::format("{} * remaining[r + {}] + ", to, i) : "", i);
    }
    m_code.close();
    m_code.close();
  }

  void loopOverKeys() {
    std::string end = std::to_string(m_shape.keyCount);
    if (m_shape.isCausal) {
      m_code.line("const long long end = first_row + rows < {0} ? first_row + rows : {0};", m_shape.keyCount);
      end = "end";
    }
    m_code.open("for (long long first_key = 0; first_key < {}; first_key += {})", end, m_tileKeys);
    m_code.line("const int count = first_key + {0} < {1} ? {0} : int({1} - first_key);", m_tileKeys, m_shape.keyCount);
    packKeys();
    multiply("query", "keys", m_shape.depthCount, m_tileKeys, "score", false);
    m_code.open("for (int r = 0; r < {}; ++r)", m_tileRows);
    weigh();
    m_code.close();
    multiply("score", "values", m_tileKeys, m_columns, "total", true);
    m_code.close();
  }

  // Turns the products of a row into exponentials.
  void weigh() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int own = r < rows ? count : 0;  // rows behind the last have no scores");
    m_code.open("for (int t = 0; t < own; ++t)");
    bindRow();
    bindKey();
    m_writer.bind(m_shape.products, {"score[r][t]"});
    put("score[r][t]", m_shape.score);
    if (m_shape.isCausal) {
      m_code.line("score[r][t] = key <= row ? score[r][t] : {};", nothing());
    }
    m_code.close();
    m_code.open("for (int t = own; t < {}; ++t)", m_tileKeys);
    m_code.line("score[r][t] = {};", nothing());
    m_code.close();
    m_code.line("{} most = largest[r];", m_type);
    m_code.open("for (int t = 0; t < {}; ++t)", m_tileKeys);
    m_code.line("most = score[r][t] > most ? score[r][t] : most;");
    m_code.close();
    m_code.line("const {} base = most == {} ? 0 : most;  // where nothing takes part yet", m_type, nothing());
    const auto power = [&](const std::string& of) {
      return m_writer.dialect().call("exp", m_compute, {{of + " - base", Expression::Sum}}).text;
    };
    m_code.line("remaining[r] = {};", power("largest[r]"));
    m_code.line("largest[r] = most;");
    m_code.line("{} sum = 0;", m_type);
    m_code.pragma("#pragma omp simd reduction(+ : sum)");
    m_code.open("for (int t = 0; t < {}; ++t)", m_tileKeys);
    m_code.line("score[r][t] = {};", power("score[r][t]"));
    m_code.line("sum += score[r][t];");
    m_code.close();
    m_code.line("weights[r] = weights[r] * remaining[r] + sum;");
    m_writer.leave(outside);
  }

  void finish() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int r = 0; r < rows; ++r)");
    bindRow();
    m_code.open("for (long long column = 0; column < {}; ++column)", m_shape.columnCount);
    m_writer.decode("column", m_shape.columns);
    m_writer.bind(m_shape.total, {"total[r][column]"});
    if (m_shape.weights >= 0) {
      m_writer.bind(m_shape.weights, {"weights[r]"});
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  const Region& m_region;
  AttentionShape m_shape;
  std::int64_t m_tileRows;
  std::int64_t m_tileKeys;
  std::int64_t m_vector;
  std::int64_t m_columns;  // up to whole vectors
  KernelWriter m_writer;
  Code& m_code;
  Compute m_compute;
  std::string m_type;
};

class CpuAttention final : public CpuTiledStrategy {
 public:
  CpuAttention() : CpuTiledStrategy("attention") {}

  [[nodiscard]] Example example() const override { return examples::attention(domain::ScalarType::Float32); }
  [[nodiscard]] bool accepts(const Region& region) const override { return attentionShape(region).has_value(); }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return TiledAttention(instance, *attentionShape(instance.region)).run(launch.step.entry);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const AttentionShape shape = *attentionShape(instance.region);
    const std::int64_t rows = instance.value("tile_rows");
    const std::int64_t keys = instance.value("tile_keys");
    const std::int64_t vector = instance.value("vector", 1);
    if (rows % kRowsAtOnce != 0 || keys % vector != 0) {
      return unfit("a tile is some vectors of keys wide and four rows or more high");
    }
    const std::int64_t width = shape.depthCount + divideUp(shape.columnCount, vector) * vector;
    if ((rows * (width + keys) + keys * width) * 8 > kMostStackBytes) {
      return unfit("the tiles need too much stack");
    }
    return {};
  }
};

}  // namespace

void addCpuAttention(StrategyTable& table) {
  table.add(std::make_unique<CpuAttention>());
}

}  // namespace swage::synth
