// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/product_onepass.h"

#include <algorithm>

#include "core/domain/numeric_mode.h"
#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

using domain::ScalarType;

constexpr std::int64_t kLeastSteps = 8;       // of a part of the sum
constexpr std::int64_t kPieceFloats = 4;      // floats in 16 bytes
constexpr std::int64_t kLeastPromote = 16;    // the most exact
constexpr std::int64_t kFinishThreads = 256;  // of a block that clears or finishes
constexpr std::int64_t kFinishBlocks = 4;     // for each multiprocessor, which all read what the columns have had
constexpr std::int64_t kLeastFinishRows = 8;  // of a block
constexpr std::int64_t kMostFinishRows = 128;

// Whether it is a tensor of floats in which every four along these axes are 16 bytes that lie together.
bool liesInPieces(const Region& region, int prim, const std::vector<std::size_t>& along) {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  if (self.kind != Prim::Kind::Load || along.empty()) {
    return false;
  }
  const Operand& operand = region.operands[static_cast<std::size_t>(self.operand)];
  if (operand.dtype != ScalarType::Float32 || !operand.bounds.empty() || operand.offset % kPieceFloats != 0 ||
      operand.strides[along.back()] != 1 || region.axes[along.back()].extent % kPieceFloats != 0) {
    return false;
  }
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (axis != along.back() && operand.strides[axis] % kPieceFloats != 0) {
      return false;
    }
  }
  return true;
}

class OnepassProduct final : public Strategy {
 public:
  OnepassProduct() : Strategy(domain::Language::CudaCpp, "product_onepass") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    const auto shape = productShape(region);
    return shape && !region.hasBounds() && !region.hasRole(AxisRole::Window) &&
           region.prims[static_cast<std::size_t>(region.folds.front().input)].type == Compute::F32 &&
           !isShort(region, shape->left) && !isShort(region, shape->right);
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override;
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeOnepassProduct(instance, launch, number);
  }
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;
  void normalise(const Instance& instance, Parameters& parameters) const override;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override;
};

Result<> OnepassProduct::fits(const Instance& instance) const {
  const OnepassTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  if (instance.device.computeCapability != 90) {
    return unfit("only devices of compute capability 9.0 have wgmma");
  }
  if (tiles.registers() > 232 || tiles.bringRegisters() < tiles.leastBringRegisters()) {
    return unfit("what the threads of a block keep does not fit into registers");
  }
  if (tiles.dynamicBytes() > instance.device.sharedBytesPerBlock) {
    return unfit("two steps of tiles do not fit into shared memory");
  }
  const OnepassSchedule schedule(shape, tiles, instance.device.multiprocessors);
  if (tiles.isCut && schedule.parts < 2) {
    return unfit("there are tiles enough, or the sum is too short to be cut");
  }
  if (std::max({schedule.tiles * schedule.parts, shape.batchCount * (shape.rowCount + shape.columnCount),
                shape.depthCount, schedule.finishRows * shape.columnCount}) > kLargestInt / 2) {
    return unfit("there are more tiles than an int can number");
  }
  return {};
}

Launch OnepassProduct::launch(const Instance& instance, const std::string& entry) const {
  const OnepassTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const OnepassSchedule schedule(shape, tiles, instance.device.multiprocessors);
  const OnepassSource right = onepassSource(instance.region, shape, tiles, OnepassSide::Right);
  const std::int64_t lines = right.firstLargest + right.batch * right.count;
  Launch launch;
  launch.scratch.push_back(domain::contiguousTensor(ScalarType::Int32, {lines}));
  if (schedule.parts > 1) {
    launch.scratch.push_back(domain::contiguousTensor(
        ScalarType::Float32, {schedule.parts * shape.batchCount * shape.rowCount * partStride(shape)}));
  }
  launch.step.entry = entry + "_clear";
  launch.step.grid.x = static_cast<std::uint32_t>(divideUp(lines, kFinishThreads));
  launch.step.block.x = kFinishThreads;
  domain::KernelStep product;
  product.entry = entry;
  product.grid.x = static_cast<std::uint32_t>(schedule.places);
  product.block.x = static_cast<std::uint32_t>(tiles.threads());
  product.dynamicSharedBytes = static_cast<std::uint32_t>(tiles.dynamicBytes());
  domain::KernelStep finish;
  finish.entry = entry + "_finish";
  finish.grid.x = static_cast<std::uint32_t>(
      schedule.parts > 1
          ? std::min<std::int64_t>(divideUp(shape.batchCount * shape.rowCount * shape.columnCount, kFinishThreads),
                                   instance.device.multiprocessors * 8)
          : shape.batchCount * divideUp(shape.rowCount, schedule.finishRows));
  finish.block.x = kFinishThreads;
  launch.more = {std::move(product), std::move(finish)};
  return launch;
}

