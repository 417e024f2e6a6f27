// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/synth/sizes.h"
#include "core/synth/strategies/product_parts.h"

// What the strategy for products by mma.sync and the text of its kernels share.
namespace swage::synth {

// The numbers of an instance.
struct MmaTiles {
  ProductMode mode = ProductMode::Native;
  std::int64_t rows = 0;  // of the result, for a block
  std::int64_t columns = 0;
  std::int64_t depth = 0;     // of one step
  std::int64_t warpRows = 0;  // of the result, for a warp
  std::int64_t warpColumns = 0;
  std::int64_t stages = 0;
  std::int64_t promote = 0;
  bool isPersistent = false;  // as many blocks as multiprocessors, each of which makes several tiles

  explicit MmaTiles(const Instance& instance)
      : mode(static_cast<ProductMode>(instance.value("mode"))),
        rows(instance.value("tile_rows", 64)),
        columns(instance.value("tile_columns", 64)),
        depth(instance.value("tile_depth", 32)),
        warpRows(instance.value("warp_rows", 32)),
        warpColumns(instance.value("warp_columns", 32)),
        stages(instance.value("stages", 2)),
        promote(instance.value("promote")),
        isPersistent(instance.value("persistent") != 0) {}

  [[nodiscard]] std::int64_t warpsAcross() const { return columns / warpColumns; }
  [[nodiscard]] std::int64_t threads() const { return warpsAcross() * (rows / warpRows) * 32; }
  [[nodiscard]] std::int64_t parts() const { return partFormat(mode, {}).count; }
  [[nodiscard]] std::int64_t stageBytes() const { return parts() * (rows + columns) * depth * 2; }
  [[nodiscard]] bool isPromoted() const { return promote > 0; }
  [[nodiscard]] bool isSplit() const { return mode != ProductMode::Native; }
  // Of a thread, about: sums, and parts of the operands that are multiplied. Sums that end with each step need not all
  // be there at once.
  [[nodiscard]] std::int64_t registers() const {
    const std::int64_t sums = promote == 0 ? 1 : isSplit() && promote > depth ? 3 : 2;
    constexpr std::int64_t kOther = 15;  // addresses, counters
    return sums * warpRows * warpColumns / 32 + parts() * (warpRows + warpColumns) / 4 + kOther;
  }
};

// How one side of the product comes into shared memory.
struct MmaSource {
  std::string line;   // "row"
  std::string lines;  // "rows"
  const std::vector<std::size_t>* axes = nullptr;
  std::int64_t count = 0;
  std::int64_t tile = 0;
  std::int64_t warp = 0;
  int prim = -1;
  const Operand* operand = nullptr;   // copied from where it lies,
  std::optional<OperandParts> parts;  // or from what a pass has written
  std::string planes;                 // names of its scratch
  std::string exponents;
  std::string tilePlanes = {};  // of where the block's lines begin in it
  std::string tileExponents = {};
  bool isAlongDepth = true;  // in shared memory as where it comes from
};

// The operand that a prim is, unchanged and of 16 bits; null where it is computed, or longer.
[[nodiscard]] const Operand* shortOperand(const Region& region, int prim);
// Whether pieces of 16 bytes along the last of `along` lie whole and aligned in the operand.
[[nodiscard]] bool hasPieces(const Region& region, const Operand& operand, const std::vector<std::size_t>& along);
[[nodiscard]] MmaSource mmaSource(const Region& region, const ProductShape& shape, const MmaTiles& tiles,
                                  OperandParts::Side side);

// Tiles of the result.
[[nodiscard]] std::int64_t mmaBlocks(const ProductShape& shape, const MmaTiles& tiles);
// What the product does, as a comment.
[[nodiscard]] std::string describeMma(const Region& region, const ProductShape& shape, const MmaTiles& tiles);

// The passes that split operands, where there are some, and the product, for the launches of the strategy.
[[nodiscard]] KernelText writeMmaProduct(const Instance& instance, const Launch& launch);

}  // namespace swage::synth
