// SPDX-License-Identifier: Apache-2.0
// Scans along the innermost axis: a block, or a warp, goes along one sequence in vectors; or blocks side by side take
// its tiles and tell each other what they found.
#include <algorithm>
#include <iterator>

#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/scan.h"
#include "core/synth/strategies/streaming.h"

namespace swage::synth::cuda {
namespace {

constexpr std::string_view kChainId = "scan_chain";
constexpr std::int64_t kBeside = 4;      // sequences of a block whose warps go alone
constexpr std::int64_t kManyWarps = 16;  // of which one scans what they found
constexpr std::int64_t kChain = 32;  // tiles whose blocks read what each of them found, but one number of all before

// How a sequence is shared out.
struct Shares {
  explicit Shares(const Instance& instance)
      : warps(instance.value("threads", kWarp) / kWarp),
        items(instance.value("items", 1)),
        width(instance.value("vector_width", 1)),
        isAhead(instance.value("ahead") != 0),
        isChained(instance.pattern.id == kChainId),
        tiles(isChained ? divideUp(scanLength(instance.region), tile()) : 1) {}

  [[nodiscard]] std::int64_t beside() const { return warps == 1 ? kBeside : 1; }
  [[nodiscard]] std::int64_t threads() const { return warps * beside() * kWarp; }
  [[nodiscard]] std::int64_t step() const { return kWarp * width; }
  [[nodiscard]] std::int64_t tile() const { return warps * items * step(); }
  // Of a thread, by what the compiler took.
  [[nodiscard]] std::int64_t registers() const { return 24 + items * width * (isAhead ? 3 : 2); }

  std::int64_t warps;
  std::int64_t items;
  std::int64_t width;
  bool isAhead;
  bool isChained;
  std::int64_t tiles;  // of a sequence, of which each is a block's
};

// Writes one kernel. `laid` outlives it.
class RowScan {
 public:
  RowScan(const Instance& instance, const Laid& laid)
      : m_region(laid.region),
        m_isBackwards(laid.way == Way::Backwards),
        m_shares(instance),
        m_instance{instance.pattern, laid.region, instance.parameters, instance.device, instance.model},
        m_writer(m_instance, Dialect::of(domain::Language::CudaCpp),
                 {"sequence", "first",    "position", "own",     "within",  "base",   "start",   "carry", "lane",
                  "warp",     "of_warps", "all",      "earlier", "through", "before", "running", "other", "turn",
                  "u",        "v",        "d",        "w",       "at",      "tile",   "near",    "parts", "of_chain"}),
        m_code(m_writer.code()),
        m_elements(m_writer, m_region, m_shares.width),
        m_registers{m_shares.items, m_shares.width},
        m_join(m_writer.dialect(), scanOf(m_region).kind,
               m_region.prims[static_cast<std::size_t>(scanOf(m_region).input)].type),
        m_length(scanLength(m_region)),
        m_read(scannedLoads(m_region, m_shares.width)),
        m_stored(storedLoads(m_region, m_shares.width)) {}

