// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/synth/strategies/conv_mma.h"

// Convolutions as tiles of positions that need a patch of the input each: the positions themselves and what windows
// reach over their edges.
namespace swage::synth {

// A dimension of the input, along which positions lie and a window may slide: coordinate = stride * position + step *
// place + offset + what follows from group and phase.
struct HaloDim {
  std::size_t position = 0;           // axis
  std::optional<std::size_t> window;  // axis
  std::int64_t positions = 1;
  std::int64_t places = 1;
  std::int64_t stride = 1;
  std::int64_t step = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> factors;  // of all axes; those of role Batch count
  std::int64_t extent = 1;            // of the input
  std::int64_t elements = 1;          // of memory from one coordinate to the next

  [[nodiscard]] std::int64_t reach() const { return (step < 0 ? -step : step) * (places - 1); }
  // From the first coordinate of a window to that of its place 0.
  [[nodiscard]] std::int64_t behind() const { return step < 0 ? reach() : 0; }
  // Coordinates with the same remainder lie in a plane of their own, so that neighbours there are those of positions.
  [[nodiscard]] std::int64_t planes() const {
    return step % stride == 0 ? 1 : stride < reach() + 1 ? stride : reach() + 1;
  }
  // From the first coordinate of a window to that of a place: the number of its plane, and coordinates in that.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> shiftOf(std::int64_t place) const {
    const std::int64_t of = step < 0 ? behind() + step * place : step * place;
    return {of % stride, of / stride};
  }
  // Coordinates in a plane that a tile of so many positions needs.
  [[nodiscard]] std::int64_t planeSize(std::int64_t tile) const {
    return (stride * (tile - 1) + reach() + stride) / stride;
  }
};

// What is folded of the results (Fold::later): nothing; all channels of a position, in the tile that makes them;
// positions and perhaps channels, of which each tile tells what it has found and a kernel behind it joins that; or
// positions of windows that do not overlap, in the tile that makes them (conv_pool.h).
enum class HaloFolds : std::uint8_t { None, Channels, Positions, Windows };

// Along a dimension of positions: how many of them a pooling folds, and the axis of its windows, behind all others.
struct HaloPool {
  std::int64_t size = 1;
  std::optional<std::size_t> windows;  // none: each position is a window
};

struct HaloProblem {
  Region region;  // phases instead of divisors, channels of the input padded to whole steps
  ProductShape shape;
  std::vector<Bound> results;  // what must hold of a position for it to be a result
  bool hasPhases = false;
  std::vector<HaloDim> dims;  // of positions, outermost first
  // Groups and phases that blocks differ in: axes of role Batch, all but `phase`.
  std::vector<std::size_t> batch;
  std::int64_t batchCount = 1;
  // The axis of the phases across, which a block makes together: their results are neighbours. It is the last of
  // shape.batch, if there is one.
  std::optional<std::size_t> phase;
  std::int64_t phases = 1;
  std::int64_t phaseStep = 1;  // results from one phase to the next; modulo `phases`
  HaloFolds folds = HaloFolds::None;
  std::vector<Store> resultStores;  // of each result
  std::vector<Store> foldStores;    // of what later folds have found
  HaloPool poolAcross;              // of HaloFolds::Windows
  HaloPool poolDown;
  std::size_t channel = 0;    // axis
  std::int64_t channels = 0;  // that there are
  // Of at most 4 channels, 8 numbers of a pixel are those of two places of the window across, which lie so many
  // coordinates apart. The window then has half as many places, and this axis says which of two is meant.
  std::optional<std::size_t> twin;
  std::int64_t twinStep = 0;
  static constexpr std::int64_t kTwinChannels = 4;

  // `depth`: channels of a step; 4: with twins. No value: it is no convolution (ConvProblem), its windows slide in
  // another way, or there can be no twins.
  [[nodiscard]] static std::optional<HaloProblem> of(const Region& region, std::int64_t depth);

  [[nodiscard]] const Operand& input() const;
  // Of weights that lie in memory: what must hold of channels, places of the window and phases for there to be one; of
  // these what tells of places and phases; and of these what tells of `batch` and windows alone, which begin where they
  // are nearest to it.
  [[nodiscard]] std::vector<Bound> allWeightBounds() const;
  [[nodiscard]] std::vector<Bound> weightBounds() const;
  [[nodiscard]] std::vector<Bound> blockBounds() const;
  // Of these, those that some of `batch` have no place of a window for.
  [[nodiscard]] std::vector<Bound> emptyBounds() const;
  // With those of both twins.
  [[nodiscard]] std::int64_t paddedChannels() const { return region.axes[channel].extent * (twin ? 2 : 1); }
  // Of the sum, the places of the window, without twins and channels.
  [[nodiscard]] std::vector<std::size_t> windows() const {
    return {shape.depth.begin(), shape.depth.end() - (twin ? 2 : 1)};
  }
  [[nodiscard]] const HaloDim& across() const { return dims.back(); }
  [[nodiscard]] const HaloDim* down() const { return dims.size() > 1 ? &dims[dims.size() - 2] : nullptr; }
  // Whether it is, or is computed from, what a later fold has found.
  [[nodiscard]] bool isFound(int prim) const;
  // Whether it is the same for all results of a later fold: found, and computed from nothing that lies along an axis.
  [[nodiscard]] bool isUniform(int prim) const;
  // Whether it reads something at positions, at windows of a pooling, or at phases across.
  [[nodiscard]] bool readsPositions(int prim) const;
  // Folds are made by stages, and in their order within one.
  [[nodiscard]] bool isBefore(int fold, int other) const;
  // The last of those that a prim is computed from; 0, which is the product: there are none.
  [[nodiscard]] int lastFold(int prim) const;
  // That of another dimension with a window, for each place of which a patch is brought anew.
  [[nodiscard]] const HaloDim* far() const;
};

}  // namespace swage::synth
