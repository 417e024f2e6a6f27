// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_wgmma.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_mma.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kWgmmaCapability = 90;
constexpr std::int64_t kBringRegisters = 72;     // 32 numbers on their way, where pixels lie
constexpr std::int64_t kBesideSums = 40;         // of a thread that multiplies, beside its sums
constexpr std::int64_t kBesideFolds = 24;        // more, where channels are folded
constexpr std::int64_t kBesideInstruction = 26;  // as the assembler says
constexpr std::int64_t kMostOfThread = 240;
constexpr std::int64_t kMostItems = 4;             // of 8 channels, on their way through registers
constexpr std::int64_t kMostStreamedItems = 2;     // the same, where they come to shared memory first
constexpr std::int64_t kReservedOfBlock = 1024;    // of shared memory, for each block
constexpr std::int64_t kLeastStagedRow = 32;       // positions that go through shared memory on their way out
constexpr std::int64_t kMostStagedPositions = 64;  // at once
constexpr std::int64_t kEnoughStages = 4;          // of weights in turns: more are no reason to store results apart
constexpr std::int64_t kMostPairedPlaces = 64;     // whose products are written one after another
// Of the sum, which tensor cores may add up without low bits before it costs accuracy: altogether, and at a time.
constexpr std::int64_t kMostUnpromoted = 128;
constexpr std::int64_t kPromoted = 80;
// The same where results are averaged: tensor cores round towards zero, and a mean does not average that out.
constexpr std::int64_t kPromotedOfMean = 32;

// Whether sums of results are all that is stored.
bool isAveraged(const HaloProblem& problem) {
  const std::vector<Fold>& folds = problem.region.folds;
  return problem.region.elementStores.empty() && std::any_of(folds.begin(), folds.end(), [](const Fold& fold) {
           return fold.later && fold.kind == FoldKind::Sum;
         });
}

class ConvWgmma final : public Strategy {
 public:
  ConvWgmma() : Strategy(domain::Language::CudaCpp, "conv_wgmma") {}