// The slowest of what a step asks of tensor cores, shared memory, the second-level cache and the threads that split,
// and sums in float, which nothing hides. This and the other numbers: measured on an H100.
double cyclesOfStep(const OnepassTiles& tiles, const OnepassSource& left, const OnepassSource& right,
                    const DeviceRates& device) {
  constexpr double kReached = 0.75;   // of tensor cores and of the cache
  constexpr double kSplitting = 8.0;  // instructions for each number
  constexpr double kOneByOne = 2.0;   // times as long to bring numbers that are not asked for in fours
  const auto results = static_cast<double>(tiles.rows * tiles.columns);
  const auto numbers = static_cast<double>((tiles.rows + tiles.columns) * kOnepassDepth);
  const double brought = (static_cast<double>(tiles.rows) * (left.isWide ? 1.0 : kOneByOne) +
                          static_cast<double>(tiles.columns) * (right.isWide ? 1.0 : kOneByOne)) *
                         kOnepassDepth;
  const auto reads = static_cast<double>(tiles.groups() * (64 + tiles.columns) * kOnepassDepth * 2);
  const double multiply = 3.0 * results * kOnepassDepth / (device.each.warpGroupAdds * kReached);
  const double shared = (3.0 * reads + numbers * 4.0) / device.each.sharedBytes;
  const double cache = brought * 4.0 / (device.each.cacheBytes * kReached);
  const double split = numbers * kSplitting / device.each.floatAdds;
  const double promotions = static_cast<double>(kOnepassDepth / tiles.promote) - 1.0;
  return std::max({multiply, shared, cache, split}) + promotions * results / device.each.floatAdds;
}

// Of operands and results, each once, and of parts of sums. Each band reads a right operand anew that the cache does
// not hold.
double bytesMoved(const Instance& instance, const ProductShape& shape, const OnepassTiles& tiles,
                  const OnepassSchedule& schedule) {
  std::int64_t bytes = shape.batchCount * shape.rowCount * shape.columnCount * bytesOfResult(instance.region, shape);
  for (const OnepassSide side : {OnepassSide::Left, OnepassSide::Right}) {
    const OnepassSource source = onepassSource(instance.region, shape, tiles, side);
    const std::int64_t each = source.count * shape.depthCount * bytesOfElement(instance.region, source.prim);
    const bool isReadAnew = side == OnepassSide::Right && each > instance.device.cacheBytes;
    bytes += source.batch * each * (isReadAnew ? divideUp(schedule.down, tiles.band) : 1);
  }
  if (schedule.parts > 1) {
    bytes += schedule.parts * shape.batchCount * shape.rowCount * partStride(shape) * 8;
  }
  return static_cast<double>(bytes);
}

std::optional<double> OnepassProduct::estimate(const Instance& instance) const {
  constexpr double kPerResult = 16.0;  // instructions
  constexpr double kMemory = 0.9;      // of the rate of copying
  constexpr double kShown = 0.1;       // of the shorter of both, which the longer one does not hide
  constexpr double kLaunches = 3.0;
  constexpr double kLessExact = 1.1;  // times as long: sums of one step that are promoted later are less exact than
                                      // float, for a few percent of the time
  const OnepassTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const OnepassSchedule schedule(shape, tiles, instance.device.multiprocessors);
  const DeviceRates device = DeviceRates::of(instance.device);
  const double step = cyclesOfStep(tiles, onepassSource(instance.region, shape, tiles, OnepassSide::Left),
                                   onepassSource(instance.region, shape, tiles, OnepassSide::Right), device);
  BlockWork work;
  work.count = schedule.tiles * schedule.parts;
  work.cycles = static_cast<double>(divideUp(schedule.steps, schedule.parts)) * step +
                static_cast<double>(tiles.rows * tiles.columns) * kPerResult / device.each.floatAdds;
  const double inside = secondsOf(device, work);
  const double memory = bytesMoved(instance, shape, tiles, schedule) / (device.bytesPerSecond * kMemory);
  const double seconds =
      std::max(inside, memory) + kShown * std::min(inside, memory) + kLaunches * device.launchSeconds;
  return schedule.steps == 1 && tiles.promote > kLeastPromote ? kLessExact * seconds : seconds;
}

