// SPDX-License-Identifier: Apache-2.0
#include "patterns/cpu/helpers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

// Functions that generated kernels for processors come with.
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(CpuExponential, IsWithinTwoUnitsInTheLastPlace) {
  constexpr double kUnit = 1.0 / (1 << 24);
  double worst = 0.0;
  float where = 0.0F;
  for (int i = -873'000; i <= 887'000; ++i) {
    const float x = static_cast<float>(i) * 1e-4F;
    const double exact = std::exp(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(fastExp(x)) - exact) / exact;
    if (error > worst) {
      worst = error;
      where = x;
    }
  }
  EXPECT_LT(worst, 2 * kUnit) << "at " << where;
}

TEST(CpuExponential, IsExactWhereItMatters) {
  EXPECT_EQ(fastExp(0.0F), 1.0F);
  EXPECT_EQ(fastExp(-0.0F), 1.0F);
  EXPECT_EQ(fastExp(-kInfinity), 0.0F);
  EXPECT_EQ(fastExp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(fastExp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(CpuExponential, OverflowsAndUnderflowsLikeTheExactOne) {
  EXPECT_TRUE(std::isfinite(fastExp(88.72F)));
  EXPECT_EQ(fastExp(88.73F), kInfinity);
  EXPECT_EQ(fastExp(1e30F), kInfinity);
  EXPECT_GT(fastExp(-87.3F), 0.0F);
  EXPECT_EQ(fastExp(-88.0F), 0.0F);  // below the normal numbers
  EXPECT_EQ(fastExp(-1e30F), 0.0F);
}

TEST(CpuExpm1, IsWithinTwoUnitsInTheLastPlace) {
  constexpr double kUnit = 1.0 / (1 << 23);
  double worst = 0.0;
  float where = 0.0F;
  const auto check = [&](float x) {
    const double exact = std::expm1(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(fastExpm1(x)) - exact) / std::abs(exact);
    if (error > worst) {
      worst = error;
      where = x;
    }
  };
  for (int i = -400'000; i <= 887'000; ++i) {
    if (i != 0) {
      check(static_cast<float>(i) * 1e-4F);
    }
  }
  for (float x = 1.0F; x > 1e-30F; x *= 0.97F) {
    check(x);
    check(-x);
  }
  EXPECT_LT(worst, 2 * kUnit) << "at " << where;
}

TEST(CpuExpm1, IsExactWhereItMatters) {
  EXPECT_EQ(fastExpm1(0.0F), 0.0F);
  EXPECT_FALSE(std::signbit(fastExpm1(0.0F)));
  EXPECT_TRUE(std::signbit(fastExpm1(-0.0F)));
  EXPECT_EQ(fastExpm1(-1e30F), -1.0F);
  EXPECT_EQ(fastExpm1(-kInfinity), -1.0F);
  EXPECT_TRUE(std::isfinite(fastExpm1(88.72F)));
  EXPECT_EQ(fastExpm1(88.73F), kInfinity);
  EXPECT_EQ(fastExpm1(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(fastExpm1(std::numeric_limits<float>::quiet_NaN())));
}

TEST(CpuStream, WritesWhatItIsGivenAndNothingElse) {
  for (const int first : {0, 1, 31, 32}) {
    for (const int bytes : {0, 1, 31, 32, 33, 100}) {
      alignas(64) char target[200] = {};
      char source[100];
      for (int i = 0; i < 100; ++i) {
        source[i] = static_cast<char>(i + 1);
      }
      streamOut(target + first, source, bytes);
      _mm_sfence();
      for (int i = 0; i < 200; ++i) {
        const int at = i - first;
        EXPECT_EQ(target[i], at >= 0 && at < bytes ? source[at] : 0) << first << ", " << bytes << ", " << i;
      }
    }
  }
}

}  // namespace
