// SPDX-License-Identifier: Apache-2.0
#include "core/verify/hard_inputs.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace swage::verify {
namespace {

const domain::GraphInput kParameter{domain::ValueId(0), domain::InputKind::Parameter, "weight"};
const domain::GraphInput kBuffer{domain::ValueId(0), domain::InputKind::Buffer, "mask"};

TEST(OtherWeight, KeepsASingleSign) {
  EXPECT_TRUE(otherWeight(kParameter, at::ones({1000}), 1).gt(0).all().item<bool>());
  EXPECT_TRUE(otherWeight(kParameter, at::full({1000}, -2.0), 1).lt(0).all().item<bool>());
}

TEST(OtherWeight, MayTurnTheSignsOfAParameterThatHasBoth) {
  const at::Tensor weight = at::randn({1000});
  const at::Tensor other = otherWeight(kParameter, weight, 1);
  EXPECT_TRUE(other.mul(weight).lt(0).any().item<bool>());
}

TEST(OtherWeight, ChangesABufferOfZerosAndNoZerosAmongOthers) {
  EXPECT_TRUE(otherWeight(kBuffer, at::zeros({1000}), 1).ne(0).all().item<bool>());
  const at::Tensor mask = at::cat({at::zeros({10}), at::ones({10})});
  EXPECT_TRUE(otherWeight(kBuffer, mask, 1).eq(0).equal(mask.eq(0)));
}

}  // namespace
}  // namespace swage::verify
