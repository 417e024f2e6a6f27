// SPDX-License-Identifier: Apache-2.0
// Scans along another axis than the innermost: warps take the positions of neighbouring sequences in turns.
#include <algorithm>
#include <iterator>

#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/scan.h"
#include "core/synth/strategies/streaming.h"

namespace swage::synth::cuda {
namespace {

// How sequences and their positions are shared out.
struct ColumnShares {
  explicit ColumnShares(const Instance& instance)
      : warps(instance.value("threads", kWarp) / kWarp),
        items(instance.value("items", 1)),
        width(instance.value("vector_width", 1)),
        columns(instance.region.axes.back().extent),
        across(divideUp(columns, kWarp * width)) {}

  [[nodiscard]] std::int64_t positions() const { return warps * items; }

  std::int64_t warps;
  std::int64_t items;
  std::int64_t width;
  std::int64_t columns;  // sequences side by side in memory
  std::int64_t across;   // blocks for them
};

class TileScan {
 public:
  TileScan(const Instance& instance, const Laid& laid)
      : m_region(laid.region),
        m_isBackwards(laid.way == Way::Backwards),
        m_tiles(instance),
        m_instance{instance.pattern, laid.region, instance.parameters, instance.device, instance.model},
        m_writer(m_instance, Dialect::of(domain::Language::CudaCpp),
                 {"column", "plane", "first", "position", "own", "start", "carry", "lane", "warp", "of_warps", "all",
                  "earlier", "turn", "u", "v", "w", "c"}),
        m_code(m_writer.code()),
        m_elements(m_writer, m_region, m_tiles.width),
        m_registers{m_tiles.items, m_tiles.width},
        m_join(m_writer.dialect(), scanOf(m_region).kind,
               m_region.prims[static_cast<std::size_t>(scanOf(m_region).input)].type),
        m_length(scanLength(m_region)),
        m_read(scannedLoads(m_region, m_tiles.width)),
        m_stored(storedLoads(m_region, m_tiles.width)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format(
        "Sequences of {}, of which {} neighbours are a block's{}: {} positions at a time, each warp takes {} after "
        "each "
        "other, the warps find out what came before theirs, and what came before the tile is carried.",
        m_length, kWarp * m_tiles.width, m_isBackwards ? ", from the end" : "", m_tiles.positions(), m_tiles.items));
    openCudaKernel(m_writer, entry, m_tiles.warps * kWarp);
    place();
    std::vector<int> shared = sharedLoads(m_region);
    std::erase_if(shared, [this](int load) {
      const int operand = m_region.prims[static_cast<std::size_t>(load)].operand;
      return m_region.operands[static_cast<std::size_t>(operand)].walksAlong(m_region.axes.size() - 1);
    });
    m_writer.compute(shared);
    forLanes([&] { m_code.line("{} = {};", lane("carry"), m_join.neutral()); }, "carry");
    m_elements.declare(allLoads(), m_tiles.items);
    openTiles();
    load();
    scanOwn();
    scanBlock();
    store();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string lane(const std::string& name) const { return m_tiles.width > 1 ? name + "[c]" : name; }
  [[nodiscard]] std::string own(const std::string& item) const { return m_registers.at("own", item, "c"); }

  // A loop over the neighbouring sequences of a thread, after the declaration of a number for each.
  void forLanes(const std::function<void()>& body, const std::string& declared = "") {
    if (!declared.empty()) {
      m_code.line("{} {}{};", m_join.type(), declared, m_tiles.width > 1 ? fmt::format("[{}]", m_tiles.width) : "");
    }
    if (m_tiles.width > 1) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.width);
    }
    body();
    if (m_tiles.width > 1) {
      m_code.close();
    }
  }

