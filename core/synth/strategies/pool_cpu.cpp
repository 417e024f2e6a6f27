// SPDX-License-Identifier: Apache-2.0
// Windows without weights on a processor: what lies above each other is folded in vectors along whole rows, then what
// lies beside each other.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cpu_tiled.h"
#include "core/synth/strategies/joining.h"
#include "core/synth/strategies/pool.h"

namespace swage::synth::cpu {
namespace {

class PoolText {
 public:
  PoolText(const Instance& instance, const Pool& pool)
      : m_region(instance.region),
        m_pool(pool),
        m_tile(std::min(instance.value("tile", 1), pool.columns.results)),
        m_tiles((pool.columns.results + m_tile - 1) / m_tile),
        m_writer(instance, Dialect::of(domain::Language::Cpp),
                 {"block", "line", "folded", "row", "i", "first", "last", "start", "result", "results", "found", "j"}),
        m_code(m_writer.code()),
        m_join(m_writer.dialect(), m_region.folds.front().kind,
               m_region.prims[static_cast<std::size_t>(pool.seen)].type) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format("{} results, each of {} elements: rows are folded column by column, then neighbours.",
                               extentsText(m_region, freeAxes(m_region)), extentsText(m_region, foldedAxes(m_region))));
    openCppKernel(m_writer, entry);
    m_code.pragma("#pragma omp parallel for schedule(static)");
    m_code.open("for (long long block = 0; block < {}; ++block)", positions(m_region, m_pool.lines) * m_tiles);
    if (!m_pool.lines.empty()) {
      m_code.line("const long long line = block{};", m_tiles > 1 ? fmt::format(" / {}", m_tiles) : "");
      m_writer.decode("line", m_pool.lines);
    }
    placeTile();
    const std::int64_t seen = m_pool.columns.seenBy(m_tile);
    m_code.line("{} folded[{}];", m_join.type(), seen);
    m_code.open("for (int i = 0; i < {}; ++i)", seen);
    m_code.line("folded[i] = {};", m_join.neutral());
    m_code.close();
    foldRows();
    foldAlong();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  // The first of the results, and the columns that they see and that there are: those from `first` to `last`.
  void placeTile() {
    const Columns& columns = m_pool.columns;
    m_code.line("const long long result = {};", m_tiles > 1 ? fmt::format("block % {} * {}", m_tiles, m_tile) : "0");
    m_code.line("const long long start = result * {} + {};", columns.step, columns.begin);
    m_code.line("const long long first = std::max(start, 0LL);");
    m_code.line("const long long last = std::min(start + {}, {}LL);", columns.seenBy(m_tile), columns.extent);
    m_results = std::to_string(m_tile);
    if (columns.results % m_tile != 0) {
      m_results = "results";
      m_code.line("const long long results = std::min({}LL, {} - result);", m_tile, columns.results);
    }
  }

  void foldRows() {
    const KernelWriter::Scope outside = m_writer.scope();
    static constexpr std::string_view kNames = "kuw";
    std::vector<std::size_t> windows = m_pool.windows;
    if (m_pool.rows) {
      windows.push_back(m_pool.rows->window);
    }
    for (std::size_t loop = 0; loop < windows.size(); ++loop) {
      const std::string name = m_writer.unique(std::string(1, kNames[std::min(loop, kNames.size() - 1)]));
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", name, m_region.axes[windows[loop]].extent);
      m_writer.bindAxis(windows[loop], name);
    }
    const Columns& columns = m_pool.columns;
    if (columns.window) {
      m_writer.bindAxis(*columns.window, "0");
    }
    m_writer.bindAxis(columns.axis, "first");
    std::string condition;
    const std::string element = m_writer.boundedElement(m_pool.operand, condition);
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    } else {
      m_code.openBlock();
    }
    m_code.line("const {}* const row = &{};", m_writer.dialect().storageName(m_pool.operand.dtype), element);
    m_code.pragma("#pragma omp simd");
    m_code.open("for (long long i = 0; i < last - first; ++i)");
    const std::string folded = "folded[first - start + i]";
    m_writer.bind(m_pool.load, m_writer.dialect().loaded("row[i]", m_pool.operand.dtype));
    m_writer.bindAxis(columns.axis, "(first + i)");
    for (const BesideColumn& beside : m_pool.beside) {
      m_writer.bind(beside.load, m_writer.dialect().loaded(m_writer.element(beside.operand), beside.operand.dtype));
    }
    m_writer.bindAxis(columns.axis, "first");
    m_writer.compute({m_pool.seen});
    m_code.line("{} = {};", folded, m_join(folded, operand(m_writer.value(m_pool.seen), Expression::Term)));
    for (std::size_t loop = 0; loop < windows.size() + 2; ++loop) {
      m_code.close();
    }
    m_writer.leave(outside);
  }

  // Tap by tap, so that each is a loop over neighbours in vectors.
  void foldAlong() {
    const Columns& columns = m_pool.columns;
    const std::string start = columns.step == 1 ? "i" : fmt::format("i * {}", columns.step);
    m_code.line("{} found[{}];", m_join.type(), m_tile);
    openResults();
    m_code.line("found[i] = folded[{}];", start);
    m_code.close();
    if (columns.taps > 1) {
      m_code.open("for (int j = 1; j < {}; ++j)", columns.taps);
      openResults();
      const std::string tap = columns.reach == 1 ? "j" : fmt::format("j * {}", columns.reach);
      m_code.line("found[i] = {};", m_join("found[i]", fmt::format("folded[{} + {}]", start, tap)));
      m_code.close();
      m_code.close();
    }
    openResults();
    m_writer.bindAxis(columns.axis, "(result + i)");
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {"found[i]"});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
    m_code.close();
  }

  void openResults() {
    m_code.pragma("#pragma omp simd");
    m_code.open("for (long long i = 0; i < {}; ++i)", m_results);
  }

  const Region& m_region;
  const Pool& m_pool;
  std::int64_t m_tile;   // results of a line that are made at once
  std::int64_t m_tiles;  // of a line
  std::string m_results;
  KernelWriter m_writer;
  Code& m_code;
  Joining m_join;
};

class CpuPool final : public CpuTiledStrategy {
 public:
  CpuPool() : CpuTiledStrategy("pool") {}

  [[nodiscard]] Example example() const override { return examples::pooling(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return poolOf(region).has_value(); }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Pool pool = *poolOf(instance.region);
    return PoolText(instance, pool).run(launch.step.entry);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    constexpr std::int64_t kMostStack = 256 << 10;
    const Columns columns = poolOf(instance.region)->columns;
    if (columns.seenBy(std::min(instance.value("tile", 1), columns.results)) * 8 > kMostStack) {
      return unfit("rows are too long for the stack");
    }
    return {};
  }
};

}  // namespace

void addPool(StrategyTable& table) {
  table.add(std::make_unique<CpuPool>());
}

}  // namespace swage::synth::cpu
