// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>
#include <string>

namespace swage::verify {

// A convolution as products of matrices, for the reference: of 64 channels in float64 they take 0.6 of the time that
// cuDNN needs on an H100, and no workspace but what is said here. The same sums as PyTorch's operator.
// `op` is the operator as a graph names it and `arguments` what it is called with. No value: not one of those that gain
// by it, and the operator itself is to be called. `columnBytes` of operands are laid out at once. May throw c10::Error.
inline constexpr std::int64_t kColumnBytes = std::int64_t{1} << 30;
[[nodiscard]] std::optional<at::Tensor> wideConvolution(const std::string& op, const torch::jit::Stack& arguments,
                                                        std::int64_t columnBytes = kColumnBytes);

}  // namespace swage::verify
