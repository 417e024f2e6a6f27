// SPDX-License-Identifier: Apache-2.0
#include "core/domain/numeric_mode.h"

#include <gtest/gtest.h>

namespace swage::domain {
namespace {

TEST(NumericMode, IsThatOfTheRegionsThatSplitTheirOperands) {
  Genome genome;
  genome.regions = {{{0}, "map", {{"threads", 128}}}, {{1}, "product_mma", {{"mode", 0}}}};
  EXPECT_EQ(numericModes(genome), "");
  genome.regions.push_back({{2}, "product_mma", {{"mode", 1}}});
  genome.regions.push_back({{3}, "product_mma", {{"mode", 1}}});
  EXPECT_EQ(numericModes(genome), "fp16x3");
  genome.regions.push_back({{4}, "product_mma", {{"mode", 2}}});
  EXPECT_EQ(numericModes(genome), "bf16x6, fp16x3");
}

TEST(NumericMode, OfARecordFromElsewhereMayBeUnknown) {
  EXPECT_EQ(numericMode({{0}, "product_mma", {{"mode", 17}}}), std::nullopt);
  EXPECT_EQ(numericMode({{0}, "product_mma", {{"mode", -1}}}), std::nullopt);
  EXPECT_EQ(numericMode({{0}, "map", {}}), std::nullopt);
}

TEST(NumericMode, IsPartOfTheStructure) {
  const Genome halves{{{{0}, "product_mma", {{"mode", 1}, {"stages", 2}}}}};
  const Genome deeper{{{{0}, "product_mma", {{"mode", 1}, {"stages", 4}}}}};
  const Genome bfloats{{{{0}, "product_mma", {{"mode", 2}, {"stages", 2}}}}};
  EXPECT_EQ(structureText(halves), structureText(deeper));
  EXPECT_NE(structureText(halves), structureText(bfloats));
}

}  // namespace
}  // namespace swage::domain
