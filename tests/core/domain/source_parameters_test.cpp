// SPDX-License-Identifier: Apache-2.0
#include "core/domain/source_parameters.h"

#include <gtest/gtest.h>

namespace swage::domain {
namespace {

constexpr const char* kSource = R"(constexpr int kLanes = 1;
namespace region_1 {
constexpr int kLanes = 256;
}  // namespace region_1
namespace region_0 {
constexpr int kLanes = 128;
constexpr int kVectorBits = 2 * 64;
}  // namespace region_0
)";

Genome genome() {
  return {{{{0}, "row", {{"lanes", 64}, {"vector_bits", 32}, {"tile", 7}}}, {{1}, "row", {{"lanes", 64}}}}};
}

TEST(SourceParameters, AreThoseThatTheSourceSays) {
  const Genome said = withSourceParameters(genome(), kSource);
  EXPECT_EQ(said.regions[0].parameters.at("lanes"), 128);
  EXPECT_EQ(said.regions[1].parameters.at("lanes"), 256);
}

TEST(SourceParameters, WhatIsNoPlainNumberStaysAsRecorded) {
  const Genome said = withSourceParameters(genome(), kSource);
  EXPECT_EQ(said.regions[0].parameters.at("vector_bits"), 32);
  EXPECT_EQ(said.regions[0].parameters.at("tile"), 7);
  EXPECT_EQ(withSourceParameters(genome(), ""), genome());
}

}  // namespace
}  // namespace swage::domain