  KernelText run(const std::string& entry) {
    comment();
    openCudaKernel(m_writer, entry, m_shares.threads(), "",
                   m_shares.isChained ? "unsigned long long* __restrict__ parts" : "");
    place();
    m_writer.compute(sharedLoads(m_region));
    m_elements.declare(allLoads(), m_shares.items);
    if (m_shares.isChained) {
      load(m_read);
      scanWarp();
      scanBlock();
      chain();
      store();
    } else {
      goAlong();
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void goAlong() {
    m_code.line("{} carry = {};", m_join.type(), m_join.neutral());
    openTiles();
    if (!m_shares.isAhead) {
      load(m_read);
    }
    scanWarp();
    if (m_shares.isAhead) {
      loadNext();
    }
    scanBlock();
    m_code.line("const {} start = {};", m_join.type(), m_shares.warps > 1 ? m_join("carry", "earlier") : "carry");
    store();
    m_code.line("carry = {};", m_join("carry", m_shares.warps > 1 ? "all" : "running"));
    m_code.close();
  }

  void comment() {
    const std::string who = m_shares.warps == 1  ? "A warp goes"
                            : m_shares.isChained ? fmt::format("{} blocks go", m_shares.tiles)
                                                 : fmt::format("{} threads go", m_shares.threads());
    m_code.comment(fmt::format(
        "{} along each of {} sequences of {}{}, {} positions at a time: a thread scans {} neighbours, {} of them its "
        "warp after each other{}, and what came before is {}.",
        who, sequencesOf(m_region), m_length, m_isBackwards ? " from the end" : "", m_shares.tile(), m_shares.width,
        m_shares.items, m_shares.warps > 1 ? ", and the block what its warps found" : "",
        m_shares.isChained ? "read from where the blocks before left it" : "carried"));
  }

  void place() {
    const std::string_view index = m_writer.index();
    const char* thread = m_shares.warps > 1 ? "int(threadIdx.x)" : "int(threadIdx.x % 32)";
    if (m_shares.warps > 1) {
      m_code.line("__shared__ {} of_warps[2][{}];", m_join.type(), m_shares.warps);
      m_code.line("int turn = 0;");
      m_code.line("const {} sequence = blockIdx.x{};", index,
                  m_shares.isChained ? fmt::format(" / {}", m_shares.tiles) : "");
    } else {
      m_code.line("const {0} sequence = ({0})(blockIdx.x) * {1} + ({0})(threadIdx.x / 32);", index, m_shares.beside());
      if (sequencesOf(m_region) % m_shares.beside() != 0) {
        m_code.open("if (sequence >= {})", sequencesOf(m_region));
        m_code.line("return;");
        m_code.close();
      }
    }
    if (const std::vector<std::size_t> batch = axesOf(m_region, AxisRole::Batch); !batch.empty()) {
      m_writer.decode("sequence", batch);
    }
    // In the order of the sequence, whichever way it lies in memory.
    m_code.line("const int lane = {}int(threadIdx.x % 32);", m_isBackwards ? "31 - " : "");
    if (m_shares.warps > 1) {
      m_code.line("const int warp = {}int(threadIdx.x / 32);",
                  m_isBackwards ? fmt::format("{} - ", m_shares.warps - 1) : "");
    }
    if (m_shares.isChained) {
      m_code.line("const int tile = int(blockIdx.x % {});", m_shares.tiles);
      m_code.line("const int first = {} * {};", m_isBackwards ? fmt::format("({} - tile)", m_shares.tiles - 1) : "tile",
                  m_shares.tile());
    }
    m_code.line("const int at = ({0} / 32 * {1} + {0} % 32){2};", thread, m_shares.items * kWarp,
                m_shares.width > 1 ? fmt::format(" * {}", m_shares.width) : "");
  }

  [[nodiscard]] std::vector<int> allLoads() const {
    std::vector<int> all = m_read;
    std::copy_if(m_stored.begin(), m_stored.end(), std::back_inserter(all),
                 [&](int load) { return std::find(m_read.begin(), m_read.end(), load) == m_read.end(); });
    return all;
  }

  [[nodiscard]] std::int64_t lastTile() const { return (m_length - 1) / m_shares.tile() * m_shares.tile(); }

  void openTiles() {
    if (m_shares.isAhead) {
      m_code.line("int first = {};", m_isBackwards ? lastTile() : 0);
      load(m_read);
    }
    const char* declared = m_shares.isAhead ? "" : "int first = ";
    if (m_isBackwards) {
      m_code.open("for ({}{}; first >= 0; first -= {})", declared, m_shares.isAhead ? "" : std::to_string(lastTile()),
                  m_shares.tile());
    } else {
      m_code.open("for ({}{}; first < {}; first += {})", declared, m_shares.isAhead ? "" : "0", m_length,
                  m_shares.tile());
    }
  }

  // Opens a loop over the vectors of a thread, and the part of it for those that there are; `shift` leads to the tile.
  void openItems(const std::string& shift = "") {
    m_outside = m_writer.scope();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int u = 0; u < {}; ++u)", m_shares.items);
    m_code.line("const int position = first{} + at + u * {};", shift, m_shares.step());
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
  [[nodiscard]] bool isWhole() const { return m_length % m_shares.tile() == 0; }

  void load(const std::vector<int>& loads, const std::string& shift = "") {
    if (loads.empty()) {
      return;
    }
    openItems(shift);
    m_elements.load(loads, "[u]", Caching::Leave);
    closeItems();
  }

  // While the block finds out where this tile starts, the next is on its way.
  void loadNext() {
    const std::string shift = fmt::format(" {} {}", m_isBackwards ? "-" : "+", m_shares.tile());
    m_code.open("if (first{} {})", shift, m_isBackwards ? ">= 0" : fmt::format("< {}", m_length));
    load(m_read, shift);
    m_code.close();
  }

  [[nodiscard]] std::string own(const std::string& lane) const { return m_registers.at("own", "u", lane); }
  [[nodiscard]] std::string lastLane() const { return std::to_string(m_isBackwards ? 0 : m_shares.width - 1); }

  // What is scanned, in registers.
  void evaluateInputs() {
    m_code.line("{} {};", m_join.type(), m_registers.declared("own"));
    if (!isWhole()) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int u = 0; u < {}; ++u)", m_shares.items);
      for (std::int64_t lane = 0; lane < m_shares.width; ++lane) {
        m_code.line("{} = {};", own(std::to_string(lane)), m_join.neutral());
      }
      m_code.close();
    }
    openItems();
    m_elements.openLanes(m_read, "[u]");
    const int input = scanOf(m_region).input;
    m_writer.compute({input});
    m_code.line("{} = {};", own("v"), m_writer.value(input).text);
    m_elements.closeLanes();
    closeItems();
  }

