// SPDX-License-Identifier: Apache-2.0
// Attention on tensor cores by mma.sync (compute capability 8.0 and later). A block has a tile of queries and goes
// along the keys; scores, their exponentials and the sums stay in registers (Dao, FlashAttention-2, 2023). While scores
// are made, the values of the same keys are on their way into shared memory, and while sums are made, the next keys.
//
// Floats are two halves each, with a power of two for each query, key and column of values as scale; exponentials are
// in [0, 1] and need none but 2^14. Sums of a step are made by tensor cores, which cut off low bits, and added to those
// in float that the exponentials of later steps scale anyway.
//
// The least that can be: 4 * queries * keys * (depth + columns) / 2 operations, times three for floats, at the rate of
// mma.sync; memory is read once for a block of queries, mostly from the second-level cache. Heads of more than 256 have
// no room in registers: there the scores of a product of its own (rule "attention as products") are cheaper to write
// than to make again for every part of the columns.
#include "core/synth/strategies/attention_mma.h"

#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/product_mma.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kLeastCapability = 80;
constexpr std::int64_t kThreadRegisters = 255;
constexpr std::int64_t kBlockRegisters = 65536;
constexpr std::int64_t kMostColumns = 256;
constexpr std::int64_t kPassLines = 32;  // that a block of a pass may have
constexpr std::int64_t kMmaDepth = 16;   // of the depth, of one instruction

std::int64_t wholeOf(std::int64_t count, std::int64_t multiple) {
  return divideUp(count, multiple) * multiple;
}

// The last element of it, in elements from the first.
std::int64_t reachOf(const Region& region, const Operand& operand) {
  std::int64_t reach = operand.offset;
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    reach += (region.axes[axis].extent - 1) * operand.strides[axis];
  }
  return reach;
}

// Of the axes that number independent results, those along which the operand has elements of its own.
std::vector<std::size_t> walkedAxes(const Region& region, int prim, const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> walked;
  for (const std::size_t axis : axes) {
    if (walksAlongAny(region, prim, {axis})) {
      walked.push_back(axis);
    }
  }
  return walked;
}

ProductShape firstProduct(const Region& region, const AttentionShape& shape, int prim) {
  ProductShape product;
  product.batch = walkedAxes(region, prim, shape.batch);
  product.rows = shape.rows;
  product.columns = shape.keys;
  product.depth = shape.depth;
  product.left = shape.query;
  product.right = shape.key;
  product.batchCount = positions(region, product.batch);
  product.rowCount = shape.rowCount;
  product.columnCount = shape.keyCount;
  product.depthCount = shape.depthCount;
  return product;
}

ProductShape secondProduct(const Region& region, const AttentionShape& shape) {
  ProductShape product;
  product.batch = walkedAxes(region, shape.value, shape.batch);
  product.columns = shape.columns;
  product.depth = shape.keys;
  product.right = shape.value;
  product.batchCount = positions(region, product.batch);
  product.columnCount = shape.columnCount;
  product.depthCount = shape.keyCount;
  return product;
}

// Halves as they are, or floats as two of them whose sum they are.
PartFormat formatOf(const Region& region, int prim, const AttentionTiles& tiles) {
  if (tiles.isSplit()) {
    return {domain::ScalarType::Float16, 2, 0, true};
  }
  return {shortOperand(region, prim)->dtype, 1, 0, false};
}

void findWay(const Region& region, const AttentionTiles& tiles, AttentionSource& source,
             const std::vector<std::size_t>& neighbours, OperandParts::Padding padding,
             OperandParts::Neighbours order) {
  const Operand* operand = shortOperand(region, source.prim);
  if (!tiles.isSplit() && operand != nullptr && hasPieces(region, *operand, neighbours)) {
    source.operand = operand;
  } else {
    source.parts.emplace(region, source.shape, source.side, formatOf(region, source.prim, tiles), padding, order);
  }
}

class AttentionMma final : public Strategy {
 public:
  AttentionMma() : Strategy(domain::Language::CudaCpp, "attention_mma") {}

