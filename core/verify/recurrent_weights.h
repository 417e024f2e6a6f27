// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/verify/tensors.h"

namespace swage::verify {

// A call of a recurrent operator whose weights are all inputs of the graph, each of them once.
struct RecurrentCall {
  std::vector<std::size_t> weights;  // inputs of the graph, in the order of the call
  std::int64_t weightsEach = 0;      // of a layer and direction
  std::int64_t mode = 0;             // as cuDNN numbers cells
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  std::int64_t projected = 0;  // 0: results are the hidden values
  std::int64_t layers = 0;
  bool isBatchFirst = false;
  bool isBidirectional = false;
  friend bool operator==(const RecurrentCall&, const RecurrentCall&) = default;
};
[[nodiscard]] std::vector<RecurrentCall> recurrentCalls(const domain::Graph& graph);

// Some inputs of the graph, which lie in one piece of memory.
struct WeightChunk {
  struct Place {
    std::size_t input = 0;
    std::int64_t offset = 0;  // in elements
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::int64_t elements = 0;
  std::vector<Place> places;
};
// Where a module of torch.nn keeps the weights of its recurrent layers on this device: cuDNN wants them in one piece,
// and copies them in every call when they are not, which would make eager slower than it is in the module. None on
// other devices, and of calls that cuDNN does not take.
[[nodiscard]] std::vector<WeightChunk> weightChunks(const domain::Graph& graph, c10::Device where);

}  // namespace swage::verify
