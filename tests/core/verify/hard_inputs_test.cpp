// SPDX-License-Identifier: Apache-2.0
#include "core/verify/hard_inputs.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tests/core/verify/task_builder.h"

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

// What the input of a small task becomes.
at::Tensor hardened(InputClass inputs, const at::Tensor& drawn) {
  const domain::Graph graph = testing::pointwiseTask(drawn.sizes().vec(), "aten.relu.default").graph;
  return harden(graph, {inputs, 1}, {drawn.clone()}).front();
}

TEST(Ties, AreOfFewValuesWithZerosOfBothSigns) {
  const at::Tensor made = hardened(InputClass::Ties, at::randn({64, 64}));
  const at::Tensor zeros = made.masked_select(made.eq(0));
  EXPECT_TRUE(zeros.signbit().any().item<bool>());
  EXPECT_FALSE(zeros.signbit().all().item<bool>());
  EXPECT_TRUE(made.mul(4).eq(made.mul(4).round()).all().item<bool>());
  EXPECT_TRUE(made.ne(0).any().item<bool>());
}

TEST(Rows, AreDrawnOnesTimesPowersOfTwo) {
  const at::Tensor drawn = at::ones({64, 8});
  const at::Tensor made = hardened(InputClass::Rows, drawn);
  const at::Tensor first = made.narrow(1, 0, 1);
  EXPECT_TRUE(made.eq(first).all().item<bool>());
  EXPECT_TRUE(first.log2().eq(first.log2().round()).all().item<bool>());
  EXPECT_GT(first.max().item<float>() / first.min().item<float>(), 1024.0F);
}

TEST(Rows, NeedMoreThanOne) {
  const auto applies = [](const at::Tensor& drawn) {
    const std::vector<at::Tensor> inputs{drawn};
    return appliesTo(testing::pointwiseTask(drawn.sizes().vec(), "aten.relu.default").graph, {InputClass::Rows, 1},
                     inputs);
  };
  EXPECT_TRUE(applies(at::randn({2, 8})));
  EXPECT_FALSE(applies(at::randn({1, 8})));
  EXPECT_FALSE(applies(at::randn({8})));
}

}  // namespace
}  // namespace swage::verify
