// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/strategies/conv_halo.h"

// Convolutions by wgmma (compute capability 9.0) that bring each number of the input into shared memory once for all
// places of the window. What the strategy shares with the text of its kernels.
//
// Patches lie in shared memory as [8 channels][pixel][channel], without a swizzle, so that 8 pixels side by side are
// 128 bytes that may begin at any pixel. The right operand of wgmma is groups of 8 pixels with the same distance
// between them: a tile that is 8 positions wide, or a row. For the next place of the window it begins some pixels
// later. Of 8 channels an instruction takes two places of the window: their pixels have one distance in the whole
// patch. Of at most 4 channels the 8 numbers of a pixel may be those of two places (HaloProblem::twin).
//
// Exact products take floats as two halves, x * 2^exponent = high + low, in patches and weights alike. All three
// products go into the same sums, those with a low half first, as long as the sums are small.
namespace swage::synth {

// The numbers of an instance.
struct HaloTiles {
  ProductMode mode = ProductMode::Native;
  std::int64_t columns = 0;   // channels of the result, of a block
  std::int64_t pixels = 0;    // positions of a warp group
  std::int64_t wide = 0;      // of these side by side; 0: all
  std::int64_t channels = 0;  // of the input, brought at a time; 4: of two places of the window (HaloProblem::twin)
  std::int64_t depth = 0;     // of the sum, for one place of the window
  std::int64_t parts = 1;     // tiles of positions, of a block
  std::int64_t bring = 1;     // warp groups that bring
  std::int64_t blocks = 1;    // on a multiprocessor at once
  std::int64_t ahead = 0;     // rounds of numbers on their way to shared memory

  explicit HaloTiles(const Instance& instance);

  [[nodiscard]] bool isSplit() const { return mode != ProductMode::Native; }  // floats, which are shortened
  // Whether numbers come to shared memory as they are, also those of the next tile, before they are shortened.
  [[nodiscard]] bool isStreamed() const { return ahead > 0; }
  [[nodiscard]] bool isExact() const { return mode == ProductMode::Fp16x3; }
  [[nodiscard]] std::int64_t halves() const { return isExact() ? 2 : 1; }  // of a number
  [[nodiscard]] bool isPaired() const { return depth == 8; }               // two places of the window at once
  [[nodiscard]] std::int64_t width() const { return wide == 0 ? pixels : wide; }
  [[nodiscard]] std::int64_t height() const { return wide == 0 ? 1 : pixels / wide; }
  // Whether an instruction takes positions of one row, others rows below or the other half; else those of 8 columns.
  [[nodiscard]] bool isByRows() const { return wide == 0 || wide >= 64; }
  // Of a warp group for the same 16 channels of the input.
  [[nodiscard]] std::int64_t instructions() const {
    return wide == 0 ? (pixels > 128 ? 2 : 1) : isByRows() ? pixels / wide : wide / 8;
  }
  // Channels of the result of a warp: where there are few, all warps have some of them, in the first half of their
  // rows.
  static constexpr std::int64_t kRowsOfWarp = 16;
  [[nodiscard]] std::int64_t channelsOfWarp(const HaloProblem& problem) const;
  [[nodiscard]] std::int64_t instructionPixels() const { return pixels / instructions(); }
  [[nodiscard]] std::int64_t groupsAcross() const { return columns / 64; }
  [[nodiscard]] std::int64_t groups() const { return groupsAcross() * parts; }  // that multiply
  [[nodiscard]] std::int64_t threads() const { return (groups() + bring) * 128; }
  [[nodiscard]] std::int64_t gatherers() const { return bring * 128 - 32; }  // one warp has weights brought
  [[nodiscard]] std::int64_t pieces() const { return depth / 8; }
  [[nodiscard]] std::int64_t halfBytes() const { return columns * depth * 2; }      // of the high halves of one place
  [[nodiscard]] std::int64_t stageBytes() const { return halfBytes() * halves(); }  // weights of one place
  // Of a thread: when the block starts, when it brings, when it multiplies.
  [[nodiscard]] std::int64_t firstRegisters() const { return 65536 / (threads() * blocks) / 8 * 8; }
  [[nodiscard]] std::int64_t bringRegisters() const;
  [[nodiscard]] std::int64_t registers() const;
};

// A place of the window, and the pixels of a patch from its first one to those that belong to the place.
struct HaloPlace {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t shift = 0;
};

// Where everything lies in shared memory, and how many tiles there are.
struct HaloLayout {
  std::int64_t pitch = 0;   // pixels of a row of a plane
  std::int64_t rows = 0;    // of a plane
  std::int64_t pixels = 0;  // of the patch of one part
  std::int64_t allPixels = 0;
  std::int64_t steps = 0;  // patches for one tile
  std::int64_t taps = 0;   // places of the window in a patch
  // Of weights, for a patch: one for each place, and one of zeros behind an odd count of places that are paired.
  std::int64_t ofPatch = 0;
  std::int64_t patchBytes = 0;
  std::int64_t patches = 0;  // at a time
  std::int64_t stages = 0;   // of weights, at a time
  bool isKept = false;       // all weights of a block stay
  // Exact products: whether what tensor cores add up, without low bits, goes into sums in float from time to time, and
  // after how many places of the window at most.
  bool isPromoted = false;
  std::int64_t window = 0;
  std::int64_t pairs = 0;  // where the table of paired places is, behind patches and weights
  std::int64_t bytes = 0;
  // Results on their way out, where a warp brings those of a channel side by side: phases, or long rows where shared
  // memory has room.
  std::int64_t stagedBlocks = 1;      // of 8 positions, at a time
  std::int64_t staged = 0;            // bytes behind patches and weights
  std::int64_t stagedStride = 0;      // floats, from one channel to the next; 0: they are stored as threads have them
  std::int64_t stagedNeighbours = 1;  // that a thread stores at once: all of them are results, or none

