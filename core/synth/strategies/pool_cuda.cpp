// SPDX-License-Identifier: Apache-2.0
// Windows without weights on a GPU. What lies above each other is folded in registers, column by column and in vectors,
// then what lies beside each other in shared memory: so memory is read once, and each result costs few instructions.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/joining.h"
#include "core/synth/strategies/pool_tile.h"
#include "core/synth/strategies/streaming.h"

namespace swage::synth::cuda {
namespace {

constexpr std::int64_t kMostShared = 48 << 10;
constexpr std::int64_t kMostLoads = 160;  // of a thread, written out by the compiler
constexpr std::int64_t kUnrolled = 8;

class PoolText {
 public:
  PoolText(const Instance& instance, const Pool& pool)
      : m_region(instance.region),
        m_pool(pool),
        m_tile(instance, pool),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"folded", "from", "bundle", "bundles", "item", "column", "best", "seen", "first", "result",
                  "line",   "at",   "has",    "found",   "turn", "r",      "j",    "v",    "x",     "q"}),
        m_code(m_writer.code()),
        m_type(m_region.prims[static_cast<std::size_t>(pool.seen)].type),
        m_join(m_writer.dialect(), m_region.folds.front().kind, m_type) {}

  KernelText run(const std::string& entry) {
    comment();
    openCudaKernel(m_writer, entry, m_tile.threads);
    if (!m_tile.hasWholeWindows()) {
      m_code.line("__shared__ __align__(16) {} folded[{}][{}];", m_join.type(), m_tile.atOnce * m_tile.rows,
                  m_tile.pitch());
    }
    const bool isCut = m_tile.tiles > 1;
    const std::int64_t start = m_pool.columns.begin - m_tile.shift;
    if (isCut) {
      m_code.line("const int from = int(blockIdx.x % {}) * {}{};", m_tile.tiles, m_tile.results * m_pool.columns.step,
                  start == 0 ? "" : fmt::format(" - {}", -start));
    } else {
      m_code.line("const int from = {};", start);
    }
    m_code.line("const {0} bundles = ({0})(blockIdx.x{1}){2};", m_writer.index(),
                isCut ? fmt::format(" / {}", m_tile.tiles) : "",
                m_tile.atOnce > 1 ? fmt::format(" * {}", m_tile.atOnce) : "");
    foldColumns();
    if (!m_tile.hasWholeWindows()) {
      m_code.line("__syncthreads();");
      foldAlong();
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void comment() {
    std::string text = fmt::format("{} results, each of {} elements.", extentsText(m_region, freeAxes(m_region)),
                                   extentsText(m_region, foldedAxes(m_region)));
    text += m_tile.tiles > 1 ? fmt::format(" A block makes {} of a line", m_tile.results)
                             : fmt::format(" A block makes {} lines", m_tile.atOnce * m_tile.rows);
    text += fmt::format(": its threads fold columns of rows, {} at once", m_tile.width);
    text += m_tile.rows > 1 ? fmt::format(", for {} lines that share rows,", m_tile.rows) : "";
    m_code.comment(text +
                   (m_tile.hasWholeWindows() ? ", which hold whole windows." : " and then what lies side by side."));
  }

  // The coordinates of the results of a bundle; along the axis of rows, those of its first line are `first`.
  void placeBundle() {
    std::int64_t inside = 1;
    for (std::size_t i = m_pool.lines.size(); i-- > 0;) {
      const std::size_t axis = m_pool.lines[i];
      const bool isRows = m_pool.rows && axis == m_pool.rows->axis;
      const std::int64_t extent = isRows ? m_tile.bundlesOfAxis : m_region.axes[axis].extent;
      const std::string quotient = inside == 1 ? "bundle" : fmt::format("bundle / {}", inside);
      const std::string place = i == 0 ? quotient : fmt::format("{} % {}", quotient, extent);
      if (isRows) {
        const std::int64_t apart = m_tile.apart;
        const std::int64_t all = apart * m_tile.rows;
        m_code.line("const int at = int({});", place);
        m_code.line("const int first = {};",
                    apart == 1 ? fmt::format("at * {}", all) : fmt::format("at / {0} * {1} + at % {0}", apart, all));
        m_writer.bindAxis(axis, "first");
      } else {
        const std::string name = m_writer.unique(fmt::format("at{}", i));
        m_code.line("const {} {} = {};", m_writer.index(), name, place);
        m_writer.bindAxis(axis, name);
      }
      inside *= extent;
    }
  }

  void foldColumns() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t items = m_tile.atOnce * m_tile.vectors;
    const std::int64_t turns = divideUp(items, m_tile.threads);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int turn = 0; turn < {}; ++turn)", turns);
    m_code.line("const int item = turn * {} + int(threadIdx.x);", m_tile.threads);
    if (items % m_tile.threads != 0) {
      m_code.open("if (item >= {})", items);
      m_code.line("break;");
      m_code.close();
    }
    m_code.line("const {} bundle = bundles{};", m_writer.index(),
                m_tile.atOnce > 1 ? fmt::format(" + item / {}", m_tile.vectors) : "");
    if (m_tile.bundles % m_tile.atOnce != 0) {
      m_code.open("if (bundle >= {})", m_tile.bundles);
      m_code.line("break;");
      m_code.close();
    }
    const std::string vector = m_tile.atOnce > 1 ? fmt::format("item % {}", m_tile.vectors) : "item";
    m_code.line("const int column = from + {}{};", vector, m_tile.width > 1 ? fmt::format(" * {}", m_tile.width) : "");
    placeBundle();
    if (m_tile.width > 1) {
      m_code.line("Vec<{}, {}> best[{}];", m_join.type(), m_tile.width, m_tile.rows);
    } else {
      m_code.line("{} best[{}][1];", m_join.type(), m_tile.rows);
    }
    openLanes();
    m_code.line("best[r][v] = {};", m_join.neutral());
    closeLanes();
    foldRows();
    if (m_tile.hasWholeWindows()) {
      foldVectors();
    } else {
      keepColumns(vector);
    }
    m_code.close();
    m_writer.leave(outside);
  }

