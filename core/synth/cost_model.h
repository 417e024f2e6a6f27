// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/domain/device_info.h"
#include "core/synth/region.h"

// How long a kernel takes, as far as that can be said without running it: a roofline with whole rounds of blocks. Good
// enough to say what to try first; what is kept is measured.
namespace swage::synth {

// Of one multiprocessor, in a cycle, when it does nothing else.
struct MultiprocessorRates {
  double floatAdds = 128.0;     // multiplications of floats with an addition
  double halfAdds = 0.0;        // of halves on tensor cores by mma.sync; 0: it has none
  double warpGroupAdds = 0.0;   // by wgmma; 0: it has none
  double sharedBytes = 128.0;   // from shared memory into registers or tensor cores
  double cacheBytes = 32.0;     // from the second-level cache, all multiprocessors at once
  std::int64_t sharedSize = 0;  // bytes of shared memory, of all its blocks
};

struct DeviceRates {
  MultiprocessorRates each;
  std::int64_t multiprocessors = 1;
  double cyclesPerSecond = 1.7e9;
  double bytesPerSecond = 0.0;  // from and to memory
  double launchSeconds = 3e-6;  // from one kernel to the next

  // Measured where the device was measured, else what its generation has.
  [[nodiscard]] static DeviceRates of(const domain::DeviceInfo& device);

  // Of memory in a cycle, for one multiprocessor while all of them ask.
  [[nodiscard]] double memoryBytes() const;
};

// What the blocks of a kernel do, all alike.
struct BlockWork {
  std::int64_t count = 1;   // blocks, or tiles of blocks that stay
  double cycles = 0.0;      // of a multiprocessor that computes nothing else
  double bytes = 0.0;       // of a block, to and from memory
  bool hidesMemory = true;  // behind arithmetic, its own or that of a block beside it; else one comes after the other
  bool isSharedEvenly = false;  // the last round is cut up and made by all
};

// Blocks that fit on a multiprocessor beside each other; 0: not one.
[[nodiscard]] std::int64_t blocksAtOnce(const DeviceRates& device, std::int64_t threads, std::int64_t registers,
                                        std::int64_t sharedBytes);
// Without the launch.
[[nodiscard]] double secondsOf(const DeviceRates& device, const BlockWork& work);
// A pass over memory by a kernel of its own, with the launch; `reached` is its share of the device's rate.
[[nodiscard]] double secondsOfPass(const DeviceRates& device, double bytes, double reached = 0.85);

// What is computed for every element and for every result, beside the sums of products: exponentials, divisions.
[[nodiscard]] double secondsOfPrims(const Region& region, const DeviceRates& device);

}  // namespace swage::synth
