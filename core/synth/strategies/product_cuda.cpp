// SPDX-License-Identifier: Apache-2.0
// Products in tiles: a block keeps a tile of both operands in shared memory, a thread a tile of the result in
// registers.
#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/product.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kStaticSharedBytes = 48 << 10;
// Sums of a thread, of 255 registers.
constexpr std::int64_t kMostSums = 128;

// The numbers of an instance.
struct Tiles {
  std::int64_t rows = 0;  // of the result, for a block
  std::int64_t columns = 0;
  std::int64_t depth = 0;       // of one step
  std::int64_t threadRows = 0;  // of the result, for a thread
  std::int64_t threadColumns = 0;

  explicit Tiles(const Instance& instance)
      : rows(instance.value("tile_rows", 1)),
        columns(instance.value("tile_columns", 1)),
        depth(instance.value("tile_depth", 1)),
        threadRows(instance.value("thread_rows", 1)),
        threadColumns(instance.value("thread_columns", 1)) {}

  [[nodiscard]] std::int64_t across() const { return columns / threadColumns; }  // threads side by side
  [[nodiscard]] std::int64_t threads() const { return across() * (rows / threadRows); }
};

// Writes one kernel.
class CudaProductText {
 public:
  CudaProductText(const Instance& instance, ProductShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"left", "right", "sum", "rows", "columns", "row", "column", "depth", "batch", "element", "first_row",
                  "first_column", "first_depth", "thread_row", "thread_column", "i", "k", "r", "c"}),
        m_code(m_writer.code()),
        m_type(
            m_writer.dialect().typeName(m_region.prims[static_cast<std::size_t>(m_region.folds.front().input)].type)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(
        fmt::format("A product of {} by {}, summed over {}{}. A block of {} threads makes a tile of {} by {}: it "
                    "brings {} of the sum at a time into shared memory, and each thread adds up {} by {} results "
                    "in registers.",
                    m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
                    m_shape.batchCount > 1 ? fmt::format(", {} times", m_shape.batchCount) : "", m_tiles.threads(),
                    m_tiles.rows, m_tiles.columns, m_tiles.depth, m_tiles.threadRows, m_tiles.threadColumns));
    openCudaKernel(m_writer, entry, m_tiles.threads());
    m_code.line("__shared__ {} left[{}][{}];  // [depth][row]", m_type, m_tiles.depth, m_tiles.rows + kPadding);
    m_code.line("__shared__ {} right[{}][{}];  // [depth][column]", m_type, m_tiles.depth, m_tiles.columns + kPadding);
    placeBlock();
    m_code.line("const int thread_column = threadIdx.x % {};", m_tiles.across());
    m_code.line("const int thread_row = threadIdx.x / {} * {};", m_tiles.across(), m_tiles.threadRows);
    m_code.line("{} sum[{}][{}] = {{}};", m_type, m_tiles.threadRows, m_tiles.threadColumns);
    m_code.blank();
    m_code.open("for (int first_depth = 0; first_depth < {}; first_depth += {})", m_shape.depthCount, m_tiles.depth);
    bring("left", m_shape.left, {m_shape.rows, m_shape.rowCount, m_tiles.rows, "row"});
    bring("right", m_shape.right, {m_shape.columns, m_shape.columnCount, m_tiles.columns, "column"});
    m_code.line("__syncthreads();");
    multiply();
    m_code.line("__syncthreads();");
    m_code.close();
    m_code.blank();
    finish();
    m_code.close();
    return m_writer.finish();
  }

 private:
  // Keeps threads that write neighbours in depth off the same bank.
  static constexpr std::int64_t kPadding = 1;

  // The side of a tile that is not the depth.
  struct Side {
    const std::vector<std::size_t>& axes;
    std::int64_t count;
    std::int64_t tile;
    std::string name;
  };

  void placeBlock() {
    const std::int64_t across = divideUp(m_shape.columnCount, m_tiles.columns);
    const std::int64_t down = divideUp(m_shape.rowCount, m_tiles.rows);
    m_code.line("const int first_column = blockIdx.x % {} * {};", across, m_tiles.columns);
    m_code.line("const int first_row = blockIdx.x / {}{} * {};", across,
                m_shape.batchCount > 1 ? fmt::format(" % {}", down) : "", m_tiles.rows);
    if (m_shape.batchCount > 1) {
      m_code.line("const int batch = blockIdx.x / {};", across * down);
      m_writer.decode("batch", m_shape.batch);
    }
  }

  // Opens a block for what lies inside the matrix, where a tile may hang over its edge.
  bool openInside(const std::string& condition) {
    if (condition.empty()) {
      return false;
    }
    m_code.open("if ({})", condition);
    return true;
  }

  // Copies a tile of an operand; neighbouring threads take neighbours in memory.
  void bring(const std::string& tile, int prim, const Side& side) {
    const bool depthFirst = isContiguousAlong(m_region, prim, m_shape.depth);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", side.tile * m_tiles.depth, m_tiles.threads());
    const std::string inDepth = depthFirst ? fmt::format("i % {}", m_tiles.depth) : fmt::format("i / {}", side.tile);
    const std::string inSide = depthFirst ? fmt::format("i / {}", m_tiles.depth) : fmt::format("i % {}", side.tile);
    m_code.line("const int {0} = first_{0} + {1};", side.name, inSide);
    m_code.line("const int depth = first_depth + {};", inDepth);
    m_code.line("{} element = 0;", m_type);
    std::string condition;
    if (side.count % side.tile != 0) {
      condition = fmt::format("{} < {}", side.name, side.count);
    }
    if (m_shape.depthCount % m_tiles.depth != 0) {
      condition += fmt::format("{}depth < {}", condition.empty() ? "" : " && ", m_shape.depthCount);
    }
    const bool isOpen = openInside(condition);
    m_writer.decode(side.name, side.axes);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({prim});
    m_code.line("element = {};", m_writer.value(prim).text);
    if (isOpen) {
      m_code.close();
    }
    m_code.line("{}[{}][{}] = element;", tile, inDepth, inSide);
    m_code.close();
    m_writer.leave(outside);
  }

  void multiply() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.depth);
    m_code.line("{} rows[{}];", m_type, m_tiles.threadRows);
    m_code.line("{} columns[{}];", m_type, m_tiles.threadColumns);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.threadRows);
    m_code.line("rows[r] = left[k][thread_row + r];");
    m_code.close();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.threadColumns);
    m_code.line("columns[c] = right[k][thread_column + c * {}];", m_tiles.across());
    m_code.close();
    openSums();
    m_code.line("sum[r][c] += rows[r] * columns[c];");
    m_code.close();
    m_code.close();
    m_code.close();
  }

  void openSums() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.threadRows);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.threadColumns);
  }

  void finish() {
    openSums();
    m_code.line("const int row = first_row + thread_row + r;");
    m_code.line("const int column = first_column + thread_column + c * {};", m_tiles.across());
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.columnCount % m_tiles.columns != 0) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    const bool isOpen = openInside(condition);
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {"sum[r][c]"});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
    if (isOpen) {
      m_code.close();
    }
    m_code.close();
    m_code.close();
  }

  const Region& m_region;
  ProductShape m_shape;
  Tiles m_tiles;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_type;
};

