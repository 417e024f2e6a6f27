// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_wgmma.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/builtin.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kWgmmaCapability = 90;
constexpr std::int64_t kBringRegisters = 72;     // 32 numbers on their way, where pixels lie
constexpr std::int64_t kBesideSums = 40;         // of a thread that multiplies, beside its sums
constexpr std::int64_t kBesideInstruction = 26;  // as the assembler says
constexpr std::int64_t kMostOfThread = 240;
constexpr std::int64_t kMostItems = 4;           // of 8 channels, on their way through registers
constexpr std::int64_t kReservedOfBlock = 1024;  // of shared memory, for each block
constexpr std::int64_t kMostPairedPlaces = 64;   // whose products are written one after another
// Of the sum, which tensor cores may add up without low bits before it costs accuracy: altogether, and at a time.
constexpr std::int64_t kMostUnpromoted = 128;
constexpr std::int64_t kPromoted = 80;

class ConvWgmma final : public Strategy {
 public:
  ConvWgmma() : Strategy(domain::Language::CudaCpp, "conv_wgmma") {}

  [[nodiscard]] bool accepts(const Region& region) const override { return HaloProblem::of(region, 16).has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const HaloTiles tiles(instance);
    const HaloProblem problem = *HaloProblem::of(instance.region, tiles.channels);
    const HaloLayout layout(problem, tiles, instance.device);
    const HaloWeights weights(problem, tiles);
    Launch launch;
    launch.step = weights.step(entry + "_weights");
    launch.scratch = weights.scratch();
    domain::KernelStep conv;
    conv.entry = entry;
    conv.block.x = static_cast<std::uint32_t>(tiles.threads());
    conv.grid.x = static_cast<std::uint32_t>(layout.blocks);
    conv.dynamicSharedBytes = static_cast<std::uint32_t>(layout.bytes);
    launch.more.push_back(std::move(conv));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeHaloConv(instance, launch, number);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override;
  [[nodiscard]] Result<> fitsTiles(const HaloTiles& tiles) const;
  [[nodiscard]] Result<> fitsNumbers(const HaloProblem& problem, const HaloTiles& tiles) const;
  [[nodiscard]] Result<> fitsLayout(const Instance& instance, const HaloProblem& problem, const HaloTiles& tiles) const;
};

Result<> ConvWgmma::fits(const Instance& instance) const {
  const HaloTiles tiles(instance);
  if (instance.device.computeCapability != kWgmmaCapability) {
    return unfit("only devices of compute capability 9.0 have wgmma");
  }
  SWAGE_TRY(fitsTiles(tiles));
  const auto problem = HaloProblem::of(instance.region, tiles.channels);
  if (!problem) {
    return unfit("its windows slide in another way");
  }
  SWAGE_TRY(fitsNumbers(*problem, tiles));
  return fitsLayout(instance, *problem, tiles);
}

Result<> ConvWgmma::fitsTiles(const HaloTiles& tiles) const {
  if (tiles.groups() > 4) {
    return unfit("more than four warp groups would multiply");
  }
  if (tiles.pixels % std::max<std::int64_t>(tiles.wide, 8) != 0 || tiles.instructionPixels() % 8 != 0) {
    return unfit("an instruction takes a multiple of 8 positions");
  }
  if (tiles.instructionPixels() / 2 + kBesideInstruction > tiles.firstRegisters()) {
    return unfit("a thread has fewer registers at first than an instruction needs");
  }
  return {};
}

Result<> ConvWgmma::fitsNumbers(const HaloProblem& problem, const HaloTiles& tiles) const {
  const auto isShort = [](domain::ScalarType type) {
    return type == domain::ScalarType::Float16 || type == domain::ScalarType::BFloat16;
  };
  const Region& region = problem.region;
  const domain::ScalarType left = problem.input().dtype;
  const Prim& weight = region.prims[static_cast<std::size_t>(problem.shape.right)];
  if (weight.type != Compute::F32) {
    return unfit("it multiplies numbers that have more bits than a float");
  }
  if (isShort(left) == tiles.isSplit()) {
    return unfit(tiles.isSplit() ? "its operands need not be split" : "its operands are no halves of one type");
  }
  const bool isAlike =
      weight.kind == Prim::Kind::Load && region.operands[static_cast<std::size_t>(weight.operand)].dtype == left;
  if (isShort(left) && !isAlike) {
    return unfit("its operands are no halves of one type");
  }
  return {};
}

Result<> ConvWgmma::fitsLayout(const Instance& instance, const HaloProblem& problem, const HaloTiles& tiles) const {
  const HaloLayout layout(problem, tiles, instance.device);
  if ((problem.phases + (layout.isPromoted ? 1 : 0)) * tiles.pixels / 2 + kBesideSums > tiles.registers()) {
    return unfit("the sums of a thread do not fit into its registers");
  }
  if (tiles.isPaired() && (!layout.isKept || problem.hasPhases || layout.taps > kMostPairedPlaces)) {
    return unfit("two places of the window go together where all weights stay, in the same order for all tiles");
  }
  if (layout.patches < 2 || layout.stages < 2) {
    return unfit("two patches and their weights do not fit into shared memory");
  }
  if (HaloWeights(problem, tiles).sharedBytes() > instance.device.sharedBytesPerBlock) {
    return unfit("the weights of a channel do not fit into shared memory");
  }
  if (layout.allPixels * 16 >= (std::int64_t{1} << 18) || layout.pitch * 16 >= (std::int64_t{1} << 18)) {
    return unfit("a patch is too large for descriptors");
  }
  const ProductShape& shape = problem.shape;
  if (std::max({layout.tiles * tiles.parts, shape.rowCount, shape.depthCount * shape.columnCount}) > kLargestInt / 2) {
    return unfit("there are more tiles than an int can number");
  }
  // A tile that is mostly empty is never the best one.
  if ((tiles.columns > 64 && tiles.columns >= 2 * shape.columnCount) ||
      (tiles.height() > 1 && tiles.height() >= 2 * (problem.down() == nullptr ? 1 : problem.down()->positions)) ||
      (tiles.width() > 8 && tiles.width() >= 2 * problem.across().positions) ||
      (tiles.parts > 1 && layout.places < 2) ||
      (tiles.depth > 16 && problem.paddedChannels() >= 2 * problem.channels)) {
    return unfit("half of the tile would be empty");
  }
  return {};
}

// Times the bytes of results that memory takes: parts of sectors, the more the shorter rows are in a tile, and the more
// rows it has.
double storedBytes(const HaloProblem& problem, const HaloTiles& tiles) {
  constexpr double kOfRow = 14.0;     // results more, where rows begin anywhere
  constexpr double kOfPhases = 20.0;  // where phases lie side by side
  constexpr double kOfRows = 0.155;   // for twice as many
  const auto width = static_cast<double>(tiles.width());
  const double ofRows = 1.0 + kOfRows * std::log2(static_cast<double>(tiles.height()));
  if (problem.phases > 1) {
    return ofRows * (1.05 + kOfPhases / (width * static_cast<double>(problem.phases)));
  }
  switch (resultRows(problem.region, problem.across().position)) {
    case ResultRows::InSectors: return ofRows * 1.05;
    case ResultRows::Apart: return ofRows * 4.0;
    case ResultRows::Anywhere: break;
  }
  return ofRows * (1.0 + kOfRow / width);
}

// What one tile costs, in cycles of a multiprocessor.
struct TileCost {
  // Of what the blocks of a multiprocessor share:
  double products = 0.0;  // tensor cores and what they read
  double issue = 0.0;     // instructions
  double copies = 0.0;    // from the second-level cache
  double memory = 0.0;
  // One after another:
  double bring = 0.0;     // all patches
  double multiply = 0.0;  // all products, and what becomes of them
  double first = 0.0;     // of these, until the first products begin and after the last ones

