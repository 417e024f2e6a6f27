// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/domain/launch_plan.h"
#include "core/synth/strategies/product.h"

// Products of floats on tensor cores by wgmma that read their operands once, without a pass that splits them: warp
// groups that bring the operands split each number into two halves on the way into shared memory. For products that
// wait for memory. What the strategy shares with the text of its kernels.
//
// All numbers are multiplied by the same power of two, so a line (a row of the left, a column of the right operand)
// whose largest magnitude lies outside of [2^-10, 63] would lose its last bits or overflow. The largest of each line is
// found on the way, and a second kernel makes the results of such lines anew, as sums of floats.
namespace swage::synth {

inline constexpr std::int64_t kOnepassDepth = 64;  // of one step: lines of 128 bytes in shared memory
inline constexpr std::int64_t kOnepassScale = 10;  // numbers are multiplied by 2^10

// The numbers of an instance.
struct OnepassTiles {
  std::int64_t rows = 0;  // of the result, for a block
  std::int64_t columns = 0;
  std::int64_t slots = 0;    // steps in shared memory at a time
  std::int64_t promote = 0;  // of the sum, after which what tensor cores have added up goes into sums in float
  std::int64_t band = 1;     // tiles below each other that are made one after another
  bool isCut = false;        // the sum is made in parts by several blocks

  explicit OnepassTiles(const Instance& instance);

  static constexpr std::int64_t kBringGroups = 2;                  // warp groups that bring, 256 threads
  [[nodiscard]] std::int64_t groups() const { return rows / 64; }  // that multiply
  [[nodiscard]] std::int64_t threads() const { return (groups() + kBringGroups) * 128; }
  [[nodiscard]] std::int64_t sums() const { return columns / 2; }  // of a thread
  // Four neighbours each, of a thread that brings in one step: those of the left, then those of the right operand.
  [[nodiscard]] std::int64_t leftPieces() const { return rows / 16; }
  [[nodiscard]] std::int64_t pieces() const { return (rows + columns) / 16; }
  [[nodiscard]] std::int64_t leftBytes() const { return rows * kOnepassDepth * 2; }
  [[nodiscard]] std::int64_t partBytes() const { return (rows + columns) * kOnepassDepth * 2; }  // high or low halves
  [[nodiscard]] std::int64_t slotBytes() const { return 2 * partBytes(); }
  [[nodiscard]] std::int64_t stagedStride() const { return columns + 8; }  // floats, on different banks
  [[nodiscard]] std::int64_t dynamicBytes() const {
    return slots * slotBytes() + rows * stagedStride() * 4 + slots * 16 + 1024;  // barriers; to align the slots
  }
  // Of a thread: when the block starts, when it multiplies, when it brings.
  [[nodiscard]] std::int64_t firstRegisters() const { return 65536 / threads() / 8 * 8; }
  [[nodiscard]] std::int64_t registers() const { return (2 * sums() + 24) / 8 * 8; }
  [[nodiscard]] std::int64_t bringRegisters() const {
    return (firstRegisters() * (groups() + kBringGroups) - registers() * groups()) / kBringGroups / 8 * 8;
  }
  // What is kept of the next step, the largest magnitudes, addresses.
  [[nodiscard]] std::int64_t leastBringRegisters() const { return 5 * pieces() + 24; }
};

// How the tiles of all batches are dealt out.
struct OnepassSchedule {
  std::int64_t steps = 0;   // of the sum
  std::int64_t down = 0;    // tiles below each other
  std::int64_t across = 0;  // beside each other
  std::int64_t tiles = 0;
  std::int64_t parts = 1;       // of the sum
  std::int64_t places = 0;      // blocks that run at once
  std::int64_t finishRows = 1;  // of the result, that a block of the last kernel looks after

  OnepassSchedule(const ProductShape& shape, const OnepassTiles& of, std::int64_t multiprocessors);
};

// One operand.
struct OnepassSource {
  std::string line;   // "row"
  std::string lines;  // "left"
  int prim = -1;
  const std::vector<std::size_t>* axes = nullptr;
  std::int64_t count = 0;  // of lines
  std::int64_t batch = 1;  // as many as differ
  std::int64_t firstPiece = 0;
  std::int64_t pieces = 0;
  std::int64_t firstLargest = 0;  // where its lines begin among the largest magnitudes
  bool isAlongDepth = true;       // neighbours in memory
  bool isWide = false;            // of four neighbours either all or none lie inside
  bool isVector = false;          // floats of a tensor, of which a thread takes four in 16 bytes
};

enum class OnepassSide : std::uint8_t { Left, Right };
[[nodiscard]] OnepassSource onepassSource(const Region& region, const ProductShape& shape, const OnepassTiles& tiles,
                                          OnepassSide side);

// Whether whole rows of a tile can be copied from shared memory to where the results lie.
[[nodiscard]] bool storesRows(const Region& region, const ProductShape& shape);

// Floats from one row of the parts of results to the next.
[[nodiscard]] inline std::int64_t partStride(const ProductShape& shape) {
  return (shape.columnCount + 3) / 4 * 4;
}

// The kernels: one that clears, the product, and one that finishes it.
[[nodiscard]] KernelText writeOnepassProduct(const Instance& instance, const Launch& launch, int number);

}  // namespace swage::synth
