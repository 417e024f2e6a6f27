// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cell.h"

#include <set>

#include <gmock/gmock.h>

#include "core/domain/device_info.h"

namespace swage::domain {
namespace {

TEST(Cell, IndexAndNameAreTwoWaysOfWritingIt) {
  std::set<std::string> names;
  for (int index = 0; index < kCellCount; ++index) {
    const Cell cell = Cell::fromIndex(index);
    EXPECT_EQ(cell.index(), index);
    EXPECT_EQ(Cell::parse(cell.name()), cell);
    names.insert(cell.name());
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCellCount));
  EXPECT_EQ((Cell{DataMovement::Staged, Arithmetic::Scalar, Decomposition::OneLaunch}).name(), "A2B0C1");
}

TEST(Cell, RefusesNamesOfCellsThatDoNotExist) {
  for (const char* text : {"", "A2B0C", "A4B0C0", "A0B3C0", "A0B0C3", "A0B0C00", "a0b0c0", "A-B0C0"}) {
    EXPECT_EQ(Cell::parse(text), std::nullopt) << text;
  }
}

TEST(Cell, NeighboursDifferInOneStepOnOneAxis) {
  const auto namesOf = [](const char* text) {
    std::vector<std::string> names;
    for (const Cell& cell : neighbours(*Cell::parse(text))) {
      names.push_back(cell.name());
    }
    return names;
  };
  EXPECT_THAT(namesOf("A0B0C0"), ::testing::UnorderedElementsAre("A1B0C0", "A0B1C0", "A0B0C1"));
  EXPECT_THAT(namesOf("A1B1C1"),
              ::testing::UnorderedElementsAre("A0B1C1", "A2B1C1", "A1B0C1", "A1B2C1", "A1B1C0", "A1B1C2"));
}

KernelFacts facts(DataMovement movement, Arithmetic arithmetic, bool interBlock) {
  KernelFacts kernel;
  kernel.movement = movement;
  kernel.arithmetic = arithmetic;
  kernel.interBlock = interBlock;
  return kernel;
}

TEST(Classify, TakesTheMaximumOverKernels) {
  const std::vector<KernelFacts> kernels{facts(DataMovement::Wide, Arithmetic::TensorCore, false),
                                         facts(DataMovement::Staged, Arithmetic::Scalar, false)};
  EXPECT_EQ(classify(kernels, 2).name(), "A2B2C0");
}

TEST(Classify, TellsDecompositionsApart) {
  const KernelFacts plain = facts(DataMovement::Direct, Arithmetic::Scalar, false);
  const KernelFacts interBlock = facts(DataMovement::Direct, Arithmetic::Scalar, true);
  EXPECT_EQ(classify({plain}, 1).name(), "A0B0C1");
  EXPECT_EQ(classify({plain}, 2).name(), "A0B0C0");
  EXPECT_EQ(classify({interBlock}, 1).name(), "A0B0C2");
  EXPECT_EQ(classify({plain, interBlock}, 2).name(), "A0B0C2");
}

TEST(Classify, WithoutKernelsGoesByTheNumberOfCalls) {
  EXPECT_EQ(classify({}, 1).name(), "A0B0C1");
  EXPECT_EQ(classify({}, 3).name(), "A0B0C0");
}

int reachableCells(const DeviceInfo& device) {
  int count = 0;
  for (int index = 0; index < kCellCount; ++index) {
    count += isReachable(Cell::fromIndex(index), device) ? 1 : 0;
  }
  return count;
}

TEST(Reachability, FollowsWhatTheDeviceHas) {
  DeviceInfo device;
  device.architecture = "x86-64-v4";
  EXPECT_EQ(reachableCells(device), 24) << "no matrix unit";
  device.architecture = "x86-64-v4+amx";
  EXPECT_EQ(reachableCells(device), 36);
  device.kind = DeviceKind::Cuda;
  device.computeCapability = 61;
  EXPECT_EQ(reachableCells(device), 18) << "neither tensor cores nor cp.async";
  device.computeCapability = 75;
  EXPECT_EQ(reachableCells(device), 27) << "no cp.async";
  device.computeCapability = 90;
  EXPECT_EQ(reachableCells(device), 36);
}

}  // namespace
}  // namespace swage::domain
