// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace swage::device {

// What one multiprocessor has. From the driver's device attributes.
struct MultiprocessorLimits {
  int threads = 0;
  int blocks = 0;
  int registers = 0;
  std::int64_t sharedBytes = 0;
  std::int64_t reservedSharedBytes = 0;  // of each block, by the driver
};

// What one block of a launch takes.
struct BlockDemand {
  int threads = 0;
  int registersPerThread = 0;
  std::int64_t sharedBytes = 0;  // static and dynamic
};

// Resident blocks of a multiprocessor that each resource allows, and what follows.
struct Occupancy {
  int byBlocks = 0;
  int byRegisters = 0;
  int bySharedMemory = 0;
  int byWarps = 0;
  int registersPerThread = 0;             // of the launch, before rounding for a warp
  std::int64_t sharedBytesAllocated = 0;  // for a block, with what the driver takes
  int blocks = 0;                         // resident: the smallest of them
  double theoretical = 0.0;               // resident warps over the most there can be
  std::string limiter;                    // the resource that allows fewest; "warps" where there is nothing to gain

  // Another number of resident blocks than the rules give.
  void useBlocks(int resident) {
    theoretical = blocks > 0 ? theoretical * resident / blocks : theoretical;
    blocks = resident;
  }
};

// By the rules of NVIDIA's occupancy calculator (compute capability 7.0 and later): a thread is launched with at least
// 16 registers, which are handed out in units of 256 for a warp, from the quarter of the multiprocessor that runs it;
// shared memory in units of 128 bytes. Shared memory is taken to be carved out as large as it can be, which the driver
// does for a kernel that needs it.
[[nodiscard]] Occupancy occupancyOf(const MultiprocessorLimits& limits, const BlockDemand& demand);

}  // namespace swage::device
