// SPDX-License-Identifier: Apache-2.0
#include "core/verify/compare.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/cpu_device.h"
#include "core/verify/guarded.h"

namespace swage::verify {
namespace {

bool isIntact(const Guarded& buffer) {
  return std::all_of(buffer.redZones().begin(), buffer.redZones().end(), [](const at::Tensor& zone) {
    return areIntact({static_cast<const char*>(zone.const_data_ptr()), zone.nbytes()});
  });
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kLarge = 1'000'000;  // several chunks

Sealed sealed(const at::Tensor& tensor) {
  return Sealed(tensor, 0x0123456789ABCDEFULL);
}

TEST(Difference, IsMeasuredInFloat64) {
  const at::Tensor reference = at::ones({kLarge}, at::kDouble);
  at::Tensor actual = at::ones({kLarge});
  actual[kLarge - 1] = 1.5F;
  actual[3] = 0.75F;
  const Difference found = difference(actual, sealed(reference));
  EXPECT_DOUBLE_EQ(found.l2, std::sqrt(0.25 + 0.0625));
  EXPECT_DOUBLE_EQ(found.maxAbsolute, 0.5);
  EXPECT_EQ(found.unexpectedNan, -1);
  EXPECT_EQ(preciseDifference(actual, sealed(reference)).worst, kLarge - 1);
}

TEST(Difference, TakesTheSameInfinityAndNanInBothForEqual) {
  const at::Tensor reference = at::tensor({1.0, double{kInfinity}, double{kNan}}, at::kDouble);
  const at::Tensor actual = at::tensor({1.0F, kInfinity, kNan}, at::kFloat);
  const Difference found = difference(actual, sealed(reference));
  EXPECT_EQ(found.l2, 0.0);
  EXPECT_EQ(found.maxAbsolute, 0.0);
  EXPECT_EQ(found.unexpectedNan, -1);
}

TEST(Difference, FindsNanWhereTheReferenceHasNone) {
  at::Tensor actual = at::zeros({kLarge});
  actual[700'000] = kNan;
  const Difference found = difference(actual, sealed(at::zeros({kLarge}, at::kDouble)));
  EXPECT_EQ(found.unexpectedNan, 700'000);
  EXPECT_TRUE(std::isinf(found.maxAbsolute));
}

TEST(Difference, OfInfinityAndANumberIsInfinite) {
  const Difference found = difference(at::tensor({kInfinity}, at::kFloat), sealed(at::tensor({1.0}, at::kDouble)));
  EXPECT_TRUE(std::isinf(found.maxAbsolute));
  EXPECT_EQ(found.worst, 0);
  EXPECT_EQ(found.unexpectedNan, -1);
}

TEST(Difference, OfNothingIsNothing) {
  EXPECT_EQ(difference(at::empty({0}), sealed(at::empty({0}, at::kDouble))).l2, 0.0);
}

TEST(DistancesUnderWay, AreThoseOfAllChunksFromBoth) {
  const at::Tensor reference = at::ones({kLarge}, at::kDouble);
  const at::Tensor eager = at::ones({kLarge});
  at::Tensor actual = at::ones({kLarge});
  actual[5] = 4.0F;
  actual[kLarge - 1] = -3.0F;
  Answers answers;
  const auto begun = DistancesUnderWay::begin(actual, sealed(reference), sealed(eager), answers);
  answers.fetch();
  const Distances found = begun.read(answers);
  EXPECT_DOUBLE_EQ(found.fromReference.l2, 5.0);
  EXPECT_DOUBLE_EQ(found.fromReference.maxAbsolute, 4.0);
  EXPECT_DOUBLE_EQ(found.fromEager, 4.0);
}

TEST(DistancesUnderWay, AreNanFromAnEagerThatIsNan) {
  at::Tensor eager = at::ones({kLarge});
  eager[700'000] = kNan;
  Answers answers;
  const auto begun =
      DistancesUnderWay::begin(at::ones({kLarge}), sealed(at::ones({kLarge}, at::kDouble)), sealed(eager), answers);
  answers.fetch();
  EXPECT_EQ(begun.read(answers).fromReference.l2, 0.0);
  EXPECT_TRUE(std::isnan(begun.read(answers).fromEager));
}

TEST(DistancesUnderWay, FindNanInTheResult) {
  at::Tensor actual = at::zeros({kLarge});
  actual[3] = kNan;
  Answers answers;
  const auto begun =
      DistancesUnderWay::begin(actual, sealed(at::zeros({kLarge}, at::kDouble)), sealed(at::zeros({kLarge})), answers);
  answers.fetch();
  EXPECT_EQ(begun.read(answers).fromReference.unexpectedNan, 3);
}

TEST(Magnitude, SkipsWhatIsNotFinite) {
  const Magnitude size = magnitude(sealed(at::tensor({3.0, -4.0, double{kInfinity}, double{kNan}}, at::kDouble)));
  EXPECT_DOUBLE_EQ(size.l2, 5.0);
  EXPECT_DOUBLE_EQ(size.maxAbsolute, 4.0);
}

TEST(Magnitude, SkipsWhatIsNotFiniteInAnyChunk) {
  at::Tensor reference = at::ones({kLarge}, at::kDouble);
  reference[kLarge - 1] = double{kNan};
  EXPECT_DOUBLE_EQ(magnitude(sealed(reference)).l2, std::sqrt(kLarge - 1.0));
}

TEST(IsFinite, LooksAtEveryElement) {
  for (const float odd : {kInfinity, -kInfinity, kNan}) {
    at::Tensor values = at::zeros({kLarge});
    EXPECT_TRUE(isFinite(sealed(values)));
    values[kLarge - 1] = odd;
    EXPECT_FALSE(isFinite(sealed(values))) << odd;
    EXPECT_FALSE(isFinite(sealed(values.to(at::kHalf)))) << odd;
  }
}

TEST(SealedOfNothing, HasNoElement) {
  EXPECT_THROW(static_cast<void>(Sealed().element(0)), c10::Error);
}

TEST(FirstWith, FindsTheFirstOnesOfAllChunks) {
  at::Tensor actual = at::ones({kLarge});
  const Sealed reference = sealed(at::ones({kLarge}, at::kDouble));
  EXPECT_TRUE(firstWith(furtherThan(0.25, actual, reference), actual, 3).empty());
  actual[7] = 1.125F;
  for (const std::int64_t wrong : {5, 6, 700'000, 999'999}) {
    actual[wrong] = wrong == 6 ? kNan : 2.0F;
  }
  const Fault fault = furtherThan(0.25, actual, reference);
  EXPECT_EQ(firstWith(fault, actual, 3), (std::vector<std::int64_t>{5, 6, 700'000}));
  EXPECT_EQ(firstWith(fault, actual, 8), (std::vector<std::int64_t>{5, 6, 700'000, 999'999}));
}

TEST(FirstMismatch, AcceptsEitherAnswer) {
  const at::Tensor reference = at::tensor({1, 2, 3}, at::kLong);
  const at::Tensor eager = at::tensor({1, 7, 3}, at::kLong);
  EXPECT_EQ(firstMismatch(at::tensor({1, 7, 3}, at::kLong), sealed(reference), sealed(eager)), -1);
  EXPECT_EQ(firstMismatch(at::tensor({1, 2, 4}, at::kLong), sealed(reference), sealed(eager)), 2);
}

TEST(FirstNotClose, AllowsAbsoluteAndRelativeErrorTogether) {
  const at::Tensor expected = at::tensor({0.0F, 1000.0F}, at::kFloat);
  EXPECT_EQ(firstNotClose(at::tensor({0.00009F, 1000.09F}, at::kFloat), sealed(expected), 1e-4), -1);
  EXPECT_EQ(firstNotClose(at::tensor({0.0F, 1000.2F}, at::kFloat), sealed(expected), 1e-4), 1);
  EXPECT_EQ(firstNotClose(at::tensor({kNan, 1000.0F}, at::kFloat), sealed(expected), 1e-4), 0);
}

TEST(Sealed, GivesBackWhatItHidesForEveryType) {
  for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                          at::kFloat, at::kDouble}) {
    const at::Tensor values = at::tensor({0, 1, 1, 0, 1}, at::kInt).to(type);
    const Sealed hidden = sealed(values);
    EXPECT_FALSE(hidden.bits().equal(Sealed(values, 0).bits())) << type;
    EXPECT_TRUE(hidden.chunk(1, 3)->to(at::kLong).equal(values.narrow(0, 1, 3).to(at::kLong))) << type;
    EXPECT_EQ(hidden.element(4), 1.0) << type;
    EXPECT_EQ(hidden.isFloating(), values.is_floating_point()) << type;
  }
}

TEST(FirstNotArrived, FindsANumberWhereBothHaveNanOrInfinity) {
  const at::Tensor eager = at::tensor({1.0F, kNan, kInfinity, -kInfinity, kNan});
  const Sealed reference = sealed(eager.to(at::kDouble));
  const auto first = [&](const at::Tensor& actual, Signs signs = Signs::Matter) {
    return firstNotArrived(actual, reference, sealed(eager), signs);
  };
  EXPECT_EQ(first(eager), -1);
  EXPECT_EQ(first(at::tensor({7.0F, kNan, kInfinity, -kInfinity, kNan})), -1) << "numbers are not its business";
  EXPECT_EQ(first(at::tensor({1.0F, 1.0F, kInfinity, -kInfinity, kNan})), 1);
  EXPECT_EQ(first(at::tensor({1.0F, kInfinity, kInfinity, -kInfinity, kNan})), 1);
  EXPECT_EQ(first(at::tensor({1.0F, kNan, 1.0F, -kInfinity, kNan})), 2);
  EXPECT_EQ(first(at::tensor({1.0F, kNan, kInfinity, kInfinity, kNan})), 3);
  EXPECT_EQ(first(at::tensor({1.0F, kNan, kInfinity, kInfinity, kNan}), Signs::DoNotMatter), -1);
}

TEST(FirstNotArrived, IgnoresWhereOnlyOneHasThem) {
  const at::Tensor eager = at::tensor({kNan, 1.0F, kInfinity, kInfinity});
  const Sealed reference = sealed(at::tensor({1.0, double(kNan), 1e30, 4e38}, at::kDouble));
  EXPECT_EQ(firstNotArrived(at::zeros({4}), reference, sealed(eager), Signs::Matter), -1) << "4e38 is nearly a number";
}

TEST(Guarded, StartsPoisonedBetweenIntactZones) {
  const auto device = device::CpuDevice::create(1);
  const domain::TensorType type = domain::contiguousTensor(domain::ScalarType::Float32, {3, 5});
  const Guarded buffer(type, *device, c10::Device(c10::kCPU), kPoison);
  EXPECT_TRUE(buffer.tensor().isnan().all().item<bool>());
  EXPECT_TRUE(isIntact(buffer));
}

TEST(Guarded, SeesOneElementTooMuchOnEitherSide) {
  const auto device = device::CpuDevice::create(1);
  const domain::TensorType type = domain::contiguousTensor(domain::ScalarType::Float32, {7});
  const Guarded after(type, *device, c10::Device(c10::kCPU), kPoison);
  after.tensor().data_ptr<float>()[7] = 0.0F;
  EXPECT_FALSE(isIntact(after));
  const Guarded before(type, *device, c10::Device(c10::kCPU), kPoison);
  before.tensor().data_ptr<float>()[-1] = 0.0F;
  EXPECT_FALSE(isIntact(before));
}

TEST(Guarded, HasTheDeclaredStrides) {
  const auto device = device::CpuDevice::create(1);
  const domain::TensorType type{domain::ScalarType::Int64, {2, 3}, {1, 4}};
  const Guarded buffer(type, *device, c10::Device(c10::kCPU), kPoison);
  EXPECT_EQ(buffer.tensor().strides(), at::IntArrayRef({1, 4}));
  buffer.tensor().fill_(1);
  EXPECT_TRUE(isIntact(buffer));
}

}  // namespace
}  // namespace swage::verify