  // The dearest counts, and a little of the others: they do not hide each other fully.
  [[nodiscard]] double all(const HaloTiles& tiles, const HaloLayout& layout) const {
    constexpr double kSharpness = 6.0;
    constexpr double kHeldUp = 0.3;  // of the shorter one, where only two patches lie between bringing and multiplying
    const auto beside = static_cast<double>(tiles.blocks);
    double sum = 0.0;
    for (const double each : {beside * products, beside * issue, beside * copies, beside * memory, bring, multiply}) {
      sum += std::pow(each, kSharpness);
    }
    return std::pow(sum, 1.0 / kSharpness) + (layout.patches < 3 ? kHeldUp * std::min(bring, multiply) : 0.0);
  }
};

// Places of the window that a tile multiplies, on average over phases: for all channels of a step.
double placesOf(const HaloProblem& problem, const HaloLayout& layout) {
  double places = static_cast<double>(layout.taps * problem.phases);
  for (const Bound& bound : problem.weightBounds()) {
    double all = 1.0;
    for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
      all *= bound.factors[axis] != 0 ? static_cast<double>(problem.region.axes[axis].extent) : 1.0;
    }
    places *= static_cast<double>(bound.extent) / all;
  }
  return places;
}

// Instructions for each result that follow the sum, beyond an addend and a ReLU, about.
double followingInstructions(const Region& region) {
  constexpr double kUsual = 2.0;
  constexpr double kCostly = 15.0;  // functions of several instructions
  static const std::set<std::string> costly{"exp", "log", "tanh", "erf", "pow", "sigmoid", "log1p", "expm1", "div"};
  std::vector<bool> isNeeded(region.prims.size(), false);
  for (const Store& store : region.groupStores) {
    isNeeded[static_cast<std::size_t>(store.prim)] = true;
  }
  double count = 0.0;
  for (std::size_t i = region.prims.size(); i-- > 0;) {
    const Prim& prim = region.prims[i];
    if (!isNeeded[i] || prim.kind != Prim::Kind::Call) {
      continue;
    }
    count += costly.contains(prim.function) ? kCostly : 1.0;
    for (const int arg : prim.args) {
      isNeeded[static_cast<std::size_t>(arg)] = true;
    }
  }
  return std::max(0.0, count - kUsual);
}