class CudaProduct final : public Strategy {
 public:
  CudaProduct() : Strategy(domain::Language::CudaCpp, "product") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return productShape(region).has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Tiles tiles(instance);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = static_cast<std::uint32_t>(tiles.threads());
    launch.step.grid.x = static_cast<std::uint32_t>(blocks(*productShape(instance.region), tiles));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return CudaProductText(instance, *productShape(instance.region)).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

 private:
  static std::int64_t blocks(const ProductShape& shape, const Tiles& tiles) {
    return divideUp(shape.columnCount, tiles.columns) * divideUp(shape.rowCount, tiles.rows) * shape.batchCount;
  }

  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Tiles tiles(instance);
    const ProductShape shape = *productShape(instance.region);
    const Prim& input = instance.region.prims[static_cast<std::size_t>(instance.region.folds.front().input)];
    const std::int64_t size = input.type == Compute::F64 ? 8 : 4;
    if (tiles.columns % tiles.threadColumns != 0 || tiles.rows % tiles.threadRows != 0 ||
        tiles.threads() > kMaxThreads || tiles.threads() < 32) {
      return unfit("a block has 32 to 1024 threads");
    }
    if (tiles.threadRows * tiles.threadColumns * (size / 4) > kMostSums) {
      return unfit("the sums of a thread do not fit into its registers");
    }
    if ((tiles.rows + tiles.columns + 2) * tiles.depth * size > kStaticSharedBytes) {
      return unfit("the tiles do not fit into shared memory");
    }
    if (blocks(shape, tiles) > kMaxGrid || shape.depthCount > kMaxGrid) {
      return unfit("there are more tiles than blocks of a grid");
    }
    return {};
  }
};

