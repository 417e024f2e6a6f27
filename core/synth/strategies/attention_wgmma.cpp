// SPDX-License-Identifier: Apache-2.0
// Attention on the tensor cores of compute capability 9.0, of halves. As in attention_mma, scores, their exponentials
// and the sums stay in registers; but warp groups of 128 threads multiply (wgmma) what the copy engine (TMA) brings,
// and the tensor cores are kept busy while exponentials are made: a warp group adds the values of one step while it
// makes the exponentials of the next, and warp groups take turns (Shah et al., FlashAttention-3, 2024).
//
// The least that can be: 4 * queries * keys * (depth + columns) / 2 operations at the rate of wgmma, or an exponential
// for each score at 16 in a cycle, which is half as long for heads of 128 and as long for heads of 64. Blocks stay and
// make tile after tile, so that the first keys of one are brought while the results of the one before are stored.
#include "core/synth/strategies/attention_wgmma.h"

#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/product_mma.h"

namespace swage::synth {
namespace {

using domain::ScalarType;

constexpr std::int64_t kMostWidth = 256;     // numbers of a head
constexpr std::int64_t kAlignedNumbers = 8;  // halves in 16 bytes, of which all strides of a tensor map are multiples
constexpr std::size_t kMostBatchAxes = 3;    // a map has five dimensions
constexpr std::int64_t kStaticBytes = 256;   // barriers

domain::TensorMap attentionTensorMap(const Region& region, const AttentionMap& source, std::int64_t lines) {
  const Operand& operand = *source.operand;
  const auto extent = [&](std::size_t axis) { return region.axes[axis].extent; };
  domain::TensorMap map;
  map.buffer = operand.value;
  map.offset = operand.offset;
  map.element = domain::mapElement(operand.dtype);
  map.swizzle = domain::MapSwizzle::Bytes128;
  map.promotion = domain::MapPromotion::Bytes256;
  map.sizes = {extent(source.along), extent(source.line)};
  map.strides = {operand.strides[source.line] * 2};
  map.box = {64, lines};
  for (const std::size_t axis : source.batch) {
    map.sizes.push_back(extent(axis));
    map.strides.push_back(operand.strides[axis] * 2);
  }
  if (source.batch.empty()) {
    map.sizes.push_back(1);
    map.strides.push_back(map.strides[0] * map.sizes[1]);
  }
  map.box.resize(map.sizes.size(), 1);
  map.elementStrides.assign(map.sizes.size(), 1);
  return map;
}

// The loads below a prim of halves that lie key by key, so that eight can be read at once.
void collectPieces(const Region& region, const AttentionShape& shape, int prim, std::vector<int>& found) {
  const Prim& self = region.prims[asIndex(prim)];
  if (prim == shape.products) {
    return;
  }
  for (const int arg : self.args) {
    collectPieces(region, shape, arg, found);
  }
  const Operand* operand = shortOperand(region, prim);
  if (operand == nullptr || !operand->bounds.empty() || operand->offset % kAlignedNumbers != 0 ||
      std::find(found.begin(), found.end(), prim) != found.end()) {
    return;
  }
  for (std::size_t axis = 0; axis < operand->strides.size(); ++axis) {
    const std::int64_t stride = operand->strides[axis];
    if (axis == shape.keys[0] ? stride != 1 : stride < 0 || stride % kAlignedNumbers != 0) {
      return;
    }
  }
  found.push_back(prim);
}

// Of the keys and values of one head of the queries, which others may share.
double bytesOfHead(const Region& region, const AttentionShape& shape) {
  double own = 1.0;
  for (const std::size_t axis : shape.batch) {
    own *= walksAlongAny(region, shape.key, {axis}) ? 1.0 : 1.0 / static_cast<double>(region.axes[axis].extent);
  }
  return own * static_cast<double>(shape.keyCount * (shape.depthCount + shape.columnCount) * 2);
}

class AttentionWgmma final : public Strategy {
 public:
  AttentionWgmma() : Strategy(domain::Language::CudaCpp, "attention_wgmma") {}

  [[nodiscard]] Example example() const override { return examples::attention(domain::ScalarType::Float16); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    const auto shape = attentionShape(region);
    return shape && shape->columnCount <= kMostWidth && shape->depthCount <= kMostWidth && shape->rows.size() == 1 &&
           region.prims[static_cast<std::size_t>(shape->products)].type == Compute::F32;
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const AttentionShape shape = *attentionShape(instance.region);
    const WarpGroupTiles tiles(instance, shape);
    const AttentionSchedule schedule(instance, shape, tiles);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = static_cast<std::uint32_t>(tiles.threads());
    launch.step.grid.x = static_cast<std::uint32_t>(schedule.blocks);
    launch.step.dynamicSharedBytes = static_cast<std::uint32_t>(tiles.dynamicBytes());
    if (schedule.isTaken) {
      launch.scratch.push_back(domain::contiguousTensor(ScalarType::Int32, {1}));
      launch.zeroScratch = true;
    }
    for (const int prim : {shape.query, shape.key, shape.value}) {
      launch.maps.push_back({attentionTensorMap(instance.region, *attentionMap(instance.region, shape, prim),
                                                prim == shape.query ? tiles.rows() : tiles.keys)});
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeWarpGroupAttention(instance, launch, number);
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Pipelined, domain::Arithmetic::TensorCore, domain::Decomposition::OneLaunch};
  }