// Groups of channels: what blocks differ in that phases do not.
std::int64_t groupsOf(const HaloProblem& problem) {
  std::int64_t count = 1;
  for (const std::size_t axis : problem.batch) {
    const bool isPhase = std::any_of(problem.results.begin(), problem.results.end(),
                                     [axis](const Bound& bound) { return bound.factors[axis] != 0; });
    count *= isPhase ? 1 : problem.region.axes[axis].extent;
  }
  return count;
}

// Constants fit 108 programs of 18 convolutions on an H100, of which the test of the order has the times.
TileCost costOf(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout,
                const DeviceRates& device) {
  constexpr double kReached = 0.95;        // of the rate of tensor cores
  constexpr double kReachedMemory = 0.78;  // of the rate of copies
  constexpr double kPerElement = 5.0;      // instructions, of a number that is brought
  constexpr double kPerLow = 4.0;          // and of its low half
  constexpr double kPerResult = 6.0;       // from a sum to memory
  constexpr double kPerStagedResult = 16.0;
  constexpr double kIssued = 4.0;          // instructions of warps, in a cycle
  constexpr double kPerWarpElement = 2.0;  // cycles of a warp that brings, for 32 numbers
  constexpr double kRound = 300.0;         // cycles, until what threads have asked for is laid out
  constexpr double kPerTile = 600.0;       // where pixels lie, what the largest was
  constexpr double kPerStep = 1500.0;      // until a patch is known to be there, and its products have ended
  constexpr double kPerStage = 230.0;      // of weights that are brought anew
  constexpr double kPerPromotion = 250.0;  // until products have ended, and others begin
  constexpr double kFinish = 3.0;          // for a position of a warp group, from its sums to memory
  constexpr double kFinishStaged = 48.0;   // and phase
  constexpr double kPerFollowing = 0.75;   // for an instruction that follows
  constexpr double kRead = 1.2;            // times the bytes of a patch: parts of sectors
  constexpr double kOverlap = 0.4;         // of what patches have in common with others, read from memory again
  constexpr double kAgain = 0.2;           // of what blocks with other channels of the result have read
  const auto groups = static_cast<double>(tiles.groups());
  const auto pixels = static_cast<double>(tiles.pixels);
  const auto phases = static_cast<double>(problem.phases);
  const auto depth = static_cast<double>(tiles.depth);
  const auto steps = static_cast<double>(layout.steps);
  const auto columns = static_cast<double>(layout.columns);
  const double places = placesOf(problem, layout);
  const double paired = static_cast<double>(layout.ofPatch) / static_cast<double>(layout.taps);
  const double passes = tiles.isExact() ? 3.0 : 1.0;
  const double promotions =  // of a step
      layout.isPromoted ? std::max(phases, places / static_cast<double>(layout.window)) : 0.0;
  const double rows = tiles.channelsOfWarp(problem) < HaloTiles::kRowsOfWarp ? 0.5 : 1.0;  // that have channels
  const auto ofElement = static_cast<double>(bytesOfElement(problem.region, problem.shape.left));
  const double results = groups * 64.0 * pixels * phases;
  const double resultBytes = results * static_cast<double>(bytesOfResult(problem.region, problem.shape));

  const double products = groups * 64.0 * pixels * depth / (device.each.warpGroupAdds * kReached);
  const double reads =
      groups * depth * 2.0 * (64.0 * static_cast<double>(tiles.instructions()) + pixels) / device.each.sharedBytes;
  const double multiply = passes * places * paired * std::max(products, reads);  // of a step
  const double elements = static_cast<double>(layout.allPixels) * depth;
  // Zeros need no instructions; of twins all numbers are taken to be brought, since either may be outside.
  const double share =
      static_cast<double>(std::min(problem.channels, tiles.channels)) / static_cast<double>(tiles.channels);
  const double loaded = elements * (tiles.channels == 8 ? share : 1.0);
  const double unique =
      static_cast<double>(tiles.parts) * pixels *
      static_cast<double>(problem.across().stride * (problem.down() == nullptr ? 1 : problem.down()->stride));
  const double ofInput = static_cast<double>(problem.channels) * ofElement * (1.0 + kAgain * (columns - 1.0)) /
                         columns * (unique + kOverlap * std::max(0.0, static_cast<double>(layout.allPixels) - unique));
  // Where only some channels of the tile are there, only these are stored.
  const double there = static_cast<double>(problem.shape.columnCount) / (columns * static_cast<double>(tiles.columns));
  const double memory = ofInput / static_cast<double>(problem.batchCount) * static_cast<double>(groupsOf(problem)) +
                        resultBytes * there * storedBytes(problem, tiles);
  const double following = followingInstructions(problem.region);
  const double finish =
      rows * pixels * ((problem.phases > 1 ? phases * kFinishStaged : kFinish) + phases * following * kPerFollowing);
  const auto rounds =
      static_cast<double>(divideUp(layout.allPixels * tiles.pieces(), tiles.gatherers() * layout.itemsAtOnce(tiles)));
  TileCost cost;
  cost.products = steps * multiply;
  cost.issue = (steps * loaded * (kPerElement + (tiles.isExact() ? kPerLow : 0.0)) +
                rows * results * ((problem.phases > 1 ? kPerStagedResult : kPerResult) + following) +
                steps * promotions * results / phases) /
               32.0 / kIssued;
  cost.copies =
      steps *
      (elements * kRead * ofElement + (layout.isKept ? 0.0 : static_cast<double>(tiles.stageBytes()) * places)) /
      device.each.cacheBytes;
  cost.memory = memory / (device.memoryBytes() * kReachedMemory);
  cost.bring = steps * (rounds * kRound + loaded / static_cast<double>(tiles.gatherers()) * kPerWarpElement) + kPerTile;
  cost.multiply = steps * (multiply + kPerStep + promotions * (kPerPromotion + pixels / 2.0) +
                           (layout.isKept ? 0.0 : places * kPerStage)) +
                  finish;
  cost.first = rounds * kRound + kPerTile + finish;
  return cost;
}