  std::int64_t folded = 0;        // bytes behind patches and weights, where channels are folded: of all parts
  std::int64_t foldedFloats = 0;  // of a part: what each warp and then all of them have found of each position

  std::int64_t arriving = 0;  // bytes behind patches and weights, where numbers are streamed

  std::int64_t tilesAcross = 0;
  std::int64_t tilesDown = 0;
  std::int64_t places = 0;   // tiles of positions
  std::int64_t columns = 0;  // tiles of channels
  std::int64_t tiles = 0;    // of blocks
  std::int64_t blocks = 0;   // that run at once

  HaloLayout(const HaloProblem& problem, const HaloTiles& of, const domain::DeviceInfo& device);

  // Behind patches and weights: barriers, what became of patches, and where each pixel lies.
  static constexpr std::int64_t kMostPatches = 3;
  static constexpr std::int64_t kMostStages = 8;  // of weights that do not stay
  static constexpr std::int64_t kEmptyPatch = 8 * kMostPatches;
  static constexpr std::int64_t kFullStage = 2 * kEmptyPatch;
  static constexpr std::int64_t kEmptyStage = kFullStage + 8 * kMostStages;
  static constexpr std::int64_t kVerdicts = kEmptyStage + 8 * kMostStages;
  static constexpr std::int64_t kLargest = kVerdicts + 4 * kMostPatches;
  static constexpr std::int64_t kPlaces = 208;
  static_assert(kLargest + std::int64_t{3} * 4 <= kPlaces);
  // Pixels of a patch from one instruction to the next.
  [[nodiscard]] std::int64_t instructionStep(const HaloTiles& of) const {
    return of.wide == 0 ? of.instructionPixels() : of.isByRows() ? pitch : 8;
  }
  // Whether pairs of places are looked up: where there are many, their products are no text of their own.
  [[nodiscard]] bool hasPairTable(const HaloTiles& of) const { return of.isPaired() && ofPatch > 10; }
  // All places in a patch, those that begin earlier first.
  [[nodiscard]] std::vector<HaloPlace> sortedPlaces(const HaloProblem& problem) const;
  // Of 8 channels of a pixel, through the registers of a thread that brings.
  [[nodiscard]] std::int64_t itemsAtOnce(const HaloTiles& of) const;
  // Of these, until a thread has brought a patch.
  [[nodiscard]] std::int64_t rounds(const HaloTiles& of) const;
  // Of pixels: of the tile that is brought, and of the next one where that is on its way.
  [[nodiscard]] std::int64_t tables(const HaloTiles& of) const { return of.isStreamed() ? 2 : 1; }
  [[nodiscard]] std::int64_t barriers(const HaloTiles& of) const {
    return patches * patchBytes + stages * of.stageBytes();
  }

