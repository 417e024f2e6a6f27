// SPDX-License-Identifier: Apache-2.0
#include "patterns/cpu/common.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

// The scalar functions that every generated CPU kernel starts with.
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(CpuExponential, IsWithinTwoUnitsInTheLastPlace) {
  constexpr double kUnit = 1.0 / (1 << 24);
  double worst = 0.0;
  float where = 0.0F;
  for (int i = -873'000; i <= 887'000; ++i) {
    const float x = static_cast<float>(i) * 1e-4F;
    const double exact = std::exp(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(fn_exp(x)) - exact) / exact;
    if (error > worst) {
      worst = error;
      where = x;
    }
  }
  EXPECT_LT(worst, 2 * kUnit) << "at " << where;
}

TEST(CpuExponential, IsExactWhereItMatters) {
  EXPECT_EQ(fn_exp(0.0F), 1.0F);
  EXPECT_EQ(fn_exp(-0.0F), 1.0F);
  EXPECT_EQ(fn_exp(-kInfinity), 0.0F);
  EXPECT_EQ(fn_exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(fn_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(CpuExponential, OverflowsAndUnderflowsLikeTheExactOne) {
  EXPECT_TRUE(std::isfinite(fn_exp(88.72F)));
  EXPECT_EQ(fn_exp(88.73F), kInfinity);
  EXPECT_EQ(fn_exp(1e30F), kInfinity);
  EXPECT_GT(fn_exp(-87.3F), 0.0F);
  EXPECT_EQ(fn_exp(-88.0F), 0.0F);  // below the normal numbers
  EXPECT_EQ(fn_exp(-1e30F), 0.0F);
}

}  // namespace
