// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/synth/strategies/conv_halo.h"

// A pooling behind a convolution, whose windows cut its positions: in a region an axis of the windows, and one of the
// places in each, over which results are folded later. Tiles have positions, whatever window they are in.
namespace swage::synth {

// An axis of positions that was two.
struct PooledAxis {
  std::size_t position = 0;
  std::int64_t size = 1;              // positions of a window
  std::int64_t windows = 1;           // that there are
  std::vector<std::int64_t> strides;  // of each operand, from one window to the next; 0: it has positions, if any
};

// Makes axes of windows and of the places in them axes of positions; what lies along windows alone then moves along
// none. Empty, and nothing is changed: results are folded in another way, or not at all.
[[nodiscard]] std::vector<PooledAxis> joinPooledAxes(Region& region);

// The pooling of a convolution's results, of which the region has positions, as HaloFolds::Windows. False: tiles cannot
// have these windows, or something else than their results is stored.
[[nodiscard]] bool settlePool(HaloProblem& problem, const std::vector<PooledAxis>& pooled);

}  // namespace swage::synth