  // Threads past the last column make the results of others once more, which are the same.
  void place() {
    m_code.line("__shared__ {} of_warps[2][{}][{}];", m_join.type(), m_tiles.warps, kWarp * m_tiles.width);
    m_code.line("int turn = 0;");
    m_code.line("const int lane = int(threadIdx.x % 32){};",
                m_tiles.width > 1 ? fmt::format(" * {}", m_tiles.width) : "");
    m_code.line("const int warp = {}int(threadIdx.x / 32);",
                m_isBackwards ? fmt::format("{} - ", m_tiles.warps - 1) : "");
    const std::string block = m_tiles.across > 1 ? fmt::format("int(blockIdx.x % {})", m_tiles.across) : "";
    const std::string at = block.empty() ? "lane" : fmt::format("{} * {} + lane", block, kWarp * m_tiles.width);
    const bool isWhole = m_tiles.columns % (kWarp * m_tiles.width) == 0;
    m_code.line("const int column = {};",
                isWhole ? at : fmt::format("min({}, {})", at, m_tiles.columns - m_tiles.width));
    std::vector<std::size_t> planes = axesOf(m_region, AxisRole::Batch);
    planes.pop_back();
    if (!planes.empty()) {
      m_code.line("const {} plane = blockIdx.x{};", m_writer.index(),
                  m_tiles.across > 1 ? fmt::format(" / {}", m_tiles.across) : "");
      m_writer.decode("plane", planes);
    }
    m_writer.bindAxis(m_region.axes.size() - 1, "column");
  }

  [[nodiscard]] std::vector<int> allLoads() const {
    std::vector<int> all = m_read;
    std::copy_if(m_stored.begin(), m_stored.end(), std::back_inserter(all),
                 [&](int load) { return std::find(m_read.begin(), m_read.end(), load) == m_read.end(); });
    return all;
  }

  [[nodiscard]] bool isWhole() const { return m_length % m_tiles.positions() == 0; }

  void openTiles() {
    const std::int64_t step = m_tiles.positions();
    if (m_isBackwards) {
      m_code.open("for (int first = {}; first >= 0; first -= {})", (m_length - 1) / step * step, step);
    } else {
      m_code.open("for (int first = 0; first < {}; first += {})", m_length, step);
    }
  }

  void openItems() {
    m_outside = m_writer.scope();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int u = 0; u < {}; ++u)", m_tiles.items);
    m_code.line("const int position = first + int(threadIdx.x / 32) * {} + u;", m_tiles.items);
    m_writer.bindAxis(scanAxis(m_region), "position");
    if (!isWhole()) {
      m_code.open("if (position < {})", m_length);
    }
  }
  void closeItems() {
    if (!isWhole()) {
      m_code.close();
    }
    m_code.close();
    m_writer.leave(m_outside);
  }

  void load() {
    if (!m_read.empty()) {
      openItems();
      m_elements.load(m_read, "[u]", Caching::Leave);
      closeItems();
    }
  }

  void scanOwn() {
    m_code.line("{} {};", m_join.type(), m_registers.declared("own"));
    if (!isWhole()) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int u = 0; u < {}; ++u)", m_tiles.items);
      forLanes([&] { m_code.line("{} = {};", own("u"), m_join.neutral()); });
      m_code.close();
    }
    openItems();
    m_elements.openLanes(m_read, "[u]");
    const int input = scanOf(m_region).input;
    m_writer.compute({input});
    m_code.line("{} = {};", m_registers.at("own", "u", "v"), m_writer.value(input).text);
    m_elements.closeLanes();
    closeItems();
    m_code.pragma("#pragma unroll");
    m_code.open("{}", m_isBackwards ? fmt::format("for (int u = {}; u >= 0; --u)", m_tiles.items - 2)
                                    : fmt::format("for (int u = 1; u < {}; ++u)", m_tiles.items));
    forLanes([&] { m_code.line("{} = {};", own("u"), m_join(own(m_isBackwards ? "u + 1" : "u - 1"), own("u"))); });
    m_code.close();
  }

  // What the warps before this one found, and all of them. Two arrays in turn need one barrier a tile.
  void scanBlock() {
    const std::string last = std::to_string(m_isBackwards ? 0 : m_tiles.items - 1);
    const std::string column = m_tiles.width > 1 ? "lane + c" : "lane";
    forLanes([&] { m_code.line("of_warps[turn][warp][{}] = {};", column, own(last)); });
    m_code.line("__syncthreads();");
    forLanes(
        [&] {
          m_code.line("{} all = {};", m_join.type(), m_join.neutral());
          m_code.line("{} earlier = {};  // warps", m_join.type(), m_join.neutral());
          m_code.pragma("#pragma unroll");
          m_code.open("for (int w = 0; w < {}; ++w)", m_tiles.warps);
          m_code.line("earlier = w == warp ? all : earlier;");
          m_code.line("all = {};", m_join("all", fmt::format("of_warps[turn][w][{}]", column)));
          m_code.close();
          m_code.line("{} = {};", lane("start"), m_join(lane("carry"), "earlier"));
          m_code.line("{} = {};", lane("carry"), m_join(lane("carry"), "all"));
        },
        "start");
    m_code.line("turn ^= 1;");
  }

  void store() {
    openItems();
    std::vector<int> more;
    std::copy_if(m_stored.begin(), m_stored.end(), std::back_inserter(more),
                 [&](int load) { return std::find(m_read.begin(), m_read.end(), load) == m_read.end(); });
    m_elements.load(more, "[u]", Caching::Leave);
    const std::string start = m_tiles.width > 1 ? "start[v]" : "start";
    bindRunning(m_writer, m_region, fmt::format("({})", m_join(start, m_registers.at("own", "u", "v"))));
    m_elements.evaluate(m_stored, "[u]", Caching::Leave);
    closeItems();
  }

  const Region& m_region;
  bool m_isBackwards;
  ColumnShares m_tiles;
  Instance m_instance;
  KernelWriter m_writer;
  Code& m_code;
  Elements m_elements;
  Registers m_registers;
  Joining m_join;
  std::int64_t m_length;
  std::vector<int> m_read;    // what is scanned is made of these
  std::vector<int> m_stored;  // and what is stored, of these
  KernelWriter::Scope m_outside;
};

