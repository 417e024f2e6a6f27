// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/domain/launch_plan.h"
#include "core/synth/strategies/attention.h"

// What the strategy for attention by wgmma (compute capability 9.0) and the text of its kernel share.
namespace swage::synth {

// The numbers of an instance.
struct WarpGroupTiles {
  std::int64_t groups = 0;  // warp groups that multiply, with 64 queries each
  std::int64_t keys = 0;    // of a step
  std::int64_t slots = 0;   // tiles of keys in shared memory at a time, and as many of values
  bool overlaps = false;    // the exponentials of a step are made while the values of the step before are added
  bool takesTurns = false;  // warp groups hand the tensor cores to each other
  bool isPlain = false;     // scores are products times a number
  std::int64_t depth = 0;   // up to whole instructions
  std::int64_t columns = 0;
  // Loads for the scores (of a bias) that are made ahead, 16 bytes at once: prims.
  std::vector<int> pieces;
  std::int64_t singles = 0;  // the other loads for a score

  WarpGroupTiles(const Instance& instance, const AttentionShape& shape);

  [[nodiscard]] std::int64_t rows() const { return groups * 64; }
  [[nodiscard]] std::int64_t threads() const { return (groups + 1) * 128; }
  // A tile is made of blocks of 64 numbers of each line.
  [[nodiscard]] std::int64_t depthBlocks() const { return (depth + 63) / 64; }
  [[nodiscard]] std::int64_t columnBlocks() const { return (columns + 63) / 64; }
  [[nodiscard]] std::int64_t queryBlockBytes() const { return rows() * 128; }
  [[nodiscard]] std::int64_t keyBlockBytes() const { return keys * 128; }  // and of values
  [[nodiscard]] std::int64_t queryBytes() const { return depthBlocks() * queryBlockBytes(); }
  [[nodiscard]] std::int64_t keyBytes() const { return depthBlocks() * keyBlockBytes(); }
  [[nodiscard]] std::int64_t valueBytes() const { return columnBlocks() * keyBlockBytes(); }
  // With what aligns them.
  [[nodiscard]] std::int64_t dynamicBytes() const { return queryBytes() + slots * (keyBytes() + valueBytes()) + 1024; }
  // That a thread which multiplies needs, about; what it may have, and what is left to one that brings.
  [[nodiscard]] std::int64_t neededRegisters() const;
  [[nodiscard]] std::int64_t registers() const { return groups == 2 ? 240 : 160; }
  [[nodiscard]] std::int64_t fewRegisters() const { return groups == 2 ? 24 : 32; }
};

// Which tiles of queries the blocks make, one after another.
struct AttentionSchedule {
  std::int64_t down = 0;    // tiles of one head
  std::int64_t heads = 1;   // that are made at about the same time, so that their keys stay in the second-level cache
  std::int64_t tiles = 0;   // of all heads
  std::int64_t blocks = 0;  // that run at once
  bool isTaken = false;     // tiles take different times: whichever block is done takes the next one

  AttentionSchedule(const Instance& instance, const AttentionShape& shape, const WarpGroupTiles& of);
};

// Where the copy engine finds an operand.
struct AttentionMap {
  const Operand* operand = nullptr;
  std::size_t line = 0;            // axis of its lines
  std::size_t along = 0;           // and of what lies in them
  std::vector<std::size_t> batch;  // axes that it has of its own, the innermost first
};

// Of prim `query`, `key` or `value` of the shape. No value: it does not lie so that the copy engine could read it.
[[nodiscard]] std::optional<AttentionMap> attentionMap(const Region& region, const AttentionShape& shape, int prim);

// The kernel, for the launch of the strategy.
[[nodiscard]] KernelText writeWarpGroupAttention(const Instance& instance, const Launch& launch, int number);

}  // namespace swage::synth
