// SPDX-License-Identifier: Apache-2.0
#include "core/device/occupancy.h"

#include <algorithm>
#include <array>
#include <utility>

namespace swage::device {
namespace {

constexpr int kWarp = 32;
constexpr int kMinRegisters = 16;  // of a thread, whatever the compiler needed; Nsight Compute reports it so
constexpr int kPartitions = 4;
constexpr int kRegisterUnit = 256;
constexpr std::int64_t kSharedUnit = 128;

template <class Integer>
Integer roundedUp(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

int blocksByRegisters(const MultiprocessorLimits& limits, int registersPerThread, int warpsPerBlock) {
  if (registersPerThread == 0) {
    return limits.blocks;
  }
  const int perWarp = roundedUp(registersPerThread * kWarp, kRegisterUnit);
  return limits.registers / kPartitions / perWarp * kPartitions / warpsPerBlock;
}

}  // namespace

Occupancy occupancyOf(const MultiprocessorLimits& limits, const BlockDemand& demand) {
  Occupancy result;
  const int warpsPerBlock = std::max(1, (demand.threads + kWarp - 1) / kWarp);
  const int maxWarps = limits.threads / kWarp;
  result.byWarps = maxWarps / warpsPerBlock;
  result.byBlocks = limits.blocks;
  result.registersPerThread = demand.registersPerThread == 0 ? 0 : std::max(demand.registersPerThread, kMinRegisters);
  result.byRegisters = blocksByRegisters(limits, result.registersPerThread, warpsPerBlock);
  result.sharedBytesAllocated = roundedUp(demand.sharedBytes + limits.reservedSharedBytes, kSharedUnit);
  result.bySharedMemory = result.sharedBytesAllocated == 0
                              ? limits.blocks
                              : static_cast<int>(limits.sharedBytes / result.sharedBytesAllocated);
  // In this order: of resources that allow equally few, the first is named.
  const std::array<std::pair<int, const char*>, 4> limiters = {{{result.byWarps, "warps"},
                                                                {result.byBlocks, "blocks"},
                                                                {result.byRegisters, "registers"},
                                                                {result.bySharedMemory, "shared memory"}}};
  const auto least = std::min_element(limiters.begin(), limiters.end(),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  result.blocks = least->first;
  result.limiter = least->second;
  result.theoretical =
      maxWarps > 0 ? static_cast<double>(result.blocks * warpsPerBlock) / static_cast<double>(maxWarps) : 0.0;
  return result;
}

}  // namespace swage::device
