// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"

namespace swage::synth::cuda {

// Positions up to here are counted in 32 bits; there is room above for loops that go a step too far.
inline constexpr std::int64_t kMostNarrow = (std::int64_t{1} << 31) - (1 << 27);

// Some vectors of a thread at equal distances. Where there are several, all are asked for before the first is used.
struct Batch {
  std::string first;              // variable with the position of the first element
  std::string counter = "u";      // numbers the vectors
  std::string position = "k";     // what the position of each is called
  std::int64_t distance = 0;      // from one vector to the next, in elements
  std::int64_t count = 1;         // vectors
  std::string end;                // no vector begins there or later; empty: none would
  std::vector<std::size_t> axes;  // that positions count along
  bool backwards = false;         // positions are `first` minus distances, and not before `end`

  // "[u]" where the vectors are in arrays.
  [[nodiscard]] std::string subscript() const { return count > 1 ? "[" + counter + "]" : ""; }
};

// Whether what is written for each vector mentions its position.
enum class Position : std::uint8_t { Used, Unused };

// Writes `body` for each vector that there is, with the coordinates of its first element bound, and `after` for each,
// whether there is a vector or not.
void forEach(KernelWriter& writer, const Batch& batch, Position position, const std::function<void()>& body,
             const std::function<void()>& after = {});

}  // namespace swage::synth::cuda
