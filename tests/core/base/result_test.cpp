// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.h"

#include <memory>
#include <string>
#include <unordered_set>

#include "core/base/strong_id.h"
#include "tests/support/result_matchers.h"

namespace swage {
namespace {

using testing::IsError;
using testing::IsOk;

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) {
    return Error(ErrorKind::InvalidInput, "it is odd");
  }
  return std::make_unique<int>(value / 2);
}

Result<int> quarter(int value) {
  SWAGE_TRY_ASSIGN(const std::unique_ptr<int> first, half(value));
  SWAGE_TRY_ASSIGN(const std::unique_ptr<int> second, half(*first));
  return *second;
}

Result<> check(int value) {
  SWAGE_TRY(quarter(value));
  return {};
}

TEST(Result, TryPassesValuesOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_THAT(check(12), IsOk());
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_THAT(quarter(6), IsError(ErrorKind::InvalidInput, "it is odd"));
  EXPECT_THAT(check(7), IsError(ErrorKind::InvalidInput, "it is odd"));
}

TEST(Error, ContextGoesInFrontAndKindAndHintStay) {
  const Error error = Error(ErrorKind::Io, "no space", "delete something").withContext("writing").withContext("saving");
  EXPECT_EQ(error.message(), "saving: writing: no space");
  EXPECT_EQ(error.kind(), ErrorKind::Io);
  EXPECT_EQ(error.hint(), "delete something");
}

TEST(Error, EveryKindHasItsOwnName) {
  std::unordered_set<std::string> names;
  for (int i = 0; i <= static_cast<int>(ErrorKind::Internal); ++i) {
    names.emplace(name(static_cast<ErrorKind>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorKind::Internal) + 1);
  EXPECT_EQ(names.count("unknown"), 0U);
}

TEST(StrongId, IsInvalidUntilSetAndOrdersByValue) {
  using Id = StrongId<struct TestTag>;
  EXPECT_FALSE(Id().isValid());
  EXPECT_TRUE(Id(0).isValid());
  EXPECT_LT(Id(1), Id(2));
  EXPECT_EQ(std::hash<Id>{}(Id(5)), std::hash<Id>{}(Id(5)));
}

}  // namespace
}  // namespace swage
