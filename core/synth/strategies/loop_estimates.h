// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/region_shape.h"
#include "core/synth/strategy.h"

// How long maps and reductions over whole tensors take on a GPU: what they move, what their blocks wait for, and what
// they compute. The constants fit measured times of an H100 to about a fifth.
namespace swage::synth::cuda {

// How the blocks of a kernel share the groups of a reduction.
struct GroupWork {
  std::int64_t blocks = 1;       // that come one after another on a multiprocessor
  std::int64_t threads = 1;      // of a block
  std::int64_t registers = 32;   // of a thread
  std::int64_t sharedBytes = 0;  // of a block
  std::int64_t steps = 1;        // vectors that a thread has of each group
  std::int64_t atOnce = 1;       // of these it asks for together
  std::int64_t blocksOfGroup = 1;
  bool isKept = false;        // elements are read once; else once for each stage, and for the elements that are stored
  double meeting = 1.5e-7;    // seconds that the threads of a group take to join what they have found
  double idle = 0.0;          // seconds in which all blocks wait and memory has nothing to do
  double stretch = 1.0;       // of the time for memory, where too little is asked for at a time
  bool isPersistent = false;  // blocks stay: what one waits for, others hide
};

// Bytes of the narrowest element of all operands, at most 16.
[[nodiscard]] std::int64_t narrowestBytes(const Region& region);
// Elements are read in vectors of the instance's width, along the axis that is innermost.
[[nodiscard]] double secondsOfGroups(const Instance& instance, const GroupWork& work);

// One result of each element; elements of operands may lie anywhere.
[[nodiscard]] double secondsOfMap(const Instance& instance);

// One result to a thread, or several, which folds so many elements for each, one after another. `shared`: the share of
// loads that is left where results of a thread have rows in common.
[[nodiscard]] double secondsOfPlainFolds(const Instance& instance, std::int64_t results, double shared);

}  // namespace swage::synth::cuda
