// SPDX-License-Identifier: Apache-2.0
#include "core/verify/contract.h"

#include <gtest/gtest.h>

namespace swage::verify {
namespace {

using domain::AccuracyClass;
using domain::ScalarType;

TEST(ErrorLimit, IsTwiceEagersErrorWhereEagerHasOne) {
  const ErrorLimit limit = errorLimit(ScalarType::Float32, 1e-5, 1e-3, 1.0);
  EXPECT_DOUBLE_EQ(limit.relativeL2, 2e-5);
  EXPECT_DOUBLE_EQ(limit.maxAbsolute, 4e-3);
}

TEST(ErrorLimit, AllowsTwoRoundingsWhereEagerIsExact) {
  const ErrorLimit limit = errorLimit(ScalarType::Float32, 0.0, 0.0, 100.0);
  EXPECT_NEAR(limit.relativeL2, 1.2e-7, 1e-9);
  EXPECT_NEAR(limit.maxAbsolute, 4.8e-5, 1e-6);
  EXPECT_DOUBLE_EQ(errorLimit(ScalarType::Float64, 0.0, 0.0, 1.0).relativeL2, 0x1p-52);
  EXPECT_DOUBLE_EQ(errorLimit(ScalarType::BFloat16, 0.0, 0.0, 1.0).relativeL2, 0x1p-7);
}

TEST(ErrorLimit, RefusesASumMadeOneByOne) {
  // A column sum over 500 rows: eager has 5e-8, a sum in one chain 2.9e-7.
  EXPECT_LT(errorLimit(ScalarType::Float32, 5e-8, 0.0, 0.0).relativeL2, 2.9e-7);
}

TEST(ErrorLimit, DoesNotLetTf32PassForFloat32) {
  EXPECT_LT(errorLimit(ScalarType::Float32, 1.15e-6, 0.0, 0.0).relativeL2, 2.9e-4);
}

TEST(AccuracyClass, FollowsTheMeasuredErrorsOfMatrixProducts) {
  constexpr double kEager = 1.15e-6;
  EXPECT_EQ(accuracyClass(ScalarType::Float32, 1.7e-7, kEager), AccuracyClass::Fp32);  // six bf16 products
  EXPECT_EQ(accuracyClass(ScalarType::Float32, kEager, kEager), AccuracyClass::Fp32);
  EXPECT_EQ(accuracyClass(ScalarType::Float32, 4.4e-6, kEager), AccuracyClass::Tf32);  // three
  EXPECT_EQ(accuracyClass(ScalarType::Float32, 2.9e-4, kEager), AccuracyClass::Tf32);
  EXPECT_EQ(accuracyClass(ScalarType::Float32, 2.4e-3, kEager), AccuracyClass::Half);
}

TEST(AccuracyClass, OfA16BitResultIsHalf) {
  EXPECT_EQ(accuracyClass(ScalarType::BFloat16, 1e-9, 1e-3), AccuracyClass::Half);
}

TEST(AccuracyClass, OfIntegersIsTheBest) {
  EXPECT_EQ(accuracyClass(ScalarType::Int64, 0.0, 0.0), AccuracyClass::Fp32);
}

TEST(KernelBenchTolerance, DependsOnTheType) {
  EXPECT_DOUBLE_EQ(kernelBenchTolerance(ScalarType::Float32), 1e-4);
  EXPECT_DOUBLE_EQ(kernelBenchTolerance(ScalarType::Float16), 1e-2);
}

TEST(HardErrorLimit, AllowsWhatRoundingCostsOnTheseInputs) {
  const ErrorLimit ordinary{1e-6, 1e-5};
  const ErrorLimit easy = hardErrorLimit(ordinary, ScalarType::Float32, 1e-9, 1e-9, Elements::Varied);
  EXPECT_EQ(easy.relativeL2, ordinary.relativeL2);
  EXPECT_EQ(easy.maxAbsolute, ordinary.maxAbsolute);
  const ErrorLimit hard = hardErrorLimit(ordinary, ScalarType::Float32, 1e-5, 1e-3, Elements::Varied);
  EXPECT_DOUBLE_EQ(hard.relativeL2, 64e-5);
  EXPECT_DOUBLE_EQ(hard.maxAbsolute, 64e-3);
  EXPECT_DOUBLE_EQ(hardErrorLimit(ordinary, ScalarType::Float32, 1e-5, 1e-3, Elements::Alike).relativeL2, 4096e-5);
}

TEST(HardErrorLimit, IsNotManyTimesWhatFlushingCosts) {
  const ErrorLimit ordinary{1e-6, 1e-5};
  EXPECT_DOUBLE_EQ(hardErrorLimit(ordinary, ScalarType::Float32, 1.0, 1e-30, Elements::Flushed).relativeL2, 4.0);
  EXPECT_DOUBLE_EQ(hardErrorLimit(ordinary, ScalarType::Float32, 1e-3, 1e-3, Elements::Flushed).relativeL2, 0.05);
  EXPECT_DOUBLE_EQ(hardErrorLimit(ordinary, ScalarType::Float32, 1e-7, 1e-7, Elements::Flushed).relativeL2, 4096e-7);
  EXPECT_DOUBLE_EQ(hardErrorLimit(ordinary, ScalarType::Float32, 0.0, 0.0, Elements::Flushed).relativeL2, 1e-6);
}

TEST(HardErrorLimit, LeavesNoRoomForAMissingPartInNarrowTypes) {
  const double rounding = 0x1p-8;  // what one bfloat16 can be off
  const ErrorLimit ordinary = errorLimit(ScalarType::BFloat16, 0.002, 0.01, 4.0);
  EXPECT_LT(hardErrorLimit(ordinary, ScalarType::BFloat16, rounding, rounding, Elements::Varied).relativeL2, 0.05);
  EXPECT_LT(hardErrorLimit(ordinary, ScalarType::BFloat16, rounding, rounding, Elements::Alike).relativeL2, 0.3);
}

}  // namespace
}  // namespace swage::verify
