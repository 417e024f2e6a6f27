// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_wgmma.h"

#include <algorithm>

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
constexpr std::int64_t kReservedOfBlock = 1024;  // of shared memory, for each block

class ConvWgmma final : public Strategy {
 public:
  ConvWgmma() : Strategy(domain::Language::CudaCpp, "conv_wgmma") {}

  [[nodiscard]] bool accepts(const Region& region) const override { return HaloProblem::of(region, 16).has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const HaloTiles tiles(instance);
    const HaloProblem problem = *HaloProblem::of(instance.region, tiles.depth);
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
  [[nodiscard]] Result<> fitsLayout(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout) const;
};

Result<> ConvWgmma::fits(const Instance& instance) const {
  const HaloTiles tiles(instance);
  if (instance.device.computeCapability != kWgmmaCapability) {
    return unfit("only devices of compute capability 9.0 have wgmma");
  }
  SWAGE_TRY(fitsTiles(tiles));
  const auto problem = HaloProblem::of(instance.region, tiles.depth);
  if (!problem) {
    return unfit("its windows slide in another way");
  }
  SWAGE_TRY(fitsNumbers(*problem, tiles));
  return fitsLayout(*problem, tiles, HaloLayout(*problem, tiles, instance.device));
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
  if (tiles.pixels / 2 + kBesideSums > tiles.registers()) {
    return unfit("the sums of a thread do not fit into its registers");
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

Result<> ConvWgmma::fitsLayout(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout) const {
  if (layout.patches < 2 || layout.stages < 2) {
    return unfit("two patches and their weights do not fit into shared memory");
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
      (tiles.parts > 1 && layout.places < 2) || problem.paddedChannels() >= 2 * problem.channels + 8) {
    return unfit("half of the tile would be empty");
  }
  return {};
}

// Times the bytes of results that memory takes: parts of sectors, the more the shorter rows are in a tile.
double storedBytes(const HaloProblem& problem, const HaloTiles& tiles) {
  const ResultRows rows = resultRows(problem.region, problem.across().position);
  if (rows == ResultRows::InSectors) {
    return 1.4;  // this and the others: measured on an H100
  }
  if (tiles.width() >= 64) {
    return rows == ResultRows::Anywhere ? 2.2 : 2.8;
  }
  return tiles.width() >= 32 ? 3.2 : tiles.width() >= 16 ? 5.0 : 5.5;
}

// What warps that bring need for a patch, in cycles: instructions, or waiting for memory round after round.
double gatherCycles(const HaloTiles& tiles, const HaloLayout& layout) {
  constexpr double kPerElement = 6.5;  // instructions
  constexpr double kIssued = 3.0;      // of warps, in a cycle
  constexpr double kRound = 1900.0;    // cycles, of 32 channels of as many pixels as there are threads
  const auto rounds = static_cast<double>(divideUp(layout.allPixels, tiles.gatherers()) * divideUp(tiles.depth, 32)) /
                      static_cast<double>(tiles.blocks);
  const double issue = static_cast<double>(layout.allPixels * tiles.depth) / 32.0 * kPerElement / kIssued;
  return std::max(issue, rounds * kRound);
}

// Bounds of the throughput of a multiprocessor, of which the tightest counts.
std::optional<double> ConvWgmma::estimate(const Instance& instance) const {
  constexpr double kReached = 0.85;       // of the rate of tensor cores
  constexpr double kRead = 1.6;           // times the bytes of a patch: parts of sectors
  constexpr double kReachedByPass = 0.5;  // of the rate of memory
  constexpr double kPerStep = 120.0;      // cycles until the products of a step have ended
  constexpr double kLargeSteps = 1.15;    // times as long, where few large patches are on their way
  constexpr double kOverlap = 0.25;       // of what patches have in common with others, read from memory again
  constexpr double kPerResult = 2.2;      // cycles of a warp, from sums to memory
  constexpr double kBeside = 0.35;        // of that, where another block multiplies meanwhile
  const HaloTiles tiles(instance);
  const HaloProblem problem = *HaloProblem::of(instance.region, tiles.depth);
  const HaloLayout layout(problem, tiles, instance.device);
  const DeviceRates device = DeviceRates::of(instance.device);
  const auto groups = static_cast<double>(tiles.groups());
  const auto pixels = static_cast<double>(tiles.pixels);
  const auto depth = static_cast<double>(tiles.depth);
  const auto taps = static_cast<double>(layout.taps) * (problem.hasPhases ? 0.6 : 1.0);  // that a phase has, about
  const double multiply = groups * 64.0 * pixels * depth / (device.each.warpGroupAdds * kReached);
  const double reads =
      groups * depth * 2.0 * (64.0 * static_cast<double>(tiles.instructions()) + pixels) / device.each.sharedBytes;
  const auto ofElement = static_cast<double>(bytesOfElement(problem.region, problem.shape.left));
  const double copies = static_cast<double>(layout.allPixels) * depth * kRead * ofElement +
                        (layout.isKept ? 0.0 : static_cast<double>(tiles.stageBytes()) * taps);
  const double ofStep =
      std::max({taps * std::max(multiply, reads), gatherCycles(tiles, layout), copies / device.each.cacheBytes});
  const bool isBeside = tiles.blocks > 1;
  BlockWork work;
  work.count = layout.tiles;
  const double bubbles = tiles.depth > 32 && tiles.pixels >= 224 ? kLargeSteps : 1.0;
  work.cycles = static_cast<double>(layout.steps) * (ofStep * bubbles + kPerStep * (isBeside ? kBeside : 1.0)) +
                16.0 * pixels * kPerResult * (isBeside ? kBeside : 1.0);
  const double unique = static_cast<double>(tiles.parts) * pixels;
  work.bytes = groups * 64.0 * pixels * static_cast<double>(bytesOfResult(problem.region, problem.shape)) *
                   storedBytes(problem, tiles) +
               static_cast<double>(problem.channels) * ofElement *
                   (unique / static_cast<double>(layout.columns) +
                    kOverlap * std::max(0.0, static_cast<double>(layout.allPixels) - unique));
  const HaloWeights weights(problem, tiles);
  return device.launchSeconds + secondsOf(device, work) +
         secondsOfPass(device, 6.0 * static_cast<double>(weights.elements()), kReachedByPass);
}

}  // namespace

HaloTiles::HaloTiles(const Instance& instance)
    : mode(static_cast<ProductMode>(instance.value("mode"))),
      columns(instance.value("tile_columns", 128)),
      pixels(instance.value("tile_pixels", 256)),
      wide(instance.value("tile_width", 8)),
      depth(instance.value("tile_depth", 32)),
      parts(instance.value("parts", 1)),
      bring(instance.value("bring_groups", 1)),
      blocks(instance.value("blocks", 1)) {}

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
  patchBytes = roundUp(allPixels * of.depth * 2, 128);

  tilesAcross = divideUp(right.positions, of.width());
  tilesDown = down == nullptr ? 1 : divideUp(down->positions, of.height());
  places = tilesAcross * tilesDown;
  for (std::size_t i = 0; i + 2 < problem.dims.size(); ++i) {
    places *= problem.dims[i].positions;
  }
  columns = divideUp(problem.shape.columnCount, of.columns);
  const std::int64_t kinds = columns * problem.shape.batchCount;  // of weights that a block may need
  tiles = kinds * divideUp(places, of.parts);
  blocks = std::min(tiles, std::max(1, device.multiprocessors) * of.blocks);

  const std::int64_t most = of.blocks == 1
                                ? device.sharedBytesPerBlock
                                : (device.sharedBytesPerBlock + kReservedOfBlock) / of.blocks - kReservedOfBlock;
  const std::int64_t ofPixel = 8 + (far == nullptr ? 0 : 4);
  turned = roundUp(kPlaces + allPixels * ofPixel, 16);
  const std::int64_t other = roundUp(turned + of.groups() * 4 * 8 * kTurnedStride * 4, 128);
  const std::int64_t room = most - other;
  const std::int64_t weightBytes = steps * taps * of.stageBytes();
  isKept = !problem.hasPhases && kinds <= blocks && weightBytes + 2 * patchBytes <= room &&
           weightBytes < (std::int64_t{1} << 20);
  if (isKept) {
    blocks = blocks / kinds * kinds;
    stages = steps * taps;
    patches = std::min(kMostPatches, (room - weightBytes) / patchBytes);
  } else {
    patches = 2;
    stages = std::clamp<std::int64_t>((room - patches * patchBytes) / of.stageBytes(), 0, kMostStages);
  }
  bytes = barriers(of) + other;
}

void addConvWgmma(StrategyTable& table) {
  table.add(std::make_unique<ConvWgmma>());
}

}  // namespace swage::synth
