// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/domain/numeric_mode.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/recurrence.h"

// What the strategy for recurrent layers on a GPU and its text have in common.
namespace swage::synth::cuda {

// Where the weights stay that a layer multiplies its own states and its inputs by.
enum class Kept : std::uint8_t { Shared, StateInRegisters, InRegisters };

// How layers are cut into blocks, and the work of a step into threads.
struct RecurrenceTiles {
  explicit RecurrenceTiles(const Instance& instance)
      : recurrence(*instance.region.recurrence),
        units(instance.value("units", 1)),
        threads(instance.value("threads", 32)),
        lanes(instance.value("lanes", 1)),
        parts(instance.value("parts", 1)),
        kept(static_cast<Kept>(instance.value("kept"))),
        mode(static_cast<domain::NumericMode>(instance.value("mode"))),
        hasInputs(recurrence.isStack()),
        slices(divideUp(recurrence.units, units)),
        sequences(divideUp(recurrence.batch, parts)),
        rows(gateCount(recurrence.cell) * units),
        groups(threads / lanes),
        rowsEach(divideUp(rows, groups)),
        steps(divideUp(recurrence.units, lanes * 4)),
        pitch(steps * lanes * 4),
        owned(divideUp(units * sequences, threads)),
        multiprocessors(std::max(1, instance.device.multiprocessors)) {}

  static constexpr std::int64_t kOtherRegisters = 56;  // of a thread, beside weights and sums
  static constexpr std::int64_t kMostRegisters = 255;  // of a thread

  [[nodiscard]] std::int64_t blocks() const {
    return static_cast<std::int64_t>(recurrence.layers.size()) * parts * slices;
  }
  // Blocks that must be on one multiprocessor at once, so that all of them run.
  [[nodiscard]] std::int64_t together() const { return divideUp(blocks(), multiprocessors); }
  // What each thread gets then: registers belong to a quarter of a multiprocessor, which has every fourth warp, and are
  // handed out to four warps at a time.
  [[nodiscard]] std::int64_t registersThere() const {
    const std::int64_t warps = divideUp(threads, 128) * together();  // of a quarter
    return std::min(kMostRegisters, kRegistersPerMultiprocessor / (128 * warps) / 8 * 8);
  }
  // Whether the weights of the inputs or of the states, and what they are multiplied by, are rounded to TF32.
  [[nodiscard]] bool isRounded(bool ofInputs) const {
    return mode == domain::NumericMode::Tf32 || (mode == domain::NumericMode::Tf32Inputs && ofInputs);
  }
  [[nodiscard]] bool isInRegisters(bool ofInputs) const {
    return kept == Kept::InRegisters || (kept == Kept::StateInRegisters && !ofInputs);
  }
  // Weights of one product that a thread keeps.
  [[nodiscard]] std::int64_t weightsEach() const { return rowsEach * steps * 4; }
  [[nodiscard]] std::int64_t sumsEach() const { return rowsEach * sequences; }
  [[nodiscard]] std::int64_t registers() const {
    return (isInRegisters(false) ? weightsEach() : 0) + (hasInputs && isInRegisters(true) ? weightsEach() : 0) +
           sumsEach() + owned * (2 * gateCount(recurrence.cell) + 1) + kOtherRegisters;
  }
  // Floats of shared memory: the states of a step, the sums of all rows, and weights.
  [[nodiscard]] std::int64_t statesSize() const { return sequences * pitch; }
  [[nodiscard]] std::int64_t sumsSize() const { return roundUp(groups * sumsEach(), 4); }
  [[nodiscard]] std::int64_t weightsSize(bool ofInputs) const {
    return isInRegisters(ofInputs) ? 0 : weightsEach() * threads;
  }
  [[nodiscard]] std::int64_t sharedBytes() const {
    const std::int64_t inputs = hasInputs ? statesSize() + sumsSize() + weightsSize(true) : 0;
    return (statesSize() + sumsSize() + weightsSize(false) + inputs) * 4;
  }
  [[nodiscard]] std::int64_t exchanged() const {
    return static_cast<std::int64_t>(recurrence.layers.size()) * recurrence.steps * recurrence.batch * recurrence.units;
  }
  [[nodiscard]] bool hasVectors() const { return recurrence.units % 4 == 0; }

  const Recurrence& recurrence;
  std::int64_t units;
  std::int64_t threads;
  std::int64_t lanes;
  std::int64_t parts;
  Kept kept;
  domain::NumericMode mode;
  bool hasInputs;          // layers above the first, which multiply their inputs, too
  std::int64_t slices;     // of a layer
  std::int64_t sequences;  // of a part
  std::int64_t rows;       // of weights, in a block
  std::int64_t groups;     // of threads that share rows
  std::int64_t rowsEach;   // of such a group
  std::int64_t steps;      // of four weights, in each row that a thread keeps a share of
  std::int64_t pitch;      // of the states of a sequence in shared memory
  std::int64_t owned;      // units of sequences whose gates a thread computes
  std::int64_t multiprocessors;
};

// A member of the layers that lies where an argument of the kernel says, in elements: the states before the first step,
// which the layers of a model have in one tensor. So a region for each layer needs one kernel for all of them.
struct PlacedByArgument {
  const char* argument = "";
  Placed RecurrentLayer::*member = nullptr;
  std::int64_t first = 0;  // its offset in the first layer of the region
};
// In the order of the arguments.
[[nodiscard]] std::vector<PlacedByArgument> placedByArguments(const Recurrence& recurrence);

[[nodiscard]] KernelText writeRecurrence(const Instance& instance, const std::string& entry, int number);

}  // namespace swage::synth::cuda