  [[nodiscard]] Example example() const override { return examples::attention(domain::ScalarType::Float32); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    const auto shape = attentionShape(region);
    return shape && shape->columnCount <= kMostColumns && shape->depthCount <= kMostColumns &&
           region.prims[static_cast<std::size_t>(shape->products)].type == Compute::F32;
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const AttentionShape shape = *attentionShape(instance.region);
    const AttentionTiles tiles(instance, shape);
    const AttentionSources sources(instance.region, shape, tiles);
    std::vector<domain::KernelStep> steps;
    Launch launch;
    for (const AttentionSource* source : {&sources.query, &sources.key, &sources.value}) {
      if (source->parts) {
        steps.push_back(source->parts->step(fmt::format("{}_{}", entry, source->name)));
        for (domain::TensorType& buffer : source->parts->scratch()) {
          launch.scratch.push_back(std::move(buffer));
        }
      }
    }
    domain::KernelStep step;
    step.entry = entry;
    step.block.x = static_cast<std::uint32_t>(tiles.threads());
    step.grid.x = static_cast<std::uint32_t>(attentionBlocks(shape, tiles));
    step.dynamicSharedBytes = static_cast<std::uint32_t>(tiles.sharedBytes());
    steps.push_back(std::move(step));
    launch.step = std::move(steps.front());
    launch.more.assign(steps.begin() + 1, steps.end());
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return writeAttention(instance, launch);
  }

  [[nodiscard]] domain::Cell aims(const Instance& instance) const override {
    const AttentionShape shape = *attentionShape(instance.region);
    const AttentionTiles tiles(instance, shape);
    const AttentionSources sources(instance.region, shape, tiles);
    const bool hasPass = sources.query.parts || sources.key.parts || sources.value.parts;
    return {domain::DataMovement::Pipelined, domain::Arithmetic::TensorCore,
            hasPass ? domain::Decomposition::SeveralLaunches : domain::Decomposition::OneLaunch};
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Region& region = instance.region;
    const AttentionShape shape = *attentionShape(region);
    const AttentionTiles tiles(instance, shape);
    if (instance.device.computeCapability < kLeastCapability) {
      return unfit("the device copies nothing past its registers, or has no tensor cores for it");
    }
    SWAGE_TRY(fitsNumbers(region, shape, tiles));
    if (tiles.rows % tiles.warpRows != 0 || tiles.threads() < 64 || tiles.threads() > 512) {
      return unfit("a block has 2 to 16 warps");
    }
    if (tiles.registers() > std::min(kThreadRegisters, kBlockRegisters / (tiles.threads() * tiles.blocks))) {
      return unfit("the sums of a thread do not fit into its registers");
    }
    // The system takes 1 KiB of each block.
    const std::int64_t shared = tiles.sharedBytes() + 4 * (tiles.keys + tiles.rows);
    if (shared > instance.device.sharedBytesPerBlock ||
        tiles.blocks * (shared + 1024) > instance.device.sharedBytesPerBlock + 1024) {
      return unfit("the tiles do not fit into shared memory");
    }
    if ((tiles.rows > 64 && tiles.rows >= 2 * shape.rowCount) ||
        (tiles.keys > 32 && tiles.keys >= 2 * shape.keyCount)) {
      return unfit("half of the tile would be empty");
    }
    if (attentionBlocks(shape, tiles) > kMaxGrid || shape.keyCount + tiles.keys > kMaxGrid) {
      return unfit("there are more tiles than blocks of a grid");
    }
    if (std::any_of(region.operands.begin(), region.operands.end(),
                    [&](const Operand& operand) { return reachOf(region, operand) > kLargestInt; })) {
      return unfit("a tensor has more elements than its indices count");
    }
    return {};
  }

