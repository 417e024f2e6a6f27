// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/product_wgmma.h"

#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

using domain::NumericMode;
using domain::ScalarType;

constexpr std::int64_t kBarrierBytes = 256;
constexpr std::int64_t kSplitThreads = 256;
constexpr std::int64_t kMostKept = 64;        // floats of a thread between the two passes of a split
constexpr std::int64_t kSplitCluster = 8;     // blocks; more is not portable
constexpr std::int64_t kLeastShare = 4;       // steps of a place, below which sharing costs more than it brings
constexpr std::int64_t kMapAlignment = 16;    // bytes, of all strides of a tensor map
constexpr std::int64_t kOtherRegisters = 24;  // addresses, counters

// Elements from one position to the next along several axes that are walked as one. No value: they cannot be.
std::optional<std::int64_t> linearStride(const Region& region, const Operand& operand,
                                         const std::vector<std::size_t>& axes) {
  if (axes.empty()) {
    return 0;
  }
  std::int64_t expected = operand.strides[axes.back()];
  const std::int64_t stride = expected;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (operand.strides[axes[i]] != expected) {
      return std::nullopt;
    }
    expected *= region.axes[axes[i]].extent;
  }
  return stride;
}

// Reads 16-bit elements from where they lie.
bool placeDirect(const Region& region, const ProductShape& shape, WgmmaSource& source) {
  const Prim& prim = region.prims[static_cast<std::size_t>(source.prim)];
  if (prim.kind != Prim::Kind::Load) {
    return false;
  }
  const Operand& operand = region.operands[static_cast<std::size_t>(prim.operand)];
  const auto line = linearStride(region, operand, *source.axes);
  const auto depth = linearStride(region, operand, shape.depth);
  const auto batch = linearStride(region, operand, shape.batch);
  if (!operand.bounds.empty() || !line || !depth || !batch || (*line != 1 && *depth != 1)) {
    return false;
  }
  source.operand = &operand;
  source.isAlongDepth = *depth == 1;
  source.stride = source.isAlongDepth ? *line : *depth;
  source.batch = *batch == 0 ? 1 : shape.batchCount;
  source.batchStride = *batch;
  const auto isAligned = [](std::int64_t elements) { return elements > 0 && elements * 2 % kMapAlignment == 0; };
  return isAligned(source.stride) && (source.batch == 1 || isAligned(source.batchStride)) &&
         operand.offset * 2 % kMapAlignment == 0;
}

// Threads side by side take neighbours in memory; a block keeps what it has read in registers where that fits.
void placeSplit(const Instance& instance, const ProductShape& shape, WgmmaSource& source) {
  const Region& region = instance.region;
  source.isAlongDepth =
      isContiguousAlong(region, source.prim, shape.depth) || !isContiguousAlong(region, source.prim, *source.axes);
  source.batch = walksAlongAny(region, source.prim, shape.batch) ? shape.batchCount : 1;
  source.stride = roundUp(source.isAlongDepth ? source.depth : source.lines, kMapAlignment / 2);
  source.plane = source.stride * (source.isAlongDepth ? source.lines : source.depth);
  source.width = (source.isAlongDepth ? source.depth : source.lines) % 4 == 0 ? 4 : 1;
  if (source.isAlongDepth) {
    std::int64_t across = 8;
    while (across < kSplitThreads && across * source.width * 4 < source.depth) {
      across *= 2;
    }
    source.splitLines = kSplitThreads / across;
    const bool isLong = source.depth > kSplitThreads * kMostKept ||
                        (source.depth >= 2 * kSplitThreads * 16 &&
                         source.lineBlocks() * source.batch < instance.device.multiprocessors);
    source.splitBlocks = isLong ? kSplitCluster : 1;
    source.splitDepth = roundUp(divideUp(source.depth, source.splitBlocks), across * source.width);
    return;
  }
  source.splitBlocks = source.depth > 512 ? kSplitCluster : 1;
  source.splitLines = source.depth > 4096 ? 16 : 32;
  const std::int64_t down = kSplitThreads * source.width / source.splitLines;
  source.splitDepth = roundUp(divideUp(source.depth, source.splitBlocks), down);
}