// A warp reads one row after another and one column after another from shared memory, then multiplies all with all.
std::optional<double> CudaProduct::estimate(const Instance& instance) const {
  constexpr double kReached = 0.75;         // between two barriers
  constexpr double kBringing = 8.0;         // instructions for each element that comes into shared memory
  constexpr double kGathering = 180.0;      // the same from a window, whose edges and places have to be found
  constexpr double kWait = 600.0;           // cycles, between two barriers
  constexpr double kWaitOfElement = 150.0;  // of a thread for each that it brings
  constexpr double kStored = 1.35;          // times the bytes of results: memory takes less than it gives
  constexpr std::int64_t kOther = 30;       // registers beside sums and operands
  const Tiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const DeviceRates device = DeviceRates::of(instance.device);
  const Prim& input = instance.region.prims[static_cast<std::size_t>(instance.region.folds.front().input)];
  const double size = input.type == Compute::F64 ? 2.0 : 1.0;
  const bool isGathered = instance.region.hasRole(AxisRole::Window) || instance.region.hasBounds();
  const auto sums = static_cast<double>(tiles.threadRows * tiles.threadColumns);
  const auto reads = static_cast<double>(tiles.threadRows + tiles.threadColumns);
  const auto warps = static_cast<double>(tiles.threads()) / 32.0;
  const auto edge = static_cast<double>(tiles.rows + tiles.columns);
  const double ofDepth =
      size *
      (warps * std::max(sums * 32.0 / device.each.floatAdds, reads) / kReached +
       (isGathered ? static_cast<double>(tiles.rows) * kGathering + static_cast<double>(tiles.columns) * kBringing
                   : edge * kBringing) /
           device.each.floatAdds);
  const std::int64_t registers =
      tiles.threadRows * tiles.threadColumns + tiles.threadRows + tiles.threadColumns + kOther;
  const std::int64_t shared = (tiles.rows + tiles.columns + 2) * tiles.depth * 4;
  // What comes into shared memory is waited for, unless another block of the multiprocessor has something to do.
  const std::int64_t atOnce =
      std::clamp<std::int64_t>(divideUp(blocks(shape, tiles), device.multiprocessors), 1,
                               std::max<std::int64_t>(1, blocksAtOnce(device, tiles.threads(), registers, shared)));
  const double waits = (kWait + kWaitOfElement * edge * static_cast<double>(tiles.depth) / (warps * 32.0)) /
                       static_cast<double>(tiles.depth * atOnce);
  BlockWork work;
  work.count = blocks(shape, tiles);
  work.cycles =
      static_cast<double>(shape.depthCount) * std::max({ofDepth, edge * 4.0 * size / device.each.cacheBytes, waits});
  work.bytes = kStored * static_cast<double>(tiles.rows * tiles.columns * bytesOfResult(instance.region, shape));
  work.hidesMemory = atOnce > 1;
  return device.launchSeconds + secondsOf(device, work);
}

}  // namespace

void addCudaProduct(StrategyTable& table) {
  table.add(std::make_unique<CudaProduct>());
}

}  // namespace swage::synth
