// SPDX-License-Identifier: Apache-2.0
#include "core/verify/digest.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

namespace swage::verify {
namespace {

constexpr std::int64_t kElements = (std::int64_t{1} << 18) + 17;  // several chunks, and an end that is no whole run

class Sums : public ::testing::Test {
 protected:
  at::Tensor differences(const at::Tensor& a, const at::Tensor& b) const {
    return m_digester.sumsOf(a).sub(m_digester.sumsOf(b));
  }
  static double l2(const at::Tensor& tensor) { return tensor.norm(2, at::kDouble).item<double>(); }

  Digester m_digester{c10::Device(c10::kCPU), 1234567890123};
};

TEST_F(Sums, HaveTheErrorOfAllElements) {
  const at::Tensor reference = at::randn({kElements}, at::kDouble);
  const at::Tensor near = reference.to(at::kFloat);
  EXPECT_NEAR(l2(differences(near, reference)) / l2(near.sub(reference)), 1.0, 0.1);
  const at::Tensor far = reference.add(at::randn_like(reference), 1e-3);
  EXPECT_NEAR(l2(differences(far, reference)) / l2(far.sub(reference)), 1.0, 0.1);
  EXPECT_EQ(l2(differences(reference, reference)), 0.0);
}

TEST_F(Sums, ShowAnElementThatIsWrongByItself) {
  const at::Tensor reference = at::randn({kElements}, at::kDouble);
  for (const std::int64_t element : {std::int64_t{0}, kElements / 3, kElements - 1}) {
    at::Tensor wrong = reference.clone();
    wrong[element] += 1.0;
    EXPECT_GE(differences(wrong, reference).abs().max().item<double>(), 0.5) << element;
  }
}

TEST_F(Sums, ShowElementsThatWereSwapped) {
  at::Tensor reference = at::randn({kElements}, at::kDouble);
  reference[5] = 1.0;
  reference[6] = 2.0;
  at::Tensor swapped = reference.clone();
  swapped[5] = 2.0;
  swapped[6] = 1.0;
  EXPECT_NE(l2(differences(swapped, reference)), 0.0);
  const at::Tensor integers = reference.mul(100).to(at::kLong);
  EXPECT_TRUE(differences(swapped.mul(100).to(at::kLong), integers).ne(0).any().item<bool>());
  EXPECT_FALSE(differences(integers.to(at::kInt), integers).ne(0).any().item<bool>());
}

TEST_F(Sums, OfASealedTensorAreThoseOfTheTensor) {
  const at::Tensor open = at::randn({kElements}, at::kDouble);
  EXPECT_TRUE(m_digester.sumsOf(Sealed(open, 99)).equal(m_digester.sumsOf(open)));
  const at::Tensor flags = at::randint(2, {kElements}, at::kBool);
  EXPECT_TRUE(m_digester.sumsOf(Sealed(flags, 99)).equal(m_digester.sumsOf(flags.view(at::kByte))));
}

TEST_F(Sums, AreNotThoseOfAnotherTask) {
  const at::Tensor values = at::randn({kElements}, at::kDouble);
  const Digester other(c10::Device(c10::kCPU), 1234567890123);
  EXPECT_FALSE(other.sumsOf(values).equal(m_digester.sumsOf(values)));
}

TEST_F(Sums, AreFewHoweverManyElementsThereAre) {
  constexpr std::int64_t kBillions = std::int64_t{1} << 33;
  EXPECT_EQ(Digester::runLength(kElements), 64);
  EXPECT_LE(kBillions / Digester::runLength(kBillions), std::int64_t{1} << 24);
}

}  // namespace
}  // namespace swage::verify