class WgmmaProduct final : public Strategy {
 public:
  WgmmaProduct() : Strategy(domain::Language::CudaCpp, "product_wgmma") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    const auto shape = productShape(region);
    return shape && region.prims[static_cast<std::size_t>(region.folds.front().input)].type == Compute::F32;
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override;
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeWgmmaProduct(instance, launch, number);
  }
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;
  void normalise(const Instance& instance, Parameters& parameters) const override;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override;
  [[nodiscard]] Result<> fitsOperands(const Instance& instance, const ProductShape& shape,
                                      const WgmmaTiles& tiles) const;
};

Result<> WgmmaProduct::fits(const Instance& instance) const {
  const WgmmaTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  if (instance.device.computeCapability != 90) {
    return unfit("only devices of compute capability 9.0 have wgmma");
  }
  if (tiles.mode != NumericMode::Fp16x3 && instance.value("promote") != kWgmmaDepth) {
    return unfit("only sums of split floats are promoted");
  }
  if (tiles.sums() * (tiles.promote > 0 ? 2 : 1) + kOtherRegisters > tiles.registers()) {
    return unfit("the sums of a thread do not fit into its registers");
  }
  if (tiles.slots < tiles.parts() * 2 ||
      tiles.dynamicBytes() + tiles.turnedBytes() + kBarrierBytes > instance.device.sharedBytesPerBlock) {
    return unfit("two steps of tiles do not fit into shared memory");
  }
  if (shape.rowCount <= tiles.rows && tiles.cluster > 1) {
    return unfit("there are no tiles below each other");
  }
  const WgmmaSchedule schedule(shape, tiles, instance.device.multiprocessors);
  if (tiles.isShared && (schedule.rest == 0 || schedule.rest * schedule.steps < kLeastShare * schedule.places)) {
    return unfit("there are no tiles over to be shared");
  }
  if (std::max({schedule.tiles * schedule.steps, shape.rowCount, shape.columnCount, shape.depthCount}) >
      kLargestInt / 2) {
    return unfit("there are more tiles than an int can number");
  }
  return fitsOperands(instance, shape, tiles);
}

Result<> WgmmaProduct::fitsOperands(const Instance& instance, const ProductShape& shape,
                                    const WgmmaTiles& tiles) const {
  std::optional<ScalarType> common;
  for (const auto side : {WgmmaSource::Side::Left, WgmmaSource::Side::Right}) {
    const auto source = wgmmaSource(instance, shape, tiles, side);
    if (!source) {
      return unfit("the copy engine cannot read an operand where it lies");
    }
    if (source->operand == nullptr && isShort(instance.region, source->prim)) {
      return unfit("numbers of 16 bits need not be split");
    }
    if (source->operand != nullptr) {
      const ScalarType type = source->operand->dtype;
      if ((type != ScalarType::Float16 && type != ScalarType::BFloat16) || (common && *common != type)) {
        return unfit("operands are of the same type of 16 bits, or are split");
      }
      common = type;
    }
    if (!source->isAlongDepth && side == WgmmaSource::Side::Right && tiles.columns % 64 != 0) {
      return unfit("a right operand whose rows lie together needs tiles of 64 columns");
    }
  }
  return {};
}

