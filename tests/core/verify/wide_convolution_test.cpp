// SPDX-License-Identifier: Apache-2.0
#include "core/verify/wide_convolution.h"

#include <ATen/ops/convolution.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <vector>

namespace swage::verify {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Setting {
  Sizes input;
  Sizes weight;
  Sizes stride;
  Sizes padding;
  Sizes dilation;
  bool isTransposed = false;
  Sizes outputPadding;
  std::int64_t groups = 1;
  std::int64_t columnBytes = kColumnBytes;
};

// How far the result is from PyTorch's own in float64.
double distance(const Setting& setting) {
  const at::Tensor input = at::randn(setting.input, at::kDouble);
  const at::Tensor weight = at::randn(setting.weight, at::kDouble);
  const std::int64_t channels = setting.isTransposed ? setting.groups * setting.weight[1] : setting.weight[0];
  const at::Tensor bias = at::randn({channels}, at::kDouble);
  const torch::jit::Stack arguments = {input,
                                       weight,
                                       bias,
                                       setting.stride,
                                       setting.padding,
                                       setting.dilation,
                                       setting.isTransposed,
                                       setting.outputPadding,
                                       setting.groups};
  const auto wide = wideConvolution("aten.convolution.default", arguments, setting.columnBytes);
  EXPECT_TRUE(wide.has_value());
  const at::Tensor expected = at::convolution(input, weight, bias, setting.stride, setting.padding, setting.dilation,
                                              setting.isTransposed, setting.outputPadding, setting.groups);
  EXPECT_EQ(wide->sizes(), expected.sizes());
  return wide->sub(expected).abs().max().item<double>();
}

constexpr double kRounding = 1e-12;

TEST(WideConvolution, IsThatOfPyTorch) {
  EXPECT_LT(distance({{3, 16, 50}, {24, 16, 3}, {1}, {0}, {1}, false, {0}}), kRounding);
  EXPECT_LT(distance({{2, 8, 19, 23}, {16, 8, 3, 5}, {2, 1}, {1, 2}, {1, 2}, false, {0, 0}}), kRounding);
  EXPECT_LT(distance({{2, 8, 7, 9, 11}, {8, 8, 3, 2, 3}, {1, 2, 1}, {1, 0, 1}, {1, 1, 2}, false, {0, 0, 0}}),
            kRounding);
  EXPECT_LT(distance({{2, 32, 12, 12}, {64, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 4}), kRounding);
}

TEST(WideConvolution, IsTheTransposedOneOfPyTorch) {
  EXPECT_LT(distance({{3, 16, 20}, {16, 8, 4}, {2}, {1}, {2}, true, {1}}), kRounding);
  EXPECT_LT(distance({{2, 8, 9, 7}, {8, 16, 3, 5}, {3, 2}, {1, 0}, {1, 1}, true, {2, 0}}), kRounding);
  EXPECT_LT(distance({{2, 32, 5, 4, 6}, {32, 8, 3, 2, 3}, {2, 1, 2}, {1, 0, 2}, {1, 2, 1}, true, {0, 0, 1}, 2}),
            kRounding);
}

TEST(WideConvolution, IsMadeInPartsWhereMemoryIsShort) {
  constexpr std::int64_t kAnEntry = 300'000;
  constexpr std::int64_t kARow = 10'000;
  for (const std::int64_t bytes : {kAnEntry, kARow, std::int64_t{1}}) {
    EXPECT_LT(distance({{5, 8, 19, 23}, {16, 8, 3, 3}, {1, 2}, {1, 1}, {2, 1}, false, {0, 0}, 1, bytes}), kRounding);
    EXPECT_LT(distance({{5, 8, 19, 23}, {8, 16, 3, 3}, {2, 1}, {1, 1}, {1, 1}, true, {1, 0}, 1, bytes}), kRounding);
  }
}

TEST(WideConvolution, LeavesToPyTorchWhatIsNoProduct) {
  const at::Tensor input = at::randn({2, 16, 9, 9}, at::kDouble);
  const at::Tensor depthwise = at::randn({16, 1, 3, 3}, at::kDouble);
  const Sizes one = {1, 1};
  EXPECT_FALSE(wideConvolution("aten.conv2d.default", {input, depthwise, c10::IValue(), one, one, one, 16}));
  const at::Tensor weight = at::randn({16, 16, 3, 3}, at::kDouble);
  EXPECT_TRUE(wideConvolution("aten.conv2d.default", {input, weight, c10::IValue(), one, one, one, 1}));
  EXPECT_FALSE(wideConvolution("aten.conv2d.padding", {input, weight, c10::IValue(), one, "same", one, 1}));
  EXPECT_FALSE(wideConvolution("aten.conv2d.default", {input[0], weight, c10::IValue(), one, one, one, 1}));
}

}  // namespace
}  // namespace swage::verify
