// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/synth/strategies/conv_phases.h"
#include "core/synth/strategies/product_parts.h"

// What the strategy for convolutions by mma.sync and the text of its kernels share.
namespace swage::synth {

// The numbers of an instance.
struct ConvTiles {
  ProductMode mode = ProductMode::Native;
  std::int64_t rows = 0;     // positions of the result, for a block
  std::int64_t columns = 0;  // channels
  std::int64_t depth = 0;    // of one step
  std::int64_t warpRows = 0;
  std::int64_t warpColumns = 0;
  std::int64_t promote = 0;

  explicit ConvTiles(const Instance& instance)
      : mode(static_cast<ProductMode>(instance.value("mode"))),
        rows(instance.value("tile_rows", 128)),
        columns(instance.value("tile_columns", 64)),
        depth(instance.value("tile_depth", 32)),
        warpRows(instance.value("warp_rows", 32)),
        warpColumns(instance.value("warp_columns", 32)),
        promote(instance.value("promote")) {}

  [[nodiscard]] bool isSplit() const { return mode != ProductMode::Native; }  // floats, which are shortened
  [[nodiscard]] std::int64_t parts() const { return partFormat(mode, {}).count; }
  [[nodiscard]] bool isExact() const { return parts() > 1; }
  [[nodiscard]] std::int64_t warpsAcross() const { return columns / warpColumns; }
  [[nodiscard]] std::int64_t threads() const { return warpsAcross() * (rows / warpRows) * 32; }
  [[nodiscard]] std::int64_t rowBytes() const { return 2 * depth; }
  [[nodiscard]] std::int64_t leftBytes() const { return rows * rowBytes(); }  // of one part
  [[nodiscard]] std::int64_t rightBytes() const { return columns * rowBytes(); }
  [[nodiscard]] std::int64_t stageBytes() const { return parts() * (leftBytes() + rightBytes()); }

  // How threads share the gathering: each has some positions, and of each of these some pieces of 8 of the depth.
  [[nodiscard]] std::int64_t positions() const { return rows > threads() ? rows / threads() : 1; }
  [[nodiscard]] std::int64_t pieceGroups() const { return threads() > rows ? threads() / rows : 1; }
  [[nodiscard]] std::int64_t pieces() const { return depth / 8 / pieceGroups(); }

  // Of a thread, about.
  [[nodiscard]] std::int64_t registers() const {
    const std::int64_t sums = isExact() ? 3 : 1;
    const std::int64_t gathered = positions() * pieces() * (isSplit() ? 8 : 4);
    constexpr std::int64_t kOther = 28;  // addresses, counters
    return sums * warpRows * warpColumns / 32 + parts() * (warpRows + warpColumns) / 4 + gathered + 3 * positions() +
           kOther;
  }
};

// A dimension of the input in which windows may reach over its edge: a position of the result and a place in the
// window, at `window` (an axis, or none where it has one place), are outside together or not.
struct ConvEdge {
  const Bound* bound = nullptr;
  std::optional<std::size_t> window;
  std::int64_t places = 1;
  int firstBit = 0;  // of so many, in the words that tell what is outside
};

// The input of a convolution as its kernel reads it: address = (what follows from the position) + (what follows from
// the channel and the place in the window).
struct ConvInput {
  const Operand* operand = nullptr;
  std::vector<std::int64_t> factors;  // elements for each axis, with those of bounds
  std::int64_t offset = 0;
  std::vector<ConvEdge> edges;

  static constexpr int kEdgeBits = 30;
  static constexpr unsigned kEveryTap = 0x40000000U;  // a bit that every tap of the sum needs
  static constexpr unsigned kNoTap = 0x80000000U;     // a bit that no position has: behind the end of the sum
};

// A convolution as a product whose sums are no matrices in memory: windows, edges, or neighbours along the rows.
class ConvProblem {
 public:
  // No value: it is none, or its input is computed or lies so that it cannot be read as ConvInput. `region` must
  // outlive it.
  [[nodiscard]] static std::optional<ConvProblem> of(const Region& region);

  ConvProblem(ConvProblem&&) = default;
  ConvProblem& operator=(ConvProblem&&) = default;
  ConvProblem(const ConvProblem&) = delete;
  ConvProblem& operator=(const ConvProblem&) = delete;
  ~ConvProblem() = default;

  // With phases instead of divisors.
  [[nodiscard]] const Region& region() const { return m_dense ? m_dense->region : *m_original; }
  [[nodiscard]] const ProductShape& shape() const { return m_shape; }
  [[nodiscard]] const ConvInput& input() const { return m_input; }
  // What must hold of a position for it to be a result.
  [[nodiscard]] std::span<const Bound> results() const;
  [[nodiscard]] bool hasPhases() const { return m_dense.has_value(); }

 private:
  ConvProblem() = default;

  const Region* m_original = nullptr;
  std::optional<DenseRegion> m_dense;
  ProductShape m_shape;
  ConvInput m_input;
};

[[nodiscard]] OperandParts convWeights(const ConvProblem& problem, const ConvTiles& tiles);
[[nodiscard]] std::int64_t convDepth(const ProductShape& shape, const ConvTiles& tiles);  // padded to whole steps
[[nodiscard]] std::int64_t convSharedBytes(const ConvProblem& problem, const ConvTiles& tiles);
// Tiles of the result.
[[nodiscard]] std::int64_t convBlocks(const ProductShape& shape, const ConvTiles& tiles);

// How rows of results lie in memory: each begins with a sector of 32 bytes, or anywhere, or its results are apart.
enum class ResultRows : std::uint8_t { InSectors, Anywhere, Apart };
[[nodiscard]] ResultRows resultRows(const Operand& result, std::size_t across);
// Whether all rows along these axes begin at a multiple of so many elements.
[[nodiscard]] bool rowsStartAt(const Operand& operand, std::initializer_list<std::size_t> across, std::int64_t count);

// offset + the sum of coordinates of these axes times their factors, as text.
[[nodiscard]] std::string coordinateSum(const KernelWriter& writer, const std::vector<std::int64_t>& factors,
                                        const std::vector<std::size_t>& axes, std::int64_t offset, bool isWide = false);
// That what bounds tell of these axes lies inside all of them; empty where there are none.
[[nodiscard]] std::string insideAll(const KernelWriter& writer, std::span<const Bound> bounds,
                                    const std::vector<std::size_t>& axes);

// The pass that shortens the weights, and the convolution, for the launches of the strategy.
[[nodiscard]] KernelText writeConv(const Instance& instance, const Launch& launch);

}  // namespace swage::synth