// A tile and what it brings, the tiles of a place, the passes before it.
std::optional<double> WgmmaProduct::estimate(const Instance& instance) const {
  constexpr double kReached = 0.85;      // this and the others: measured on an H100
  constexpr double kStored = 1.35;       // times the bytes of results: memory takes less than it gives
  constexpr double kPerResult = 12.0;    // instructions, from sums to memory
  constexpr double kPassReached = 0.75;  // of the rate of copying, by passes whose blocks keep all multiprocessors busy
  constexpr double kPartialBytes = 24.0;  // in a cycle, by the one that adds up a shared tile
  const WgmmaTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const WgmmaSchedule schedule(shape, tiles, instance.device.multiprocessors);
  const DeviceRates device = DeviceRates::of(instance.device);
  const auto results = static_cast<double>(tiles.rows * tiles.columns);
  const auto groups = static_cast<double>(tiles.groups());
  const double products = tiles.parts() == 2 ? 3.0 : 1.0;
  const double multiply =
      products * results * static_cast<double>(kWgmmaDepth) / (device.each.warpGroupAdds * kReached);
  const double reads =
      products * groups * static_cast<double>(64 * kWgmmaDepth * 2 + tiles.rightBytes()) / device.each.sharedBytes;
  const double copies = static_cast<double>(tiles.parts() * (tiles.leftBytes() + tiles.rightBytes() / tiles.cluster)) /
                        device.each.cacheBytes;
  // Hidden behind the products of another warp group, where there is one.
  const double promotions = tiles.promote > 0 && tiles.groups() == 1
                                ? results / device.each.floatAdds / static_cast<double>(tiles.promote) + multiply * 0.2
                                : 0.0;
  BlockWork work;
  work.count = schedule.tiles * tiles.cluster;
  work.cycles = static_cast<double>(schedule.steps) * (std::max({multiply, reads, copies}) + promotions) +
                results * kPerResult / device.each.floatAdds;
  work.bytes = kStored * results * static_cast<double>(bytesOfResult(instance.region, shape));
  work.isSharedEvenly = schedule.rest > 0;
  double seconds = device.launchSeconds + secondsOf(device, work);
  if (schedule.rest > 0) {
    const double parts = 2.0 + static_cast<double>(schedule.places) / static_cast<double>(schedule.rest);
    seconds += parts * results * 4.0 / kPartialBytes / device.cyclesPerSecond;
  }
  for (const auto side : {WgmmaSource::Side::Left, WgmmaSource::Side::Right}) {
    if (const WgmmaSource source = *wgmmaSource(instance, shape, tiles, side); source.operand == nullptr) {
      const std::int64_t read = bytesOfElement(instance.region, source.prim) * (source.isKept() ? 1 : 2);
      const auto bytes = static_cast<double>(source.batch * source.lines * source.depth * (read + tiles.parts() * 2));
      const auto blocks = static_cast<double>(source.batch * source.lineBlocks() * source.splitBlocks);
      seconds += secondsOfPass(device, bytes,
                               kPassReached * std::min(1.0, blocks / static_cast<double>(device.multiprocessors)));
    }
  }
  return seconds;
}

// Bands longer than there are tiles below each other, and promotions after the end.
void WgmmaProduct::normalise(const Instance& instance, Parameters& parameters) const {
  const WgmmaTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const WgmmaSchedule schedule(shape, tiles, instance.device.multiprocessors);
  for (const patterns::Parameter& parameter : instance.pattern.parameters) {
    for (const std::int64_t value : parameter.values) {
      const bool isAlike = (parameter.name == "band" && value / tiles.cluster >= schedule.down) ||
                           (parameter.name == "promote" && value >= shape.depthCount);
      if (isAlike && parameters[parameter.name] > value) {
        parameters[parameter.name] = value;
      }
    }
  }
}

domain::TensorMap mapOf(const WgmmaSource& source, const WgmmaTiles& tiles) {
  const bool isLeft = source.side == WgmmaSource::Side::Left;
  const std::int64_t shared = isLeft ? 1 : tiles.cluster;
  domain::TensorMap map;
  map.element = domain::MapElement::Float16;
  map.swizzle = domain::MapSwizzle::Bytes128;
  map.promotion = domain::MapPromotion::Bytes256;
  map.elementStrides = {1, 1, 1};
  map.sizes = {source.depth, source.lines, source.batch};
  map.box = {kWgmmaDepth, (isLeft ? tiles.rows : tiles.columns) / shared, 1};
  if (!source.isAlongDepth) {
    map.sizes = {source.lines, source.depth, source.batch};
    map.box = {kWgmmaDepth, kWgmmaDepth / shared, 1};
  }
  const std::int64_t plane = source.operand == nullptr ? source.plane
                             : source.batch > 1        ? source.batchStride
                                                       : source.stride * map.sizes[1];
  map.strides = {source.stride * 2, plane * 2};
  if (source.operand == nullptr) {
    map.sizes[2] *= tiles.parts();
    return map;
  }
  map.buffer = source.operand->value;
  map.offset = source.operand->offset;
  map.element = domain::mapElement(source.operand->dtype);
  return map;
}