// Whole rounds of tiles.
std::optional<double> ConvWgmma::estimate(const Instance& instance) const {
  constexpr double kReachedByPass = 0.5;  // of the rate of memory
  constexpr double kWaits = 1.5e-6;       // seconds of the pass, until the first weights have come
  const HaloTiles tiles(instance);
  const HaloProblem problem = *HaloProblem::of(instance.region, tiles.channels);
  const HaloLayout layout(problem, tiles, instance.device);
  const DeviceRates device = DeviceRates::of(instance.device);
  const TileCost cost = costOf(problem, tiles, layout, device);
  const std::int64_t atOnce = device.multiprocessors * tiles.blocks;
  const double cycles = static_cast<double>(divideUp(layout.tiles, atOnce)) * cost.all(tiles, layout) + cost.first;
  const HaloWeights weights(problem, tiles);
  return device.launchSeconds + cycles / device.cyclesPerSecond + kWaits +
         secondsOfPass(device, 6.0 * static_cast<double>(weights.elements()), kReachedByPass);
}

}  // namespace

HaloTiles::HaloTiles(const Instance& instance)
    : mode(static_cast<ProductMode>(instance.value("mode"))),
      columns(instance.value("tile_columns", 128)),
      pixels(instance.value("tile_pixels", 256)),
      wide(instance.value("tile_width", 8)),
      channels(instance.value("tile_depth", 32)),
      depth(std::max<std::int64_t>(channels, 8)),
      parts(instance.value("parts", 1)),
      bring(instance.value("bring_groups", 1)),
      blocks(instance.value("blocks", 1)) {}

std::int64_t HaloTiles::channelsOfWarp(const HaloProblem& problem) const {
  const std::int64_t ofWarp = divideUp(problem.shape.columnCount, 4);
  return columns == 64 && ofWarp <= kRowsOfWarp / 2 ? ofWarp : kRowsOfWarp;
}

std::int64_t HaloTiles::bringRegisters() const {
  return std::min(kBringRegisters, firstRegisters());
}

std::int64_t HaloTiles::registers() const {
  const std::int64_t all = firstRegisters() * (groups() + bring);
  return std::min(kMostOfThread, (all - bringRegisters() * bring) / groups() / 8 * 8);
}

