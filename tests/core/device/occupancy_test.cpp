// SPDX-License-Identifier: Apache-2.0
#include "core/device/occupancy.h"

#include <gtest/gtest.h>

namespace swage::device {
namespace {

// Compute capability 9.0.
constexpr MultiprocessorLimits kHopper{2048, 32, 65536, 233472, 1024};

TEST(Occupancy, IsFullForSmallKernels) {
  const Occupancy occupancy = occupancyOf(kHopper, {256, 32, 0});
  EXPECT_EQ(occupancy.theoretical, 1.0);
  EXPECT_EQ(occupancy.blocks, 8);
  EXPECT_EQ(occupancy.limiter, "warps");
  EXPECT_EQ(occupancy.byRegisters, 8);
}

TEST(Occupancy, IsLimitedByRegisters) {
  // 255 registers are 8192 for a warp: two warps in each quarter.
  const Occupancy occupancy = occupancyOf(kHopper, {256, 255, 0});
  EXPECT_EQ(occupancy.blocks, 1);
  EXPECT_EQ(occupancy.theoretical, 0.125);
  EXPECT_EQ(occupancy.limiter, "registers");
}

TEST(Occupancy, HandsOutRegistersInUnits) {
  // 33 registers take 1280 for a warp, not 1056: 12 warps in each quarter.
  EXPECT_EQ(occupancyOf(kHopper, {32, 33, 0}).byRegisters, 48);
}

TEST(Occupancy, GivesAThreadAtLeast16Registers) {
  const Occupancy few = occupancyOf(kHopper, {256, 7, 0});
  EXPECT_EQ(few.registersPerThread, 16);
  EXPECT_EQ(few.byRegisters, 16);
  EXPECT_EQ(occupancyOf(kHopper, {256, 54, 0}).registersPerThread, 54);
}

TEST(Occupancy, IsLimitedBySharedMemoryWithTheDriversShare) {
  const Occupancy occupancy = occupancyOf(kHopper, {256, 32, 100 << 10});
  EXPECT_EQ(occupancy.sharedBytesAllocated, (100 << 10) + 1024);
  EXPECT_EQ(occupancy.blocks, 2);
  EXPECT_EQ(occupancy.theoretical, 0.25);
  EXPECT_EQ(occupancy.limiter, "shared memory");
}

TEST(Occupancy, IsLimitedByBlocks) {
  const Occupancy occupancy = occupancyOf(kHopper, {32, 16, 0});
  EXPECT_EQ(occupancy.theoretical, 0.5);
  EXPECT_EQ(occupancy.limiter, "blocks");
}

TEST(Occupancy, TakesTheDriversWord) {
  Occupancy occupancy = occupancyOf(kHopper, {256, 32, 0});
  occupancy.useBlocks(4);
  EXPECT_EQ(occupancy.theoretical, 0.5);
  EXPECT_EQ(occupancy.blocks, 4);
}

}  // namespace
}  // namespace swage::device
