// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/synth/strategies/attention.h"
#include "core/synth/strategies/product_parts.h"

// What the strategy for attention by mma.sync and the text of its kernels share.
namespace swage::synth {

// The numbers of an instance.
struct AttentionTiles {
  ProductMode mode = ProductMode::Native;
  std::int64_t rows = 0;      // queries of a block
  std::int64_t warpRows = 0;  // and of a warp
  std::int64_t keys = 0;      // of a step
  std::int64_t blocks = 1;    // on a multiprocessor beside each other, at least: the compiler makes do with registers
  bool keepsQueries = false;  // in registers, else they are read from shared memory in each step
  std::int64_t depth = 0;     // up to whole instructions
  std::int64_t columns = 0;

  AttentionTiles(const Instance& instance, const AttentionShape& shape);

  [[nodiscard]] bool isSplit() const { return mode != ProductMode::Native; }
  [[nodiscard]] std::int64_t parts() const { return isSplit() ? 2 : 1; }
  [[nodiscard]] std::int64_t threads() const { return rows / warpRows * 32; }
  // From one line in shared memory to the next: 16 bytes more than it has, so that eight that are read together lie in
  // different banks.
  [[nodiscard]] std::int64_t depthPitch() const { return depth * 2 + 16; }
  [[nodiscard]] std::int64_t columnPitch() const { return columns * 2 + 16; }
  // Of one part.
  [[nodiscard]] std::int64_t queryBytes() const { return rows * depthPitch(); }
  [[nodiscard]] std::int64_t keyBytes() const { return keys * depthPitch(); }
  [[nodiscard]] std::int64_t valueBytes() const { return keys * columnPitch(); }
  [[nodiscard]] std::int64_t sharedBytes() const { return parts() * (queryBytes() + keyBytes() + valueBytes()); }
  // Of a thread, about.
  [[nodiscard]] std::int64_t registers() const;
};

// How an operand comes into shared memory: queries and keys with their depth, values with their columns in a line.
struct AttentionSource {
  std::string name;  // "query"
  ProductShape shape;
  OperandParts::Side side = OperandParts::Side::Left;
  int prim = -1;
  const Operand* operand = nullptr;   // copied from where it lies,
  std::optional<OperandParts> parts;  // or from what a pass has written; neither: split by the block that reads it
  std::string planes = {};            // names of its scratch
  std::string exponents = {};
};

// The three of them. The parts refer to the shapes.
struct AttentionSources {
  AttentionSources(const Region& region, const AttentionShape& shape, const AttentionTiles& tiles);
  AttentionSources(const AttentionSources&) = delete;
  AttentionSources& operator=(const AttentionSources&) = delete;

  AttentionSource query;
  AttentionSource key;
  AttentionSource value;
};

[[nodiscard]] std::int64_t attentionBlocks(const AttentionShape& shape, const AttentionTiles& tiles);
// The passes that split operands, where there are some, and the kernel, for the launches of the strategy.
[[nodiscard]] KernelText writeAttention(const Instance& instance, const Launch& launch);

}  // namespace swage::synth
