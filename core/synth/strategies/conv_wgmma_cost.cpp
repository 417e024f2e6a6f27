// SPDX-License-Identifier: Apache-2.0
// How long a convolution by wgmma is expected to take.
#include <algorithm>
#include <cmath>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma.h"

namespace swage::synth {
namespace {

// Times the bytes of results that memory takes: parts of sectors, the more the shorter rows are in a tile, and the more
// rows it has. Rows that go through shared memory are stored in whole lines.
double storedBytes(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout) {
  const bool isPooled = problem.folds == HaloFolds::Windows;
  const std::vector<Store>& stores = isPooled ? problem.foldStores : problem.resultStores;
  if (stores.empty()) {
    return 1.0;
  }
  constexpr double kOfRow = 14.0;    // results more, where rows begin anywhere
  constexpr double kOfPhases = 8.0;  // where phases lie side by side
  constexpr double kOfRows = 0.155;  // for twice as many
  constexpr double kOfStagedRows = 0.05;
  const double width = static_cast<double>(tiles.width()) / static_cast<double>(problem.poolAcross.size);
  const double height = static_cast<double>(tiles.height()) / static_cast<double>(problem.poolDown.size);
  const bool areRowsStaged = problem.phases == 1 && layout.stagedStride > 0;
  const double ofRows = 1.0 + (areRowsStaged ? kOfStagedRows : kOfRows) * std::log2(std::max(1.0, height));
  if (problem.phases > 1) {
    return ofRows * (1.05 + kOfPhases / (width * static_cast<double>(problem.phases)));
  }
  if (areRowsStaged) {
    return ofRows * 1.05;
  }
  const std::size_t across = problem.poolAcross.windows.value_or(problem.across().position);
  switch (resultRows(problem.region.operands[static_cast<std::size_t>(stores.front().operand)], across)) {
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

double ofWindow(const HaloProblem& problem) {
  return static_cast<double>(problem.poolAcross.size * problem.poolDown.size);
}

// About how many instructions a thread needs for what becomes of one sum.
double followingInstructions(const HaloProblem& problem) {
  std::vector<int> prims = storedPrims(problem.resultStores);
  for (const Fold& fold : problem.region.folds) {
    if (fold.later) {
      prims.push_back(fold.input);
    }
  }
  double following = instructionsOf(problem.region, prims);
  if (problem.folds == HaloFolds::Windows) {
    following += instructionsOf(problem.region, storedPrims(problem.foldStores)) / ofWindow(problem);
  }
  return following;
}

// What memory moves of tensors as large as the result, for each sum: what is found of positions has images and
// channels, too.
double bytesOfSum(const HaloProblem& problem) {
  ProductShape shape = problem.shape;
  if (problem.folds == HaloFolds::Positions || problem.folds == HaloFolds::Windows) {
    shape.rows = {problem.across().position};
  }
  auto bytes = static_cast<double>(bytesOfResult(problem.region, shape));
  if (problem.folds == HaloFolds::Windows) {
    shape.rows = {*problem.poolAcross.windows};
    bytes += static_cast<double>(bytesOfResult(problem.region, shape)) / ofWindow(problem);
  }
  return bytes;
}

// Constants fit 108 programs of 18 convolutions on an H100, and some that are exact, of which the test of the order has
// the times. What becomes of sums fits 190 programs that searches of seven problems of KernelBench have timed on an
// H200. Those of folds fit nothing measured: they say that folding takes longer than not to.
TileCost costOf(const HaloProblem& problem, const HaloTiles& tiles, const HaloLayout& layout,
                const DeviceRates& device) {
  constexpr double kReached = 0.95;        // of the rate of tensor cores
  constexpr double kReachedMemory = 0.78;  // of the rate of copies
  constexpr double kPerElement = 5.0;      // instructions, of a number that is brought
  constexpr double kPerLow = 4.0;          // and of its low half
  constexpr double kPerResult = 6.0;       // from a sum to memory
  constexpr double kPerStagedResult = 8.0;
  constexpr double kIssued = 4.0;          // instructions of warps, in a cycle
  constexpr double kPerWarpElement = 2.0;  // cycles of a warp that brings, for 32 numbers
  constexpr double kRound = 300.0;         // cycles, until what threads have asked for is laid out
  constexpr double kPerTile = 600.0;       // where pixels lie, what the largest was
  constexpr double kPerStep = 1500.0;      // until a patch is known to be there, and its products have ended
  constexpr double kPerStage = 230.0;      // of weights that are brought anew
  constexpr double kPerPromotion = 250.0;  // until products have ended, and others begin
  constexpr double kFinish = 3.0;          // for a position of a warp group, from its sums to memory
  constexpr double kFinishStaged = 12.0;   // and phase
  constexpr double kUsual = 2.0;           // instructions that follow a sum, and are counted in these
  constexpr double kPerFollowing = 0.5;    // for an instruction more
  constexpr double kFewRegisters = 128;    // of a thread at first; with fewer the compiler spills
  constexpr double kSpilled = 2.0;         // times as long
  constexpr double kFoldChannels = 6.0;    // for each fold
  constexpr double kFoldPositions = 3.0;
  constexpr double kFoldWindows = 1.5;
  constexpr double kRead = 1.2;     // times the bytes of a patch: parts of sectors
  constexpr double kOverlap = 0.4;  // of what patches have in common with others, read from memory again
  constexpr double kAgain = 0.2;    // of what blocks with other channels of the result have read
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
  const double resultBytes = results * bytesOfSum(problem);

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
                        resultBytes * there * storedBytes(problem, tiles, layout);
  const bool isPooled = problem.folds == HaloFolds::Windows;
  const double stored = isPooled                       ? kFinish / ofWindow(problem)
                        : problem.resultStores.empty() ? 0.0
                        : problem.phases > 1           ? phases * kFinishStaged
                                                       : kFinish;
  const double folded = problem.folds == HaloFolds::Channels    ? kFoldChannels
                        : problem.folds == HaloFolds::Positions ? kFoldPositions
                        : isPooled                              ? kFoldWindows
                                                                : 0.0;
  const double folds = static_cast<double>(std::ssize(problem.region.folds) - 1);
  const double following = std::max(0.0, followingInstructions(problem) - kUsual);
  const double finish = rows * pixels * (stored + phases * (folds * folded + following * kPerFollowing)) *
                        (static_cast<double>(tiles.firstRegisters()) < kFewRegisters ? kSpilled : 1.0);
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

// Times as long as without it, where numbers come to shared memory before they are shortened: loads no longer wait for
// each other, but each number goes through shared memory once more, which counts where it is multiplied often. Fits
// 266 pairs of programs of 17 convolutions on an H200, which took 0.85 of the time where windows have one place,
// and 1.1 where they have 27.
double ofStreaming(const HaloTiles& tiles, const HaloLayout& layout) {
  constexpr double kOfOnePlace = 0.87;
  constexpr double kOfPlaces = 0.076;
  constexpr double kOfTwoRounds = 1.02;
  if (!tiles.isStreamed()) {
    return 1.0;
  }
  return kOfOnePlace * std::pow(static_cast<double>(layout.taps), kOfPlaces) * (tiles.ahead < 3 ? kOfTwoRounds : 1.0);
}

}  // namespace

// Whole rounds of tiles.
double secondsOfHaloConv(const Instance& instance) {
  constexpr double kReachedByPass = 0.5;  // of the rate of memory
  constexpr double kWaits = 1.5e-6;       // seconds of the pass, until the first weights have come
  const HaloTiles tiles(instance);
  const HaloProblem problem = *HaloProblem::of(instance.region, tiles.channels);
  const HaloLayout layout(problem, tiles, instance.device);
  const DeviceRates device = DeviceRates::of(instance.device);
  const TileCost cost = costOf(problem, tiles, layout, device);
  const std::int64_t atOnce = device.multiprocessors * tiles.blocks;
  const double cycles =
      static_cast<double>(divideUp(layout.tiles, atOnce)) * cost.all(tiles, layout) * ofStreaming(tiles, layout) +
      cost.first;
  const HaloWeights weights(problem, tiles);
  const double joined =
      problem.folds == HaloFolds::Positions
          ? device.launchSeconds +
                secondsOfPass(device, 8.0 * static_cast<double>(HaloFindings(problem, layout).floats()), kReachedByPass)
          : 0.0;
  return device.launchSeconds + cycles / device.cyclesPerSecond + kWaits + joined +
         secondsOfPass(device, 6.0 * static_cast<double>(weights.elements()), kReachedByPass);
}

}  // namespace swage::synth