 private:
  void share(const HaloProblem& problem, const HaloTiles& of, const domain::DeviceInfo& device, std::int64_t stride);
};

// About how many instructions a thread needs for these prims of one result, without those behind `held` and what is
// found by later folds.
[[nodiscard]] double instructionsOf(const Region& region, const std::vector<int>& prims, int held = -1);

// What is kept of later folds of channels for each position of a tile: values that are the same for all its channels,
// in the order of their stages.
[[nodiscard]] std::vector<int> keptOfFolds(const HaloProblem& problem);

// What tiles have found of later folds over positions, in scratch memory: [tile][number][channel of the result]. The
// numbers of a fold are one, or of a MomentPair how many elements, their mean and their squared deviations.
struct HaloFindings {
  std::int64_t numbers = 0;
  std::int64_t channels = 0;
  std::int64_t tiles = 0;         // with those of groups or phases
  std::int64_t tilesOfGroup = 1;  // that one result is made of
  std::int64_t channelsOfGroup = 1;

  HaloFindings(const HaloProblem& problem, const HaloLayout& layout);

  [[nodiscard]] std::int64_t floats() const { return numbers * channels * tiles; }
  // Of the kernel that joins them: results of a block are those of neighbouring channels, or one of several channels.
  static constexpr std::int64_t kOfBlock = 8;
  [[nodiscard]] bool isByChannels() const { return channelsOfGroup == 1; }
  [[nodiscard]] std::int64_t blocksOfTile() const;  // for the same tiles
  [[nodiscard]] std::int64_t threads() const;
  [[nodiscard]] domain::KernelStep step(const std::string& entry) const;
};

// The weights in scratch memory, written by a pass of its own: [group or phase][place of the window][8 channels of the
// input][channel of the result][channel of the input], behind these the low halves in the same way, and for floats the
// exponent of each channel of the result (product_parts.h).
struct HaloWeights {
  PartFormat format;
  std::int64_t lines = 0;  // channels of the result, padded to whole tiles
  std::int64_t depth = 0;  // places of the window times channels of the input
  std::int64_t batch = 1;
  std::int64_t pieces = 0;  // of 8 channels of the input
  std::int64_t ofWarp = HaloTiles::kRowsOfWarp;

  HaloWeights(const HaloProblem& problem, const HaloTiles& tiles);

  [[nodiscard]] std::int64_t elements() const { return batch * lines * depth; }  // of one half
  // Of the pass.
  [[nodiscard]] std::int64_t threadsOfLine() const;
  [[nodiscard]] std::int64_t linesOfBlock() const;
  [[nodiscard]] std::int64_t ofThread() const;  // weights that it reads
  [[nodiscard]] std::int64_t sharedBytes() const { return linesOfBlock() * depth * 4; }
  [[nodiscard]] std::vector<domain::TensorType> scratch() const;
  [[nodiscard]] domain::KernelStep step(const std::string& entry) const;
  void write(const HaloProblem& problem, KernelWriter& writer, const std::string& entry, const std::string& planes,
             const std::string& exponents) const;
};

// How long all launches are expected to take.
[[nodiscard]] double secondsOfHaloConv(const Instance& instance);

// The pass that shortens the weights, and the convolution, for the launches of the strategy.
[[nodiscard]] KernelText writeHaloConv(const Instance& instance, const Launch& launch, int number);

}  // namespace swage::synth