  [[nodiscard]] Result<> fitsNumbers(const Region& region, const AttentionShape& shape,
                                     const AttentionTiles& tiles) const {
    const Operand* query = shortOperand(region, shape.query);
    bool areShort = query != nullptr;
    for (const int side : {shape.key, shape.value}) {
      const Operand* operand = shortOperand(region, side);
      areShort = areShort && operand != nullptr && operand->dtype == query->dtype;
    }
    if (areShort == tiles.isSplit()) {
      return unfit(areShort ? "its operands need not be split" : "its operands are no halves of one type");
    }
    if (region.prims[static_cast<std::size_t>(shape.value)].type != Compute::F32) {
      return unfit("it multiplies numbers that have more bits than a float");
    }
    return {};
  }
};

std::optional<double> AttentionMma::estimate(const Instance& instance) const {
  constexpr double kReached = 0.7;        // of the rate of mma.sync
  constexpr double kIssued = 4.0;         // of warps, in a cycle
  constexpr double kPerScore = 7.0;       // instructions for 32 scores: largest, power, sum, shortened
  constexpr double kPerSplit = 6.0;       // more for two halves of each, and scales
  constexpr double kHmma = 2048.0;        // products of one instruction
  constexpr double kPowers = 16.0;        // of two, in a cycle
  constexpr double kPerResult = 8.0;      // instructions, from sums to memory
  constexpr std::int64_t kOther = 45;     // registers that the compiler takes beyond what must be, of floats
  constexpr std::int64_t kSpare = 90;     // and without which it puts some into memory,
  constexpr double kPressed = 1.15;       // which takes so many times as long
  constexpr double kFewWarps = 8.0;       // below which nothing hides the waits of one
  constexpr double kReachedByPass = 0.6;  // of the rate of memory
  constexpr double kNotHidden = 0.25;     // of what is done beside the longest of all
  constexpr double kStart = 3500.0;       // of halves: cycles of a tile before its first step and after its last
  constexpr double kLoads = 5.6 / 32.0;   // of halves: a load for one score
  const Region& region = instance.region;
  const AttentionShape shape = *attentionShape(region);
  const AttentionTiles tiles(instance, shape);
  const AttentionSources sources(region, shape, tiles);
  const DeviceRates device = DeviceRates::of(instance.device);
  const std::int64_t registers = std::min(kThreadRegisters, tiles.registers() + (tiles.isSplit() ? kOther : 0));
  const std::int64_t most = std::min(kThreadRegisters, kBlockRegisters / (tiles.threads() * tiles.blocks));
  const bool isPressed = tiles.isSplit() && tiles.registers() + kSpare > most;
  const std::int64_t atOnce =
      std::max(tiles.blocks, blocksAtOnce(device, tiles.threads(), registers, tiles.sharedBytes()));
  const auto warps = static_cast<double>(tiles.threads()) / 32.0;
  const auto scores = static_cast<double>(tiles.rows * tiles.keys);
  const auto width = static_cast<double>(tiles.depth + tiles.columns);
  const double pairs = tiles.isSplit() ? 3.0 : 1.0;
  const double adds = scores * width * pairs;
  const double hidden = std::min(1.0, static_cast<double>(atOnce) * warps / kFewWarps) * (atOnce == 1 ? 0.8 : 1.0);
  const double products = adds / std::max(device.each.halfAdds * kReached * hidden, 1.0);
  const double lines =
      static_cast<double>(tiles.keys) * width +
      (tiles.keepsQueries && !tiles.isSplit() ? 0.0 : static_cast<double>(tiles.warpRows * tiles.depth));
  const double reads = warps * lines * static_cast<double>(tiles.parts()) * 2.0 / device.each.sharedBytes;
  const double rescaled = static_cast<double>(tiles.rows * tiles.columns);
  const double issue =
      (adds / kHmma + scores / 32.0 * (kPerScore + (tiles.isSplit() ? kPerSplit : 0.0)) + rescaled / 32.0) / kIssued /
      hidden;
  const double copies =
      static_cast<double>(tiles.parts() * (tiles.keyBytes() + tiles.valueBytes())) / device.each.cacheBytes;
  // One at a time they would take their sum, and never less than the longest.
  const double powers = scores / kPowers;
  const double longest = std::max({products, reads, issue, copies, powers});
  const double loads = tiles.isSplit() ? 0.0 : kLoads * scores * static_cast<double>(loadsOfScore(region, shape));
  const double step = longest + kNotHidden * (products + reads + issue + copies + powers - longest) + loads;
  // Of a causal mask blocks take half of the keys on average.
  const double steps = static_cast<double>(divideUp(shape.keyCount, tiles.keys)) * (shape.isCausal ? 0.5 : 1.0) +
                       (shape.isCausal ? 0.5 : 0.0);
  BlockWork work;
  work.count = attentionBlocks(shape, tiles);
  work.cycles = steps * step * (isPressed ? kPressed : 1.0) + rescaled * kPerResult / device.each.floatAdds +
                (tiles.isSplit() ? 0.0 : kStart);
  work.bytes = static_cast<double>(tiles.rows * (tiles.depth + tiles.columns)) * 4.0;
  work.hidesMemory = atOnce > 1;
  work.isSharedEvenly = shape.isCausal;
  double seconds = device.launchSeconds + secondsOf(device, work);
  for (const AttentionSource* source : {&sources.query, &sources.key, &sources.value}) {
    if (source->parts) {
      const double bytes =
          1.5 * static_cast<double>(bytesOfElement(region, source->prim)) + 2.0 * static_cast<double>(tiles.parts());
      seconds += secondsOfPass(device, bytes * static_cast<double>(source->parts->planeElements()), kReachedByPass);
    }
  }
  return seconds;
}

}  // namespace

