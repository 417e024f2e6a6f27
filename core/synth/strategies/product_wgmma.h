// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/domain/launch_plan.h"
#include "core/domain/numeric_mode.h"
#include "core/synth/emit/code.h"
#include "core/synth/strategies/product.h"

// Products on the tensor cores of compute capability 9.0, which warp groups of 128 threads use (wgmma) and the copy
// engine feeds (TMA). What the strategy shares with the text of its kernels.
namespace swage::synth {

inline constexpr std::int64_t kWgmmaDepth = 64;  // of one step: lines of 128 bytes in shared memory

// The numbers of an instance.
struct WgmmaTiles {
  domain::NumericMode mode = domain::NumericMode::Native;
  std::int64_t rows = 0;  // of the result, for a block
  std::int64_t columns = 0;
  std::int64_t slots = 0;    // tiles of both operands in shared memory at a time, of one part each
  std::int64_t cluster = 1;  // blocks below each other that share the tiles of the right operand
  std::int64_t promote = 0;  // steps after which the sums of the tensor cores go into sums in float; 0: never
  std::int64_t band = 1;     // tiles below each other that are made one after another
  bool isShared = false;     // the last tiles, which are fewer than there are multiprocessors, are made by all of them

  explicit WgmmaTiles(const Instance& instance);

  [[nodiscard]] bool isSplit() const { return mode != domain::NumericMode::Native; }
  [[nodiscard]] std::int64_t parts() const { return mode == domain::NumericMode::Fp16x3 ? 2 : 1; }
  [[nodiscard]] std::int64_t groups() const { return rows / 64; }  // that multiply
  [[nodiscard]] std::int64_t threads() const { return (groups() + 1) * 128; }
  [[nodiscard]] std::int64_t sums() const { return columns / 2; }  // of a thread
  [[nodiscard]] std::int64_t leftBytes() const { return rows * kWgmmaDepth * 2; }
  [[nodiscard]] std::int64_t rightBytes() const { return columns * kWgmmaDepth * 2; }
  [[nodiscard]] std::int64_t slotBytes() const { return leftBytes() + rightBytes(); }
  [[nodiscard]] std::int64_t dynamicBytes() const { return slots * slotBytes() + 1024; }  // to align them
  [[nodiscard]] std::int64_t turnedBytes() const { return groups() * 4 * 16 * 40 * 4; }   // results on their way out
  // For a thread that multiplies, and for one that brings; of a thread when the block starts.
  [[nodiscard]] std::int64_t registers() const { return groups() == 1 ? 255 : groups() == 2 ? 232 : 160; }
  [[nodiscard]] std::int64_t fewRegisters() const { return groups() == 2 ? 40 : 32; }
};

// How the tiles of all batches are dealt out.
struct WgmmaSchedule {
  std::int64_t steps = 0;   // of the sum
  std::int64_t down = 0;    // tiles of a cluster below each other
  std::int64_t across = 0;  // beside each other
  std::int64_t tiles = 0;
  std::int64_t places = 0;  // clusters that run at once
  std::int64_t whole = 0;   // tiles that one place makes alone: so many times all places
  std::int64_t rest = 0;    // the others: each place makes an equal share of their steps

  WgmmaSchedule(const ProductShape& shape, const WgmmaTiles& of, std::int64_t multiprocessors);

  // Sums of a cluster that one place has found and another adds up.
  [[nodiscard]] std::int64_t partials() const { return rest == 0 ? 0 : rest + places; }
};

// One operand: where the copy engine finds it, and the pass that splits it.
struct WgmmaSource {
  enum class Side : std::uint8_t { Left, Right };
  Side side = Side::Left;
  std::string line;  // "row"
  int prim = -1;
  const std::vector<std::size_t>* axes = nullptr;
  std::int64_t lines = 0;
  std::int64_t depth = 0;
  std::int64_t batch = 1;            // as many as differ
  bool isAlongDepth = true;          // neighbours in memory
  std::int64_t stride = 0;           // elements from one line, or depth, to the next
  std::int64_t plane = 0;            // elements of one batch; of all parts behind each other
  const Operand* operand = nullptr;  // not split: read from where it lies
  std::int64_t batchStride = 0;      // of that, in elements

  // --- the pass
  std::int64_t width = 1;        // neighbours that a thread takes at a time
  std::int64_t splitBlocks = 1;  // a cluster of so many blocks goes along one line
  std::int64_t splitLines = 1;   // of a block
  std::int64_t splitDepth = 1;   // of a block

  [[nodiscard]] std::int64_t lineBlocks() const { return (lines + splitLines - 1) / splitLines; }
  // Whether a block keeps what it has read in registers, and so reads it once.
  [[nodiscard]] bool isKept() const;
  [[nodiscard]] domain::KernelStep step(const std::string& entry) const;
};

// No value: it does not lie so that the copy engine could read it.
[[nodiscard]] std::optional<WgmmaSource> wgmmaSource(const Instance& instance, const ProductShape& shape,
                                                     const WgmmaTiles& tiles, WgmmaSource::Side side);

// The device function `multiply_<number>`, or of another name: one instruction of a warp group.
struct WarpGroupMultiply {
  std::int64_t columns = 0;
  std::string type;  // "f16", "bf16"
  bool isLeftAlongDepth = true;
  bool isRightAlongDepth = true;
  bool isLeftInRegisters = false;  // else in shared memory
};
void writeWarpGroupMultiply(Code& code, int number, const WarpGroupMultiply& multiply);
void writeWarpGroupMultiply(Code& code, const std::string& function, const WarpGroupMultiply& multiply);

// The passes that split operands, where there are some, and the product, for the launches of the strategy.
[[nodiscard]] KernelText writeWgmmaProduct(const Instance& instance, const Launch& launch, int number);

}  // namespace swage::synth