  // Only those take turns that have something to do meanwhile.
  void normalise(const Instance& instance, Parameters& parameters) const override {
    if (instance.value("overlap") == 0) {
      parameters["turns"] = 0;
    }
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Region& region = instance.region;
    const AttentionShape shape = *attentionShape(region);
    const WarpGroupTiles tiles(instance, shape);
    if (instance.device.computeCapability != 90) {
      return unfit("only devices of compute capability 9.0 have wgmma");
    }
    SWAGE_TRY(fitsOperands(region, shape));
    if (tiles.neededRegisters() > tiles.registers()) {
      return unfit("the sums of a thread do not fit into its registers");
    }
    if (tiles.dynamicBytes() + kStaticBytes > instance.device.sharedBytesPerBlock) {
      return unfit("the tiles do not fit into shared memory");
    }
    if (tiles.rows() >= 2 * shape.rowCount || (tiles.keys > 64 && tiles.keys >= 2 * shape.keyCount)) {
      return unfit("half of the tile would be empty");
    }
    const AttentionSchedule schedule(instance, shape, tiles);
    if (schedule.tiles + schedule.blocks > kLargestInt / 2 || shape.rowCount + tiles.rows() > kLargestInt ||
        shape.keyCount + tiles.keys > kLargestInt) {
      return unfit("there are more tiles than an int can number");
    }
    return {};
  }

