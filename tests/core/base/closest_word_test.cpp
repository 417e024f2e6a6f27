// SPDX-License-Identifier: Apache-2.0
#include "core/base/closest_word.h"

#include <gmock/gmock.h>

#include <array>

namespace swage {
namespace {

constexpr std::array<std::string_view, 3> kWords{"speedup", "status", "search.time_budget"};

TEST(ClosestWord, IsTheOneThatTakesTheFewestLetters) {
  EXPECT_EQ(closestWord("spedup", kWords), "speedup");
  EXPECT_EQ(closestWord("statsu", kWords), "status");
  EXPECT_EQ(closestWord("serach.time_bugdet", kWords), std::nullopt);
  EXPECT_EQ(closestWord("serch.time_budgt", kWords), "search.time_budget");
}

TEST(ClosestWord, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(closestWord("x", kWords), std::nullopt);
  EXPECT_EQ(closestWord("x", {}), std::nullopt);
}

TEST(DidYouMean, NamesTheClosestWordOrAllOfThem) {
  EXPECT_EQ(didYouMean("spedup", kWords), "did you mean 'speedup'?");
  EXPECT_EQ(didYouMean("colour", kWords), "write speedup, status, search.time_budget");
}

}  // namespace
}  // namespace swage