  // For the threads that fold what lies side by side.
  void keepColumns(const std::string& vector) {
    const std::string line = m_tile.atOnce > 1 ? fmt::format("item / {} * {} + r", m_tile.vectors, m_tile.rows) : "r";
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tile.rows);
    if (m_tile.width > 1) {
      m_code.line("store<{0}, {1}>(&folded[{2}][({3}) * {1}], best[r]);", m_join.type(), m_tile.width, line, vector);
    } else {
      m_code.line("folded[{}][{}] = best[r][0];", line, vector);
    }
    m_code.close();
  }

  // The results of a thread's own columns.
  void foldVectors() {
    const Columns& columns = m_pool.columns;
    m_code.pragma("#pragma unroll");
    m_code.open("for (int q = 0; q < {}; ++q)", m_tile.ofVector);
    m_code.line("const int result = column / {} + q;", columns.taps);
    m_writer.bindAxis(columns.axis, "result");
    const bool isCut = m_tile.tiles * m_tile.vectors * m_tile.ofVector != columns.results;
    if (isCut) {
      m_code.open("if (result < {})", columns.results);
    }
    m_code.line("{} found = best[0][q * {}];", m_join.type(), columns.taps);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 1; j < {}; ++j)", columns.taps);
    m_code.line("found = {};", m_join("found", fmt::format("best[0][q * {} + j]", columns.taps)));
    m_code.close();
    store();
    if (isCut) {
      m_code.close();
    }
    m_code.close();
  }

  void openLanes() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tile.rows);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int v = 0; v < {}; ++v)", m_tile.width);
  }
  void closeLanes() {
    m_code.close();
    m_code.close();
  }

  // All rows that the lines of a bundle see.
  void foldRows() {
    static constexpr std::string_view kNames = "kuw";
    std::size_t loops = 0;
    for (const std::size_t axis : m_pool.windows) {
      const std::string name = m_writer.unique(std::string(1, kNames[std::min(loops, kNames.size() - 1)]));
      if (m_region.axes[axis].extent <= kUnrolled) {
        m_code.pragma("#pragma unroll");
      }
      m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, m_region.axes[axis].extent);
      m_writer.bindAxis(axis, name);
      ++loops;
    }
    if (m_pool.rows) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int j = 0; j < {}; ++j)", (m_tile.rows - 1) * m_pool.rows->moved + m_pool.rows->taps);
      m_writer.bindAxis(m_pool.rows->window, "j");
      ++loops;
    } else if (loops == 0) {
      m_code.openBlock();
      ++loops;
    }
    foldVector();
    for (; loops > 0; --loops) {
      m_code.close();
    }
  }

  // Whether a row is seen by a line that there is.
  [[nodiscard]] std::string rowCondition() const {
    if (!m_pool.rows || m_pool.rows->results % (m_tile.apart * m_tile.rows) == 0) {
      return {};
    }
    const RowAxes& rows = *m_pool.rows;
    return fmt::format("first + max(0, (j - {}) / {}) * {} < {}", rows.taps - rows.moved, rows.moved, m_tile.apart,
                       rows.results);
  }

  void foldVector() {
    const Columns& columns = m_pool.columns;
    m_writer.bindAxis(columns.axis, "column");
    if (columns.window) {
      m_writer.bindAxis(*columns.window, "0");
    }
    std::string condition;
    const std::string element = m_writer.boundedElement(m_pool.operand, condition);
    const auto require = [&condition](const std::string& more) {
      condition += (condition.empty() || more.empty() ? "" : " && ") + more;
    };
    require(rowCondition());
    if (columns.begin < 0) {
      require("column >= 0");
    }
    const std::int64_t last = columns.begin - m_tile.shift + (m_tile.tiles - 1) * m_tile.results * columns.step;
    const bool canEnd = last + m_tile.pitch() > columns.extent;
    if (canEnd) {
      require(fmt::format("column < {}", columns.extent));
    }
    m_code.line("const bool has = {};", condition.empty() ? "true" : condition);
    loadVector(element);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int v = 0; v < {}; ++v)", m_tile.width);
    const KernelWriter::Scope outside = m_writer.scope();
    m_writer.bind(m_pool.load, m_writer.dialect().loaded(m_tile.width > 1 ? "x[v]" : "x", m_pool.operand.dtype));
    m_writer.bindAxis(columns.axis, m_tile.width > 1 ? "(column + v)" : "column");
    for (const BesideColumn& beside : m_pool.beside) {
      const Expression loaded = m_writer.dialect().loaded(m_writer.element(beside.operand), beside.operand.dtype);
      m_writer.bind(beside.load, condition.empty() ? loaded
                                                   : Expression{fmt::format("(has ? {} : {}(0))", loaded.text,
                                                                            m_writer.dialect().typeName(m_type))});
    }
    m_writer.bindAxis(columns.axis, "column");
    m_writer.compute({m_pool.seen});
    const std::string loaded = operand(m_writer.value(m_pool.seen), Expression::Term);
    const bool hasTail = canEnd && columns.extent % m_tile.width != 0;
    const std::string tail = hasTail ? fmt::format(" && column + v < {}", columns.extent) : "";
    m_code.line("const {} seen = {};", m_join.type(),
                condition.empty() ? loaded : fmt::format("has{} ? {} : {}", tail, loaded, m_join.neutral()));
    foldLines();
    m_code.close();
    m_writer.leave(outside);
  }

  // A vector of the row, or where it ends in one, what there is of it.
  void loadVector(const std::string& element) {
    const std::string_view type = m_writer.dialect().storageName(m_pool.operand.dtype);
    if (m_tile.width == 1) {
      m_code.line("{} x = {{}};", type);
      m_code.open("if (has)");
      m_code.line("x = {};", element);
      m_code.close();
      return;
    }
    m_code.line("Vec<{}, {}> x = {{}};", type, m_tile.width);
    const bool hasTail = m_pool.columns.extent % m_tile.width != 0;
    m_code.open("if (has{})", hasTail ? fmt::format(" && column + {} <= {}", m_tile.width, m_pool.columns.extent) : "");
    m_code.line("x = load<{}, {}>(&{});", type, m_tile.width, element);
    m_code.close();
    if (hasTail) {
      m_code.open("if (has && column + {} > {})", m_tile.width, m_pool.columns.extent);
      m_code.pragma("#pragma unroll");
      m_code.open("for (int v = 0; v < {}; ++v)", m_tile.width);
      m_code.open("if (column + v < {})", m_pool.columns.extent);
      m_code.line("x[v] = (&{})[v];", element);
      m_code.close();
      m_code.close();
      m_code.close();
    }
  }

  void foldLines() {
    if (!m_pool.rows || m_tile.rows == 1) {
      m_code.line("best[0][v] = {};", m_join("best[0][v]", "seen"));
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tile.rows);
    const std::int64_t moved = m_pool.rows->moved;
    m_code.open("if (inside(j - r{}, {}))", moved == 1 ? "" : fmt::format(" * {}", moved), m_pool.rows->taps);
    m_code.line("best[r][v] = {};", m_join("best[r][v]", "seen"));
    m_code.close();
    m_code.close();
  }

  // What the lines have found, and where it goes.
  void foldAlong() {
    const Columns& columns = m_pool.columns;
    const std::int64_t lines = m_tile.atOnce * m_tile.rows;
    m_code.open("for (int item = threadIdx.x; item < {}; item += {})", lines * m_tile.results, m_tile.threads);
    m_code.line("const int x = item{};", lines > 1 ? fmt::format(" % {}", m_tile.results) : "");
    m_code.line("const int line = {};", lines > 1 ? fmt::format("item / {}", m_tile.results) : "0");
    m_code.line("const {} bundle = bundles{};", m_writer.index(),
                m_tile.atOnce > 1 ? (m_tile.rows > 1 ? fmt::format(" + line / {}", m_tile.rows) : " + line") : "");
    placeBundle();
    if (m_pool.rows && m_tile.rows > 1) {
      const std::string row = m_tile.atOnce > 1 ? fmt::format("line % {}", m_tile.rows) : "line";
      m_code.line("const int r = {};", row);
      m_writer.bindAxis(m_pool.rows->axis, fmt::format("(first + r * {})", m_tile.apart));
    }
    m_code.line("const int result = {};",
                m_tile.tiles > 1 ? fmt::format("int(blockIdx.x % {}) * {} + x", m_tile.tiles, m_tile.results) : "x");
    m_writer.bindAxis(columns.axis, "result");
    const std::string condition = resultCondition();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    const std::string start = fmt::format("x{}{}", columns.step == 1 ? "" : fmt::format(" * {}", columns.step),
                                          m_tile.shift == 0 ? "" : fmt::format(" + {}", m_tile.shift));
    m_code.line("{} found = folded[line][{}];", m_join.type(), start);
    if (columns.taps > 1) {
      if (columns.taps <= 4 * kUnrolled) {
        m_code.pragma("#pragma unroll");
      }
      m_code.open("for (int j = 1; j < {}; ++j)", columns.taps);
      const std::string tap = fmt::format("j{}", columns.reach == 1 ? "" : fmt::format(" * {}", columns.reach));
      m_code.line("found = {};", m_join("found", fmt::format("folded[line][{} + {}]", start, tap)));
      m_code.close();
    }
    store();
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.close();
  }

  void store() {
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {"found"});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
  }

  [[nodiscard]] std::string resultCondition() const {
    std::string condition;
    const auto require = [&condition](const std::string& more) {
      condition += (condition.empty() ? "" : " && ") + more;
    };
    if (m_tile.bundles % m_tile.atOnce != 0) {
      require(fmt::format("bundle < {}", m_tile.bundles));
    }
    if (m_tile.results * m_tile.tiles != m_pool.columns.results) {
      require(fmt::format("result < {}", m_pool.columns.results));
    }
    if (m_pool.rows && m_pool.rows->results % (m_tile.apart * m_tile.rows) != 0) {
      require(fmt::format("{} < {}", m_tile.rows > 1 ? fmt::format("first + r * {}", m_tile.apart) : "first",
                          m_pool.rows->results));
    }
    return condition;
  }

  const Region& m_region;
  const Pool& m_pool;
  PoolTile m_tile;
  KernelWriter m_writer;
  Code& m_code;
  Compute m_type;
  Joining m_join;
};