  [[nodiscard]] Result<> fitsOperands(const Region& region, const AttentionShape& shape) const {
    const Operand* query = shortOperand(region, shape.query);
    for (const int prim : {shape.query, shape.key, shape.value}) {
      const Operand* operand = shortOperand(region, prim);
      if (operand == nullptr || operand->dtype != query->dtype) {
        return unfit("its operands are no halves of one type");
      }
      if (!attentionMap(region, shape, prim)) {
        return unfit("the copy engine cannot read an operand where it lies");
      }
    }
    return {};
  }
};

// Fitted to 78 kernels measured on an H100, of which the mean error is 6 %: products and exponentials hide each other
// in part, whatever the warp groups agree on; three hide more than two; each step has waits of its own.
double cyclesOfStep(const DeviceRates& device, const WarpGroupTiles& tiles) {
  constexpr double kProducts = 0.81;
  constexpr double kPowers = 0.95 / 16.0;  // cycles for one
  constexpr double kNotHidden = 0.48;      // of the shorter
  constexpr double kThreeGroups = 0.91;
  constexpr double kWaits = 175.0;  // of each warp group
  constexpr double kWaitsOneByOne = 330.0;
  constexpr double kWithoutTurns = 1.01;
  constexpr double kFull = 1.04;  // nearly all registers are in use
  constexpr std::int64_t kFew = 20;
  constexpr double kLoads = 7.5 / 32.0;   // a load for one score
  constexpr double kPieces = 1.5 / 32.0;  // of which eight are made at once
  const auto scores = static_cast<double>(tiles.rows() * tiles.keys);
  const double products =
      kProducts * scores * static_cast<double>(tiles.depth + tiles.columns) / std::max(device.each.warpGroupAdds, 1.0);
  const double powers = kPowers * scores;
  const double computed = std::max(products, powers) + kNotHidden * std::min(products, powers);
  const double waits = (tiles.overlaps ? kWaits : kWaitsOneByOne) * static_cast<double>(tiles.groups);
  const double loads =
      scores * (kLoads * static_cast<double>(tiles.singles) + kPieces * static_cast<double>(tiles.pieces.size()));
  const bool isFull = tiles.groups == 2 && tiles.neededRegisters() + kFew > tiles.registers();
  return (computed * (tiles.groups == 3 ? kThreeGroups : 1.0) + waits + loads) * (isFull ? kFull : 1.0) *
         (tiles.takesTurns ? 1.0 : kWithoutTurns);
}

std::optional<double> AttentionWgmma::estimate(const Instance& instance) const {
  constexpr double kStart = 2700.0;    // cycles of a tile before its first step and after its last
  constexpr double kPerResult = 0.19;  // from sums to memory
  constexpr double kClear = 1.5e-6;    // seconds, for the counter
  const AttentionShape shape = *attentionShape(instance.region);
  const WarpGroupTiles tiles(instance, shape);
  const AttentionSchedule schedule(instance, shape, tiles);
  const DeviceRates device = DeviceRates::of(instance.device);
  std::int64_t steps = 0;
  for (std::int64_t tile = 0; tile < schedule.down; ++tile) {
    const std::int64_t keys = shape.isCausal ? std::min((tile + 1) * tiles.rows(), shape.keyCount) : shape.keyCount;
    steps += divideUp(keys, tiles.keys);
  }
  const double step = cyclesOfStep(device, tiles);
  const double around = kStart + kPerResult * static_cast<double>(tiles.rows() * tiles.columns);
  const auto longest = static_cast<double>(divideUp(shape.keyCount, tiles.keys));
  BlockWork work;
  work.count = schedule.tiles;
  work.cycles = static_cast<double>(steps) / static_cast<double>(schedule.down) * step + around;
  work.bytes = static_cast<double>(tiles.rows() * (tiles.depth + tiles.columns)) * 2.0;
  work.isSharedEvenly = schedule.isTaken;
  return device.launchSeconds + (schedule.isTaken ? kClear : 0.0) +
         std::max(secondsOf(device, work), (longest * step + around) / device.cyclesPerSecond);
}

}  // namespace

WarpGroupTiles::WarpGroupTiles(const Instance& instance, const AttentionShape& shape)
    : groups(instance.value("groups", 2)),
      keys(instance.value("tile_keys", 128)),
      slots(instance.value("slots", 2)),
      overlaps(instance.value("overlap", 1) != 0),
      takesTurns(overlaps && instance.value("turns", 1) != 0),
      isPlain(shape.factor > 0.0),
      depth(roundUp(shape.depthCount, 16)),
      columns(roundUp(shape.columnCount, 8)) {
  constexpr std::int64_t kOfQuad = 32;  // keys that four lanes read at once
  singles = loadsOfScore(instance.region, shape);
  if (!isPlain && shape.keys.size() == 1 && keys % kOfQuad == 0 && shape.keyCount % kAlignedNumbers == 0) {
    collectPieces(instance.region, shape, shape.score, pieces);
    singles -= static_cast<std::int64_t>(pieces.size());
  }
}

// Scores turn into weights, which others are in use beside where steps overlap.
std::int64_t WarpGroupTiles::neededRegisters() const {
  constexpr std::int64_t kOther = 32;      // addresses, counters
  constexpr std::int64_t kForScores = 16;  // coordinates, masks
  return columns / 2 + keys / 2 + (overlaps ? keys / 4 : keys / 8) + kOther + (isPlain ? 0 : kForScores) +
         static_cast<std::int64_t>(pieces.size()) * keys / 4;
}

AttentionSchedule::AttentionSchedule(const Instance& instance, const AttentionShape& shape, const WarpGroupTiles& of)
    : down(divideUp(shape.rowCount, of.rows())), tiles(down * shape.batchCount) {
  blocks = std::min<std::int64_t>(tiles, std::max(1, instance.device.multiprocessors));
  if (shape.isCausal) {
    isTaken = tiles > blocks;
    // So many are under way at any rate.
    const double most =
        std::max(0.5 * static_cast<double>(instance.device.cacheBytes) / bytesOfHead(instance.region, shape),
                 static_cast<double>(divideUp(blocks, down)));
    for (std::int64_t count = 1; count <= shape.batchCount && static_cast<double>(count) <= most; ++count) {
      heads = shape.batchCount % count == 0 ? count : heads;
    }
  }
}

std::optional<AttentionMap> attentionMap(const Region& region, const AttentionShape& shape, int prim) {
  AttentionMap map;
  map.operand = shortOperand(region, prim);
  map.line = prim == shape.query ? shape.rows[0] : shape.keys[0];
  map.along = prim == shape.value ? shape.columns[0] : shape.depth[0];
  if (map.operand == nullptr || !map.operand->bounds.empty() || map.operand->strides[map.along] != 1 ||
      map.operand->offset % kAlignedNumbers != 0) {
    return std::nullopt;
  }
  for (auto axis = shape.batch.rbegin(); axis != shape.batch.rend(); ++axis) {
    if (map.operand->strides[*axis] != 0) {
      map.batch.push_back(*axis);
    }
  }
  std::vector<std::size_t> strided = map.batch;
  strided.push_back(map.line);
  const bool isAligned = std::all_of(strided.begin(), strided.end(), [&](std::size_t axis) {
    const std::int64_t stride = map.operand->strides[axis];
    return stride > 0 && stride % kAlignedNumbers == 0;
  });
  return isAligned && map.batch.size() <= kMostBatchAxes ? std::optional(map) : std::nullopt;
}

void addAttentionWgmma(StrategyTable& table) {
  table.add(std::make_unique<AttentionWgmma>());
}

}  // namespace swage::synth