  void scanWarp() {
    evaluateInputs();
    m_code.line("{} within[{}];  // before the vector of this thread", m_join.type(), m_shares.items);
    m_code.line("{} running = {};", m_join.type(), m_join.neutral());
    m_code.pragma("#pragma unroll");
    if (m_isBackwards) {
      m_code.open("for (int u = {}; u >= 0; --u)", m_shares.items - 1);
    } else {
      m_code.open("for (int u = 0; u < {}; ++u)", m_shares.items);
    }
    if (m_shares.width > 1) {
      m_code.pragma("#pragma unroll");
      m_code.open("{}", m_isBackwards ? fmt::format("for (int v = {}; v >= 0; --v)", m_shares.width - 2)
                                      : fmt::format("for (int v = 1; v < {}; ++v)", m_shares.width));
      m_code.line("{} = {};", own("v"), m_join(own(m_isBackwards ? "v + 1" : "v - 1"), own("v")));
      m_code.close();
    }
    m_code.line("{} through = {};  // from the first lane to this one", m_join.type(), own(lastLane()));
    scanLanes(m_isBackwards ? "down" : "up", "lane");
    m_code.line("const {} before = __shfl_{}_sync(0xffffffffu, through, 1);", m_join.type(),
                m_isBackwards ? "down" : "up");
    m_code.line("within[u] = lane == 0 ? running : {};", m_join("running", "before"));
    m_code.line("running = {};",
                m_join("running", fmt::format("__shfl_sync(0xffffffffu, through, {})", m_isBackwards ? 0 : 31)));
    m_code.close();
  }

  void scanLanes(std::string_view way, std::string_view lane) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int d = 1; d < 32; d *= 2)");
    m_code.line("const {} other = __shfl_{}_sync(0xffffffffu, through, d);", m_join.type(), way);
    m_code.line("through = {} >= d ? {} : through;", lane, m_join("other", "through"));
    m_code.close();
  }

