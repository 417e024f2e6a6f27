// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/embedding.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/support/result_matchers.h"

namespace swage::retrieval {
namespace {

float product(const Embedding& a, const Embedding& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

TEST(Embedding, HasLengthOneAndIsTheSameEachTime) {
  const Rarity rarity;
  const Embedding point = embed("softmax over long rows", rarity);
  EXPECT_NEAR(product(point, point), 1.0F, 1e-5F);
  EXPECT_EQ(point, embed("softmax over long rows", rarity));
  const Embedding nothing = embed("", rarity);
  EXPECT_EQ(product(nothing, nothing), 0.0F);
}

TEST(Embedding, WhatMeansTheSameIsNearerThanWhatDoesNot) {
  const Rarity rarity;
  const Embedding wanted = embed("gemm on H100", rarity);
  EXPECT_GT(product(wanted, embed("matrix multiplication for Hopper", rarity)),
            product(wanted, embed("prefix sums on a CPU", rarity)) + 0.1F);
  // A misspelt word still shares its letters.
  const Embedding misspelt = embed("softmaxx", rarity);
  EXPECT_GT(product(misspelt, embed("softmax", rarity)), product(misspelt, embed("prefix sums", rarity)) + 0.03F);
}

TEST(Embedding, ARareWordCountsMoreThanACommonOne) {
  Rarity rarity;
  for (int i = 0; i < 100; ++i) {
    rarity.count({"kernel"});
  }
  rarity.count({"kernel", "dsmem"});
  EXPECT_EQ(rarity.texts(), 101);
  EXPECT_GT(rarity.weight("dsmem"), 2.0F * rarity.weight("kernel"));
}

TEST(Embedding, WhatWasLearnedCanBeKept) {
  Rarity rarity;
  rarity.count({"kernel", "row"});
  const auto again = Rarity::fromBytes(rarity.toBytes());
  ASSERT_THAT(again, testing::IsOk());
  EXPECT_EQ(again->texts(), 1);
  EXPECT_EQ(again->weight("row"), rarity.weight("row"));
  EXPECT_THAT(Rarity::fromBytes("short"), testing::IsError(ErrorKind::InvalidInput, ::testing::HasSubstr("size")));
}

TEST(Embedding, FitsOneByteForEachDimension) {
  Embedding point{};
  point[0] = 0.5F;
  point[1] = -0.25F;
  const std::string bytes = toBytes(point);
  ASSERT_EQ(bytes.size(), kDimensions);
  EXPECT_EQ(static_cast<signed char>(bytes[0]), 127);
  EXPECT_EQ(static_cast<signed char>(bytes[1]), -64);
  EXPECT_EQ(bytes[2], 0);
}

}  // namespace
}  // namespace swage::retrieval