Launch WgmmaProduct::launch(const Instance& instance, const std::string& entry) const {
  const WgmmaTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const WgmmaSchedule schedule(shape, tiles, instance.device.multiprocessors);
  std::vector<domain::KernelStep> steps;
  Launch launch;
  for (const auto side : {WgmmaSource::Side::Left, WgmmaSource::Side::Right}) {
    const WgmmaSource source = *wgmmaSource(instance, shape, tiles, side);
    LaunchMap map{mapOf(source, tiles)};
    if (source.operand == nullptr) {
      map.scratch = static_cast<int>(launch.scratch.size());
      launch.scratch.push_back(
          domain::contiguousTensor(ScalarType::Float16, {tiles.parts() * source.batch * source.plane}));
      launch.scratch.push_back(domain::contiguousTensor(ScalarType::Float32, {source.batch * source.lines}));
      steps.push_back(source.step(fmt::format("{}_{}s", entry, source.line)));
    }
    launch.maps.push_back(std::move(map));
  }
  if (schedule.rest > 0) {
    launch.scratch.push_back(domain::contiguousTensor(
        ScalarType::Float32, {schedule.partials() * tiles.cluster * tiles.rows * tiles.columns}));
    launch.scratch.push_back(
        domain::contiguousTensor(ScalarType::Int32, {schedule.rest * tiles.cluster * tiles.groups()}));
    if (!tiles.isSplit()) {
      steps.emplace_back();  // sets the counters to zero, which the first pass does otherwise
      steps.back().entry = entry + "_clear";
      steps.back().block.x = kSplitThreads;
    }
  }
  domain::KernelStep product;
  product.entry = entry;
  product.grid.x = static_cast<std::uint32_t>(schedule.places * tiles.cluster);
  product.block.x = static_cast<std::uint32_t>(tiles.threads());
  product.cluster.x = static_cast<std::uint32_t>(tiles.cluster);
  product.dynamicSharedBytes = static_cast<std::uint32_t>(tiles.dynamicBytes());
  steps.push_back(std::move(product));
  launch.step = std::move(steps.front());
  launch.more.assign(std::make_move_iterator(steps.begin() + 1), std::make_move_iterator(steps.end()));
  return launch;
}

}  // namespace

WgmmaTiles::WgmmaTiles(const Instance& instance)
    : mode(static_cast<NumericMode>(instance.value("mode"))),
      rows(instance.value("tile_rows", 128)),
      columns(instance.value("tile_columns", 128)),
      slots(instance.value("slots", 4)),
      cluster(1 + instance.value("pair")),
      promote(mode == NumericMode::Fp16x3 ? instance.value("promote", kWgmmaDepth) / kWgmmaDepth : 0),
      band(std::max<std::int64_t>(1, instance.value("band", 8) / cluster)),
      isShared(instance.value("share") != 0) {}

WgmmaSchedule::WgmmaSchedule(const ProductShape& shape, const WgmmaTiles& of, std::int64_t multiprocessors)
    : steps(divideUp(shape.depthCount, kWgmmaDepth)),
      down(divideUp(shape.rowCount, of.rows * of.cluster)),
      across(divideUp(shape.columnCount, of.columns)),
      tiles(shape.batchCount * down * across),
      places(std::max<std::int64_t>(1, multiprocessors / of.cluster)) {
  if (of.isShared) {
    rest = tiles % places;
    whole = tiles - rest;
  } else {
    places = std::min(places, tiles);
    whole = tiles;
  }
}

bool WgmmaSource::isKept() const {
  return splitDepth * splitLines <= kSplitThreads * kMostKept;
}

domain::KernelStep WgmmaSource::step(const std::string& entry) const {
  domain::KernelStep step;
  step.entry = entry;
  step.grid.x = static_cast<std::uint32_t>(batch * lineBlocks() * splitBlocks);
  step.block.x = static_cast<std::uint32_t>(kSplitThreads);
  step.cluster.x = static_cast<std::uint32_t>(splitBlocks);
  return step;
}

std::optional<WgmmaSource> wgmmaSource(const Instance& instance, const ProductShape& shape, const WgmmaTiles& tiles,
                                       WgmmaSource::Side side) {
  const bool isLeft = side == WgmmaSource::Side::Left;
  WgmmaSource source;
  source.side = side;
  source.line = isLeft ? "row" : "column";
  source.prim = isLeft ? shape.left : shape.right;
  source.axes = isLeft ? &shape.rows : &shape.columns;
  source.lines = isLeft ? shape.rowCount : shape.columnCount;
  source.depth = shape.depthCount;
  if (tiles.isSplit()) {
    placeSplit(instance, shape, source);
  } else if (!placeDirect(instance.region, shape, source)) {
    return std::nullopt;
  }
  return source;
}

void addWgmmaProduct(StrategyTable& table) {
  table.add(std::make_unique<WgmmaProduct>());
}

}  // namespace swage::synth