  // What the warps before this one found, and all of them. Two arrays in turn need one barrier a tile.
  void scanBlock() {
    if (m_shares.warps == 1) {
      return;
    }
    m_code.open("if (lane == 0)");
    m_code.line("of_warps[turn][warp] = running;");
    m_code.close();
    m_code.line("__syncthreads();");
    if (m_shares.warps >= kManyWarps) {
      const std::string found = "of_warps[turn][threadIdx.x % 32]";
      m_code.line("{} through = {};", m_join.type(),
                  m_shares.warps == kWarp
                      ? found
                      : fmt::format("threadIdx.x % 32 < {} ? {} : {}", m_shares.warps, found, m_join.neutral()));
      scanLanes("up", "int(threadIdx.x % 32)");
      m_code.line("const {} all = __shfl_sync(0xffffffffu, through, {});", m_join.type(), m_shares.warps - 1);
      m_code.line("const {} before = __shfl_sync(0xffffffffu, through, warp > 0 ? warp - 1 : 0);", m_join.type());
      m_code.line("const {} earlier = warp > 0 ? before : {};  // warps", m_join.type(), m_join.neutral());
    } else {
      m_code.line("{} all = {};", m_join.type(), m_join.neutral());
      m_code.line("{} earlier = {};  // warps", m_join.type(), m_join.neutral());
      m_code.pragma("#pragma unroll");
      m_code.open("for (int w = 0; w < {}; ++w)", m_shares.warps);
      m_code.line("earlier = w == warp ? all : earlier;");
      m_code.line("all = {};", m_join("all", "of_warps[turn][w]"));
      m_code.close();
    }
    m_code.line("turn ^= 1;");
  }

  // Each block leaves what it found, and the last of some also what all up to it found. Always joined in the same
  // order, so that every call has the same result. Blocks begin in their order, so that those waited for have begun.
  void chain() {
    const std::int64_t groups = divideUp(m_shares.tiles, kChain);
    m_code.line("__shared__ {} of_chain;", m_join.type());
    m_code.line("parts += sequence * {};", m_shares.tiles + groups);
    m_code.open("if (threadIdx.x < 32)");
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("publishPart(&parts[tile], all);");
    m_code.close();
    m_code.line("const int near = tile / {0} * {0};", kChain);
    m_code.line("{} through = near + int(threadIdx.x) < tile ? awaitPart(&parts[near + threadIdx.x]) : {};",
                m_join.type(), m_join.neutral());
    scanLanes("up", "int(threadIdx.x)");
    m_code.line("{} before = __shfl_sync(0xffffffffu, through, 31);", m_join.type());
    m_code.open("if (near > 0)");
    m_code.line("before = {};",
                m_join(fmt::format("awaitPart(&parts[{} + near / {} - 1])", m_shares.tiles, kChain), "before"));
    m_code.close();
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("of_chain = before;");
    m_code.open("if (tile % {0} == {1})", kChain, kChain - 1);
    m_code.line("publishPart(&parts[{} + near / {}], {});", m_shares.tiles, kChain, m_join("before", "all"));
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.line("const {} start = {};", m_join.type(), m_join("of_chain", "earlier"));
  }

  void store() {
    openItems();
    m_code.line("const {} base = {};", m_join.type(), m_join("start", "within[u]"));
    std::vector<int> more;
    std::copy_if(m_stored.begin(), m_stored.end(), std::back_inserter(more),
                 [&](int load) { return std::find(m_read.begin(), m_read.end(), load) == m_read.end(); });
    m_elements.load(more, "[u]", Caching::Leave);
    bindRunning(m_writer, m_region, fmt::format("({})", m_join("base", own("v"))));
    m_elements.evaluate(m_stored, "[u]", Caching::Leave);
    closeItems();
  }

