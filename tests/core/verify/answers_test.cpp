// SPDX-License-Identifier: Apache-2.0
#include "core/verify/answers.h"

#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>

namespace swage::verify {
namespace {

TEST(Answers, ComeBackToWhoAsked) {
  Answers answers;
  const auto zones = answers.add({at::full({3}, 0xA5, at::kByte), at::full({2}, 7, at::kByte)});
  const auto numbers = answers.add({at::scalar_tensor(1.5, at::kDouble), at::scalar_tensor(-2.5, at::kFloat),
                                    at::scalar_tensor(0.5, at::kHalf), at::scalar_tensor(3.0, at::kBFloat16)});
  const auto flags = answers.add({at::scalar_tensor(false, at::kBool), at::scalar_tensor(true, at::kBool)});
  const auto words = answers.add({at::scalar_tensor(5, at::kLong), at::scalar_tensor(-7, at::kLong)});
  answers.fetch();
  EXPECT_EQ(answers.bytesOf(zones), "\xA5\xA5\xA5\x07\x07");
  EXPECT_EQ(answers.numbersOf(numbers), (std::vector<double>{1.5, -2.5, 0.5, 3.0}));
  EXPECT_EQ(answers.firstSetOf(flags), 1);
  EXPECT_EQ(answers.totalOf(words), -2);
}

TEST(Answers, TotalsWrapAsSumsOnADeviceDo) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  Answers answers;
  const auto words = answers.add({at::scalar_tensor(kLargest, at::kLong), at::scalar_tensor(1, at::kLong)});
  answers.fetch();
  EXPECT_EQ(answers.totalOf(words), std::numeric_limits<std::int64_t>::min());
}

TEST(Answers, ToNothingAreNothing) {
  Answers answers;
  const auto nothing = answers.add({});
  answers.fetch();
  EXPECT_TRUE(answers.bytesOf(nothing).empty());
  EXPECT_TRUE(answers.numbersOf(nothing).empty());
  EXPECT_EQ(answers.firstSetOf(nothing), -1);
  EXPECT_EQ(answers.totalOf(nothing), 0);
}

TEST(Answers, OfAnotherKindThanWasAskedForAreRefused) {
  Answers answers;
  const auto several = answers.add({at::tensor({1.0, 2.0}, at::kDouble)});
  const auto whole = answers.add({at::scalar_tensor(1, at::kInt)});
  answers.fetch();
  EXPECT_THROW((void)answers.numbersOf(several), c10::Error);
  EXPECT_THROW((void)answers.numbersOf(whole), c10::Error);
  EXPECT_THROW((void)answers.totalOf(whole), c10::Error);
}

}  // namespace
}  // namespace swage::verify