// Bands longer than there are tiles below each other.
void OnepassProduct::normalise(const Instance& instance, Parameters& parameters) const {
  const OnepassTiles tiles(instance);
  const OnepassSchedule schedule(*productShape(instance.region), tiles, instance.device.multiprocessors);
  for (const std::int64_t band : {16, 8, 4}) {
    if (band >= schedule.down && parameters["band"] > band) {
      parameters["band"] = band;
    }
  }
}

}  // namespace

OnepassTiles::OnepassTiles(const Instance& instance)
    : rows(instance.value("tile_rows", 128)),
      columns(instance.value("tile_columns", 128)),
      slots(instance.value("slots", 2)),
      promote(instance.value("promote", kOnepassDepth)),
      band(instance.value("band", 8)),
      isCut(instance.value("cut") != 0) {}

OnepassSchedule::OnepassSchedule(const ProductShape& shape, const OnepassTiles& of, std::int64_t multiprocessors)
    : steps(divideUp(shape.depthCount, kOnepassDepth)),
      down(divideUp(shape.rowCount, of.rows)),
      across(divideUp(shape.columnCount, of.columns)),
      tiles(shape.batchCount * down * across) {
  if (of.isCut) {
    parts = std::max<std::int64_t>(1, std::min(multiprocessors / tiles, steps / kLeastSteps));
  }
  places = std::min(multiprocessors, tiles * parts);
  finishRows = std::clamp<std::int64_t>(divideUp(shape.batchCount * shape.rowCount, multiprocessors * kFinishBlocks),
                                        kLeastFinishRows, kMostFinishRows);
}

OnepassSource onepassSource(const Region& region, const ProductShape& shape, const OnepassTiles& tiles,
                            OnepassSide side) {
  const bool isLeft = side == OnepassSide::Left;
  OnepassSource source;
  source.line = isLeft ? "row" : "column";
  source.lines = isLeft ? "left" : "right";
  source.prim = isLeft ? shape.left : shape.right;
  source.axes = isLeft ? &shape.rows : &shape.columns;
  source.count = isLeft ? shape.rowCount : shape.columnCount;
  source.batch = walksAlongAny(region, source.prim, shape.batch) ? shape.batchCount : 1;
  source.firstPiece = isLeft ? 0 : tiles.leftPieces();
  source.pieces = isLeft ? tiles.leftPieces() : tiles.pieces() - tiles.leftPieces();
  source.firstLargest =
      isLeft ? 0 : (walksAlongAny(region, shape.left, shape.batch) ? shape.batchCount : 1) * shape.rowCount;
  source.isAlongDepth =
      isContiguousAlong(region, source.prim, shape.depth) || !isContiguousAlong(region, source.prim, *source.axes);
  source.isWide = (source.isAlongDepth ? shape.depthCount : source.count) % kPieceFloats == 0;
  source.isVector = liesInPieces(region, source.prim, source.isAlongDepth ? shape.depth : *source.axes);
  return source;
}

bool storesRows(const Region& region, const ProductShape& shape) {
  if (region.groupStores.size() != 1 || shape.columns.empty() || shape.columnCount % kPieceFloats != 0) {
    return false;
  }
  const Operand& operand = region.operands[static_cast<std::size_t>(region.groupStores.front().operand)];
  if (operand.dtype != ScalarType::Float32 || !operand.bounds.empty() || operand.offset % kPieceFloats != 0) {
    return false;
  }
  std::int64_t expected = 1;
  for (std::size_t i = shape.columns.size(); i-- > 0;) {
    if (operand.strides[shape.columns[i]] != expected) {
      return false;
    }
    expected *= region.axes[shape.columns[i]].extent;
  }
  const auto isAligned = [&](std::size_t axis) { return operand.strides[axis] % kPieceFloats == 0; };
  return std::all_of(shape.rows.begin(), shape.rows.end(), isAligned) &&
         std::all_of(shape.batch.begin(), shape.batch.end(), isAligned);
}

void addOnepassProduct(StrategyTable& table) {
  table.add(std::make_unique<OnepassProduct>());
}

}  // namespace swage::synth