  [[nodiscard]] Example example() const override { return examples::convolution(); }
  [[nodiscard]] bool isForConvolutions() const override { return true; }
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
    if (problem.folds == HaloFolds::Positions) {
      const HaloFindings findings(problem, layout);
      launch.scratch.push_back(domain::contiguousTensor(domain::ScalarType::Float32, {findings.floats()}));
      launch.more.push_back(findings.step(entry + "_join"));
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeHaloConv(instance, launch, number);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    return secondsOfHaloConv(instance);
  }

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
  if (tiles.isStreamed() && !tiles.isSplit()) {
    return unfit("only floats come to shared memory before they are shortened");
  }
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

// Why later folds cannot be made with such tiles; null where they can.
const char* unfitFolds(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout) {
  if (problem.folds == HaloFolds::Channels && tiles.columns < problem.shape.columnCount) {
    return "the channels that it folds are in several tiles";
  }
  if (tiles.width() % problem.poolAcross.size != 0 || tiles.height() % problem.poolDown.size != 0) {
    return "the windows that it folds reach over the edges of tiles";
  }
  if (problem.folds != HaloFolds::Positions) {
    return nullptr;
  }
  const HaloDim* const down = problem.down();
  if (down != nullptr && tiles.height() > 1 && !problem.region.axes[down->position].isFoldedLater) {
    return "a tile has positions of several results";
  }
  return HaloFindings(problem, layout).floats() > kLargestInt / 2 ? "tiles find more than an int can number" : nullptr;
}

Result<> ConvWgmma::fitsLayout(const Instance& instance, const HaloProblem& problem, const HaloTiles& tiles) const {
  const HaloLayout layout(problem, tiles, instance.device);
  const std::int64_t beside = kBesideSums + (problem.folds == HaloFolds::Channels ? kBesideFolds : 0);
  if ((problem.phases + (layout.isPromoted ? 1 : 0)) * tiles.pixels / 2 + beside > tiles.registers()) {
    return unfit("the sums of a thread do not fit into its registers");
  }
  if (tiles.isPaired() && (!layout.isKept || problem.hasPhases || layout.taps > kMostPairedPlaces)) {
    return unfit("two places of the window go together where all weights stay, in the same order for all tiles");
  }
  if (const char* const why = unfitFolds(problem, tiles, layout)) {
    return unfit(why);
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

// How many neighbours of a row of results a thread stores where these go through shared memory; 0: they should not.
// On an H200 that took 0.91 of the time over 54 programs of seven convolutions, 0.73 where results are most of the
// memory traffic. Floats in rows that are not aligned so took up to 1.18 times as long, so they stay in registers.
std::int64_t neighboursOfRows(const HaloProblem& problem, const HaloTiles& tiles) {
  if (problem.phases > 1 || problem.resultStores.size() != 1 || tiles.width() % kLeastStagedRow != 0) {
    return 0;
  }
  const Operand& result = problem.region.operands[static_cast<std::size_t>(problem.resultStores.front().operand)];
  const std::size_t across = problem.across().position;
  const std::size_t bytes = domain::byteSize(result.dtype);
  if (bytes > 4 || !result.bounds.empty() || result.strides[across] != 1) {
    return 0;
  }
  const auto areMultiples = [&](std::int64_t count) {
    return rowsStartAt(result, {across}, count) && problem.across().positions % count == 0;
  };
  return areMultiples(4) ? 4 : bytes <= 2 && areMultiples(2) ? 2 : 0;
}

// The same for phases whose results lie between each other, so that a row begins with that of the first phase.
std::int64_t neighboursOfPhases(const HaloProblem& problem) {
  if (!problem.phase || problem.phaseStep != 1 || problem.resultStores.size() != 1 ||
      problem.readsPositions(problem.resultStores.front().prim)) {
    return 1;
  }
  const Operand& result = problem.region.operands[static_cast<std::size_t>(problem.resultStores.front().operand)];
  const std::size_t across = problem.across().position;
  if (result.dtype != domain::ScalarType::Float32 || !result.bounds.empty() ||
      result.strides[across] != problem.phases || result.strides[*problem.phase] != 1) {
    return 1;
  }
  const auto areMultiples = [&](std::int64_t count) {
    return rowsStartAt(result, {across, *problem.phase}, count) &&
           std::all_of(problem.results.begin(), problem.results.end(), [&](const Bound& bound) {
             return bound.factors[*problem.phase] == 0 || (bound.offset == 0 && bound.extent % count == 0);
           });
  };
  return areMultiples(4) ? 4 : areMultiples(2) ? 2 : 1;
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
      blocks(instance.value("blocks", 1)),
      ahead(instance.value("ahead")) {}

std::int64_t HaloTiles::channelsOfWarp(const HaloProblem& problem) const {
  const std::int64_t ofWarp = divideUp(problem.shape.columnCount, 4);
  // Folds hold each channel in the row that it has of 64.
  return problem.folds == HaloFolds::None && columns == 64 && ofWarp <= kRowsOfWarp / 2 ? ofWarp : kRowsOfWarp;
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

  const std::int64_t ofPixel = 8 + (far == nullptr ? 0 : 4) + (problem.twin ? 4 : 0);
  pairs = kPlaces + roundUp(allPixels * ofPixel * tables(of), 16);
  staged = roundUp(pairs + (hasPairTable(of) ? 2 * ofPatch : 0), 16);
  stagedBlocks = problem.phases < 4 && of.width() % 16 == 0 ? 2 : 1;
  if (problem.folds == HaloFolds::Channels) {
    const std::int64_t kept = std::ssize(keptOfFolds(problem));
    foldedFloats = (4 * of.groupsAcross() + kept) * of.pixels * problem.phases;
  }
  share(problem, of, device, problem.phases > 1 ? stagedBlocks * 8 * problem.phases + 4 : 0);
  stagedNeighbours = neighboursOfPhases(problem);
  if (const std::int64_t neighbours = neighboursOfRows(problem, of); neighbours > 0) {
    HaloLayout staging = *this;
    staging.stagedNeighbours = neighbours;
    staging.stagedBlocks = (of.width() % kMostStagedPositions == 0 ? kMostStagedPositions : kLeastStagedRow) / 8;
    staging.share(problem, of, device, staging.stagedBlocks * 8 + 8);
    if (staging.isKept == isKept && staging.patches == patches && staging.stages >= std::min(stages, kEnoughStages)) {
      *this = staging;
    }
  }
  if (isKept) {
    blocks = blocks / kinds * kinds;
  }
  // Weights that come in turns are released place by place.
  const bool isMean = isAveraged(problem);
  const std::int64_t most = isMean ? kPromotedOfMean : kMostUnpromoted;
  isPromoted = of.isExact() && (problem.hasPhases || !isKept || steps * ofPatch * of.depth > most);
  window = !isPromoted ? ofPatch
           : isKept    ? std::max<std::int64_t>(1, (isMean ? kPromotedOfMean : kPromoted) / of.depth)
                       : 1;
}

// Behind patches and weights: tables, what is staged, with so many floats from one channel to the next, and folds.
void HaloLayout::share(const HaloProblem& problem, const HaloTiles& of, const domain::DeviceInfo& device,
                       std::int64_t stride) {
  stagedStride = stride;
  folded = roundUp(staged + of.groups() * 4 * 8 * stagedStride * 4, 16);
  const std::int64_t memory = of.blocks == 1
                                  ? device.sharedBytesPerBlock
                                  : (device.sharedBytesPerBlock + kReservedOfBlock) / of.blocks - kReservedOfBlock;
  arriving = roundUp(folded + of.parts * foldedFloats * 4, 16);
  const std::int64_t arrivingFloats = of.ahead * itemsAtOnce(of) * 8 * of.gatherers();
  const std::int64_t other = roundUp(arriving + arrivingFloats * 4, 128);
  const std::int64_t room = memory - other;
  const std::int64_t weightBytes = steps * problem.phases * ofPatch * of.stageBytes();
  // Blocks with an empty phase would always have it again.
  isKept = problem.blockBounds().empty() && columns * problem.batchCount <= blocks &&
           weightBytes + 2 * patchBytes <= room && weightBytes < (std::int64_t{1} << 20);
  if (isKept) {
    stages = steps * problem.phases * ofPatch;
    patches = std::min(kMostPatches, (room - weightBytes) / patchBytes);
  } else {
    patches = 2;
    stages = std::clamp<std::int64_t>((room - patches * patchBytes) / of.stageBytes(), 0, kMostStages);
  }
  bytes = barriers(of) + other;
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
  const std::int64_t most = of.isStreamed() ? kMostStreamedItems : kMostItems;
  return divideUp(items, divideUp(items, most));
}

std::int64_t HaloLayout::rounds(const HaloTiles& of) const {
  return divideUp(allPixels * of.pieces(), of.gatherers() * itemsAtOnce(of));
}

double instructionsOf(const Region& region, const std::vector<int>& prims, int held) {
  static const std::map<std::string_view, double> costs{
      {"exp", 10.0},     {"erf", 28.0}, {"tanh", 18.0},  {"log", 14.0},       {"div", 10.0}, {"inverse", 2.0},
      {"sigmoid", 14.0}, {"sqrt", 8.0}, {"rsqrt", 10.0}, {"reciprocal", 8.0}, {"pow", 40.0}};
  std::vector<bool> isSeen(region.prims.size(), false);
  const std::function<double(int)> count = [&](int prim) {
    const Prim& self = region.prims[static_cast<std::size_t>(prim)];
    if (prim == held || self.kind != Prim::Kind::Call || isSeen[static_cast<std::size_t>(prim)]) {
      return 0.0;
    }
    isSeen[static_cast<std::size_t>(prim)] = true;
    const auto known = costs.find(self.function);
    double sum = known == costs.end() ? 1.0 : known->second;
    for (const int arg : self.args) {
      sum += count(arg);
    }
    return sum;
  };
  return std::accumulate(prims.begin(), prims.end(), 0.0, [&](double sum, int prim) { return sum + count(prim); });
}

// What a kept value is computed from besides its last fold has to be kept until then.
void keepEarlier(const HaloProblem& problem, std::vector<int>& kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const int last = problem.lastFold(kept[i]);
    const std::function<void(int)> collect = [&](int prim) {
      const Prim& self = problem.region.prims[static_cast<std::size_t>(prim)];
      if (std::find(kept.begin(), kept.end(), prim) != kept.end()) {
        return;
      }
      if (self.kind == Prim::Kind::Folded && self.fold != last) {
        kept.push_back(prim);
      }
      std::for_each(self.args.begin(), self.args.end(), collect);
    };
    const std::vector<int>& args = problem.region.prims[static_cast<std::size_t>(kept[i])].args;
    std::for_each(args.begin(), args.end(), collect);
  }
}

std::vector<int> keptOfFolds(const HaloProblem& problem) {
  const Region& region = problem.region;
  std::vector<int> kept;
  std::vector<bool> isSeen(region.prims.size(), false);
  const std::function<void(int)> collect = [&](int prim) {
    const Prim& self = region.prims[static_cast<std::size_t>(prim)];
    if (isSeen[static_cast<std::size_t>(prim)]) {
      return;
    }
    isSeen[static_cast<std::size_t>(prim)] = true;
    if (problem.isFound(prim) && problem.isUniform(prim) && self.type == Compute::F32) {
      kept.push_back(prim);
      return;
    }
    std::for_each(self.args.begin(), self.args.end(), collect);
  };
  for (const auto* stores : {&problem.resultStores, &problem.foldStores}) {
    for (const Store& store : *stores) {
      collect(store.prim);
    }
  }
  for (const Fold& fold : region.folds) {
    if (fold.later) {
      collect(fold.input);
    }
  }
  keepEarlier(problem, kept);
  std::stable_sort(kept.begin(), kept.end(), [&](int a, int b) {
    return region.prims[static_cast<std::size_t>(a)].ready < region.prims[static_cast<std::size_t>(b)].ready;
  });
  return kept;
}

void addConvWgmma(StrategyTable& table) {
  table.add(std::make_unique<ConvWgmma>());
}

}  // namespace swage::synth
