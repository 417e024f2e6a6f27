// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/strategy.h"

// How long kernels take that are bound by memory.
namespace swage::synth {

// Bytes of what a region reads and writes, each element once.
[[nodiscard]] double bytesMoved(const Region& region);

// How fast blocks that first load all their elements and then store them get through memory.
struct Stream {
  std::int64_t blocks = 1;
  std::int64_t threads = 1;     // of a block
  std::int64_t registers = 32;  // of a thread
  std::int64_t bytes = 16;      // that a thread asks for at once
  double moved = 0.0;           // by all blocks
};
[[nodiscard]] double secondsOfStream(const domain::DeviceInfo& device, const Stream& stream);

}  // namespace swage::synth