AttentionTiles::AttentionTiles(const Instance& instance, const AttentionShape& shape)
    : mode(static_cast<ProductMode>(instance.value("mode"))),
      rows(instance.value("tile_rows", 64)),
      warpRows(instance.value("warp_rows", 16)),
      keys(instance.value("tile_keys", 32)),
      blocks(instance.value("blocks_per_multiprocessor", 1)),
      keepsQueries(instance.value("keep") != 0),
      depth(wholeOf(shape.depthCount, kMmaDepth)),
      columns(wholeOf(shape.columnCount, kMmaDepth)) {}

std::int64_t AttentionTiles::registers() const {
  constexpr std::int64_t kOther = 20;  // addresses, counters
  const std::int64_t rowBlocks = warpRows / 16;
  const std::int64_t sums = warpRows * columns / 32;
  const std::int64_t scores = warpRows * keys / 32;
  const std::int64_t kept = keepsQueries ? parts() * warpRows * depth / 64 : 0;
  const std::int64_t inScores = scores + parts() * 4 + (keepsQueries ? 0 : parts() * rowBlocks * 4);
  const std::int64_t inSums = parts() * scores / 2 + parts() * 4 + (isSplit() ? rowBlocks * 16 : 0);
  return sums + kept + std::max(inScores, inSums) + rowBlocks * 6 + kOther;
}

AttentionSources::AttentionSources(const Region& region, const AttentionShape& shape, const AttentionTiles& tiles)
    : query{"queries", firstProduct(region, shape, shape.query), OperandParts::Side::Left, shape.query, nullptr, {}},
      key{"keys", firstProduct(region, shape, shape.key), OperandParts::Side::Right, shape.key, nullptr, {}},
      value{"values", secondProduct(region, shape), OperandParts::Side::Right, shape.value, nullptr, {}} {
  using Neighbours = OperandParts::Neighbours;
  if (!tiles.isSplit()) {
    findWay(region, tiles, query, shape.depth, {tiles.rows, kMmaDepth}, Neighbours::AlongDepth);
  }
  findWay(region, tiles, key, shape.depth, {tiles.keys, kMmaDepth}, Neighbours::AlongDepth);
  findWay(region, tiles, value, shape.columns, {kPassLines, tiles.keys}, Neighbours::AlongLines);
}

std::int64_t attentionBlocks(const AttentionShape& shape, const AttentionTiles& tiles) {
  return divideUp(shape.rowCount, tiles.rows) * shape.batchCount;
}

void addAttentionMma(StrategyTable& table) {
  table.add(std::make_unique<AttentionMma>());
}

}  // namespace swage::synth