class ScanTiles final : public Strategy {
 public:
  ScanTiles() : Strategy(domain::Language::CudaCpp, "scan_tiles") {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({1024, 4096}, 0); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isScan(region) && scanAxis(region) + 1 < region.axes.size();
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(instance.value("threads", kWarp));
    launch.step.grid.x = narrow(blocksOf(instance));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Laid laid = laidOut(instance.region);
    return TileScan(instance, laid).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const ColumnShares tiles(instance);
    const std::int64_t length = scanLength(instance.region);
    const auto share = [](std::int64_t used, std::int64_t all) {
      return static_cast<double>(all) / static_cast<double>(used);
    };
    Stream stream;
    stream.blocks = blocksOf(instance);
    stream.threads = tiles.warps * kWarp;
    stream.registers = 30 + 5 * tiles.items * tiles.width / 2;
    stream.bytes = tiles.items * tiles.width * 4;
    // Rows of a warp that are shorter than what memory gives at once, and positions past the end.
    const double wasted =
        std::max(1.0, 32.0 / (static_cast<double>(std::min(tiles.columns, kWarp * tiles.width)) * 4)) *
        (0.7 + 0.3 * share(length, divideUp(length, tiles.positions()) * tiles.positions())) *
        (0.9 + 0.1 * share(tiles.columns, tiles.across * kWarp * tiles.width));
    stream.moved = bytesMoved(instance.region) * wasted;
    return secondsOfStream(instance.device, stream);
  }

 private:
  static std::int64_t blocksOf(const Instance& instance) {
    const ColumnShares tiles(instance);
    return sequencesOf(instance.region) / tiles.columns * tiles.across;
  }

  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const ColumnShares tiles(instance);
    const Laid laid = laidOut(instance.region);
    if (blocksOf(instance) > kMaxGrid || scanLength(instance.region) > kLongestSequence ||
        tiles.columns > kLongestSequence) {
      return unfit("there are more sequences than threads of a grid, or they are too long");
    }
    if (!allowsVectors(laid.region, tiles.width)) {
      return unfit("the innermost axis cannot be read in vectors this wide");
    }
    if (tiles.warps > 1 && tiles.positions() >= 2 * scanLength(instance.region)) {
      return unfit("most warps would find nothing to do");
    }
    if (tiles.width > 1 && kWarp * tiles.width >= 2 * tiles.columns) {
      return unfit("most lanes would find nothing to do");
    }
    if (tiles.items * tiles.width > 32) {
      return unfit("a thread has not so many registers");
    }
    const std::int64_t element =
        instance.region.prims[static_cast<std::size_t>(scanOf(instance.region).input)].type == Compute::F32 ? 4 : 8;
    if (2 * tiles.warps * kWarp * tiles.width * element > (48 << 10)) {
      return unfit("the block has not so much shared memory");
    }
    return {};
  }
};

}  // namespace

void addScanTiles(StrategyTable& table) {
  table.add(std::make_unique<ScanTiles>());
}

}  // namespace swage::synth::cuda
