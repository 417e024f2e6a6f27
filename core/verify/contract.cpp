// SPDX-License-Identifier: Apache-2.0
#include "core/verify/contract.h"

#include <algorithm>

namespace swage::verify {
namespace {

constexpr double kRelativeFactor = 2.0;
constexpr double kMaximumFactor = 4.0;
constexpr double kMaximumFloorFactor = 4.0;
constexpr double kRoundingFactor = 64.0;
constexpr double kAlikeFactor = 4096.0;
constexpr double kHalfRoundingFactor = 8.0;
constexpr double kHalfAlikeFactor = 64.0;
constexpr double kFlushedFactor = 4.0;
constexpr double kSmallError = 0.05;  // too small to be of values that became zero
// One TF32 product has a relative error of 2^-11, and sums of products keep about that in L2. Measured: 2.9e-4.
constexpr double kTf32Limit = 1e-3;

// What tells full precision from TF32 apart, which is three orders of magnitude away: not as strict as what a kernel
// must keep to, or a baseline that adds up one after the other would be taken for TF32 and not count.
constexpr double kFullPrecisionRoundings = 16;

// One rounding is half a unit in the last place of 1, so two are this.
double twoRoundings(domain::ScalarType dtype) {
  switch (dtype) {
    case domain::ScalarType::Float16: return 0x1.0p-10;
    case domain::ScalarType::BFloat16: return 0x1.0p-7;
    case domain::ScalarType::Float64: return 0x1.0p-52;
    default: return 0x1.0p-23;
  }
}

bool isHalf(domain::ScalarType dtype) {
  return dtype == domain::ScalarType::Float16 || dtype == domain::ScalarType::BFloat16;
}

double factorOf(domain::ScalarType dtype, Elements elements, double roundingRelativeL2) {
  const double varied = isHalf(dtype) ? kHalfRoundingFactor : kRoundingFactor;
  const double alike = isHalf(dtype) ? kHalfAlikeFactor : kAlikeFactor;
  switch (elements) {
    case Elements::Varied: return varied;
    case Elements::Alike: return alike;
    case Elements::Flushed: break;
  }
  return std::min(alike, std::max(kFlushedFactor, kSmallError / std::max(roundingRelativeL2, kSmallError / alike)));
}

}  // namespace

ErrorLimit errorLimit(domain::ScalarType dtype, double eagerRelativeL2, double eagerMaxAbsolute,
                      double referenceMaxAbsolute) {
  const double floor = twoRoundings(dtype);
  return {std::max(kRelativeFactor * eagerRelativeL2, floor),
          std::max(kMaximumFactor * eagerMaxAbsolute, kMaximumFloorFactor * floor * referenceMaxAbsolute)};
}

ErrorLimit hardErrorLimit(const ErrorLimit& ordinary, domain::ScalarType dtype, double roundingRelativeL2,
                          double roundingMaxAbsolute, Elements elements) {
  const double factor = factorOf(dtype, elements, roundingRelativeL2);
  return {std::max(ordinary.relativeL2, factor * roundingRelativeL2),
          std::max(ordinary.maxAbsolute, factor * roundingMaxAbsolute)};
}

double kernelBenchTolerance(domain::ScalarType dtype) {
  return isHalf(dtype) ? 1e-2 : 1e-4;
}

domain::AccuracyClass accuracyClass(domain::ScalarType dtype, double relativeL2, double exactRelativeL2) {
  if (!domain::isFloating(dtype)) {
    return domain::AccuracyClass::Fp32;
  }
  if (isHalf(dtype)) {
    return domain::AccuracyClass::Half;
  }
  if (relativeL2 <= std::max(kRelativeFactor * exactRelativeL2, kFullPrecisionRoundings * twoRoundings(dtype) / 2)) {
    return domain::AccuracyClass::Fp32;
  }
  return relativeL2 <= kTf32Limit ? domain::AccuracyClass::Tf32 : domain::AccuracyClass::Half;
}

}  // namespace swage::verify