class CudaPool final : public Strategy {
 public:
  CudaPool() : Strategy(domain::Language::CudaCpp, "pool") {}

  [[nodiscard]] Example example() const override { return examples::pooling(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return poolOf(region).has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const PoolTile tile(instance, *poolOf(instance.region));
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(tile.threads);
    launch.step.grid.x = narrow(tile.blocks());
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Pool pool = *poolOf(instance.region);
    return PoolText(instance, pool).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const Pool pool = *poolOf(instance.region);
    const PoolTile tile(instance, pool);
    const double columns = static_cast<double>(tile.tiles * tile.pitch()) / static_cast<double>(pool.columns.extent);
    // Rows that the lines of a block see, for each that they see anew: the first-level cache has those that they share.
    double rows = 1.0;
    if (pool.rows) {
      const RowAxes& axes = *pool.rows;
      const std::int64_t lines = std::min(tile.atOnce * tile.rows, axes.results);
      const std::int64_t seen =
          std::min(lines * axes.taps, (lines - 1) * axes.moved + (axes.taps - 1) * axes.apart + 1);
      rows = static_cast<double>(seen) / static_cast<double>(lines * axes.moved);
    }
    Stream stream;
    stream.blocks = tile.blocks();
    stream.threads = tile.threads;
    stream.registers = 32 + tile.rows * tile.width + 4 * tile.width;
    stream.bytes = instance.value("items", 1) * tile.width * 8;
    // What several blocks ask for comes from memory but once; bundles leave fewer threads to wait for it.
    const double bundles = 1.0 + 0.02 * static_cast<double>(tile.rows - 1);
    stream.moved = bytesMoved(instance.region) * (0.8 + 0.1 * columns + 0.1 * rows) * bundles;
    return secondsOfStream(instance.device, stream);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Pool pool = *poolOf(instance.region);
    const PoolTile tile(instance, pool);
    const std::int64_t bytes = instance.region.prims[static_cast<std::size_t>(pool.seen)].type == Compute::F64 ? 8 : 4;
    if (!isAligned(pool, tile.width) || (!pool.beside.empty() && pool.columns.extent % tile.width != 0)) {
      return unfit("rows cannot be read in vectors this wide");
    }
    if (tile.rows > 1 && (!pool.rows || tile.rows * pool.rows->apart > pool.rows->results)) {
      return unfit("there are not so many results below each other whose windows overlap");
    }
    if (tile.results < 1 || tile.sharedElements() * bytes > kMostShared) {
      return unfit("a block has not so much shared memory");
    }
    if (tile.rows * tile.width > 32 || loadsOf(instance.region, pool, tile) > kMostLoads) {
      return unfit("the text would become too long");
    }
    return tile.blocks() > kMaxGrid ? Result<>(unfit("there are more results than threads of a grid")) : Result<>();
  }

  static bool isAligned(const Pool& pool, std::int64_t width) {
    const auto isMultiple = [width](std::int64_t number) { return number % width == 0; };
    const Operand& operand = pool.operand;
    for (std::size_t axis = 0; axis < operand.strides.size(); ++axis) {
      if (axis != pool.columns.axis && !isMultiple(operand.strides[axis])) {
        return false;
      }
    }
    constexpr std::int64_t kMostBytes = 16;
    return isMultiple(operand.offset) &&
           static_cast<std::int64_t>(domain::byteSize(operand.dtype)) * width <= kMostBytes &&
           std::all_of(operand.bounds.begin(), operand.bounds.end(),
                       [&](const Bound& bound) { return isMultiple(bound.stride); });
  }

  static std::int64_t loadsOf(const Region& region, const Pool& pool, const PoolTile& tile) {
    std::int64_t loads = pool.rows ? (tile.rows - 1) * pool.rows->moved + pool.rows->taps : 1;
    for (const std::size_t axis : pool.windows) {
      loads *= std::min(region.axes[axis].extent, kUnrolled);
    }
    return loads * divideUp(tile.atOnce * tile.vectors, tile.threads);
  }
};

}  // namespace

void addPool(StrategyTable& table) {
  table.add(std::make_unique<CudaPool>());
}

}  // namespace swage::synth::cuda