  const Region& m_region;
  bool m_isBackwards;
  Shares m_shares;
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

class ScanRows : public Strategy {
 public:
  explicit ScanRows(std::string id = "scan") : Strategy(domain::Language::CudaCpp, std::move(id)) {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({1024, 4096}, 1); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isScan(region) && scanAxis(region) + 1 == region.axes.size();
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Shares shares(instance);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(shares.threads());
    launch.step.grid.x = narrow(divideUp(sequencesOf(instance.region), shares.beside()) * shares.tiles);
    if (shares.isChained) {
      const std::int64_t parts = shares.tiles + divideUp(shares.tiles, kChain);
      launch.scratch.push_back(
          domain::contiguousTensor(domain::ScalarType::Int64, {sequencesOf(instance.region) * parts}));
      launch.zeroScratch = true;
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Laid laid = laidOut(instance.region);
    return RowScan(instance, laid).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const Shares shares(instance);
    const std::int64_t length = scanLength(instance.region);
    const std::int64_t tiles = divideUp(length, shares.tile());
    const double wasted = static_cast<double>(tiles * shares.tile()) / static_cast<double>(length);
    Stream stream;
    stream.blocks = divideUp(sequencesOf(instance.region), shares.beside()) * shares.tiles;
    stream.threads = shares.threads();
    stream.registers = shares.registers();
    stream.bytes = shares.items * shares.width * (shares.isAhead ? 8 : 4);
    stream.moved = bytesMoved(instance.region) * (0.7 + 0.3 * wasted);
    constexpr double kHop = 1.5e-6;  // from one block to another, by way of memory
    constexpr double kMemset = 2.5e-6;
    const double waits = shares.isChained ? kMemset + kHop * static_cast<double>(divideUp(shares.tiles, kChain)) : 0.0;
    return secondsOfStream(instance.device, stream) + waits;
  }

 protected:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Shares shares(instance);
    const Laid laid = laidOut(instance.region);
    const std::int64_t length = scanLength(instance.region);
    if (divideUp(sequencesOf(instance.region), shares.beside()) > kMaxGrid / shares.tiles ||
        length > kLongestSequence) {
      return unfit("there are more sequences than blocks of a grid, or they are too long");
    }
    if (!allowsVectors(laid.region, shares.width)) {
      return unfit("the innermost axis cannot be read in vectors this wide");
    }
    if (shares.tile() >= 2 * length && shares.tile() > shares.step()) {
      return unfit("most threads would find nothing to do");
    }
    if (shares.items * shares.width > 32 || shares.registers() * shares.threads() > kRegistersPerMultiprocessor) {
      return unfit("a thread has not so many registers");
    }
    if (shares.isAhead && (length <= shares.tile() || readsTwice(laid.region, shares.width))) {
      return unfit("what is read ahead would take the place of what is still needed");
    }
    return {};
  }

 private:
  static bool readsTwice(const Region& region, std::int64_t width) {
    const std::vector<int> read = scannedLoads(region, width);
    const std::vector<int> stored = storedLoads(region, width);
    return std::any_of(read.begin(), read.end(),
                       [&](int load) { return std::find(stored.begin(), stored.end(), load) != stored.end(); });
  }
};

// Few long sequences: blocks side by side on each.
class ScanChain final : public ScanRows {
 public:
  ScanChain() : ScanRows(std::string(kChainId)) {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({4, 1048576}, 1); }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Region& region = instance.region;
    if (region.prims[static_cast<std::size_t>(scanOf(region).input)].type != Compute::F32) {
      return unfit("what a block found has to fit into half a word");
    }
    if (Shares(instance).tiles < 2) {
      return unfit("a sequence is a single tile");
    }
    return ScanRows::fits(instance);
  }
};

}  // namespace

void addScanRows(StrategyTable& table) {
  table.add(std::make_unique<ScanRows>());
  table.add(std::make_unique<ScanChain>());
}

}  // namespace swage::synth::cuda