HaloLayout::HaloLayout(const HaloProblem& problem, const HaloTiles& of, const domain::DeviceInfo& device) {
  const HaloDim& right = problem.across();
  const HaloDim* const down = problem.down();
  const HaloDim* const far = problem.far();
  pitch = right.planeSize(of.width());
  rows = down == nullptr ? 1 : down->planeSize(of.height());
  pixels = pitch * rows * right.planes() * (down == nullptr ? 1 : down->planes());
  allPixels = pixels * of.parts;
  steps = problem.paddedChannels() / of.depth * (far == nullptr ? 1 : far->places);
  taps = right.places * (down == nullptr ? 1 : down->places);
  ofPatch = of.isPaired() ? roundUp(taps, 2) : taps;
  patchBytes = roundUp(allPixels * of.depth * 2 * of.halves(), 128);

  tilesAcross = divideUp(right.positions, of.width());
  tilesDown = down == nullptr ? 1 : divideUp(down->positions, of.height());
  places = tilesAcross * tilesDown;
  for (std::size_t i = 0; i + 2 < problem.dims.size(); ++i) {
    places *= problem.dims[i].positions;
  }
  columns = divideUp(problem.shape.columnCount, of.columns);
  const std::int64_t kinds = columns * problem.batchCount;  // of weights that a block may need
  tiles = kinds * divideUp(places, of.parts);
  blocks = std::min(tiles, std::max(1, device.multiprocessors) * of.blocks);

  const std::int64_t most = of.blocks == 1
                                ? device.sharedBytesPerBlock
                                : (device.sharedBytesPerBlock + kReservedOfBlock) / of.blocks - kReservedOfBlock;
  const std::int64_t ofPixel = 8 + (far == nullptr ? 0 : 4) + (problem.twin ? 4 : 0);
  pairs = kPlaces + roundUp(allPixels * ofPixel, 16);
  staged = roundUp(pairs + (hasPairTable(of) ? 2 * ofPatch : 0), 16);
  stagedBlocks = problem.phases < 4 && of.width() % 16 == 0 ? 2 : 1;
  stagedStride = problem.phases > 1 ? stagedBlocks * 8 * problem.phases + 4 : 0;
  const std::int64_t other = roundUp(staged + of.groups() * 4 * 8 * stagedStride * 4, 128);
  const std::int64_t room = most - other;
  const std::int64_t weightBytes = steps * problem.phases * ofPatch * of.stageBytes();
  // Blocks with an empty phase would always have it again.
  isKept = problem.blockBounds().empty() && kinds <= blocks && weightBytes + 2 * patchBytes <= room &&
           weightBytes < (std::int64_t{1} << 20);
  if (isKept) {
    blocks = blocks / kinds * kinds;
    stages = steps * problem.phases * ofPatch;
    patches = std::min(kMostPatches, (room - weightBytes) / patchBytes);
  } else {
    patches = 2;
    stages = std::clamp<std::int64_t>((room - patches * patchBytes) / of.stageBytes(), 0, kMostStages);
  }
  bytes = barriers(of) + other;
  // Weights that come in turns are released place by place.
  isPromoted = of.isExact() && (problem.hasPhases || !isKept || steps * ofPatch * of.depth > kMostUnpromoted);
  window = !isPromoted ? ofPatch : isKept ? std::max<std::int64_t>(1, kPromoted / of.depth) : 1;
}

std::vector<HaloPlace> HaloLayout::sortedPlaces(const HaloProblem& problem) const {
  const HaloDim& right = problem.across();
  const HaloDim* const down = problem.down();
  std::vector<HaloPlace> all;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    HaloPlace place{tap % right.places, tap / right.places, 0};
    const auto [planeX, x] = right.shiftOf(place.x);
    const auto [planeY, y] = down == nullptr ? std::pair<std::int64_t, std::int64_t>() : down->shiftOf(place.y);
    place.shift = ((planeY * right.planes() + planeX) * rows + y) * pitch + x;
    all.push_back(place);
  }
  std::sort(all.begin(), all.end(), [](const HaloPlace& a, const HaloPlace& b) { return a.shift < b.shift; });
  return all;
}

std::int64_t HaloLayout::itemsAtOnce(const HaloTiles& of) const {
  const std::int64_t items = divideUp(allPixels * of.pieces(), of.gatherers());  // of a thread
  return divideUp(items, divideUp(items, kMostItems));
}

void addConvWgmma(StrategyTable& table) {
  table.add(std::make_unique<ConvWgmma>());
}

}  // namespace swage::synth
