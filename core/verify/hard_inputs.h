// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/domain/graph.h"
#include "core/verify/checks.h"

// Inputs that are hard to compute with, made from a draw of the task's generator. Only user inputs of floating type
// change, and in the class of other weights only parameters and buffers of floating type: an index, a mask or a counter
// stays what the task made it, so that every input stays one the task may get. Everything here may throw c10::Error.
namespace swage::verify {

// The inputs of `check`. Tensors that change are replaced, those that stay are shared with `drawn`.
[[nodiscard]] std::vector<at::Tensor> harden(const domain::Graph& graph, const Check& check,
                                             std::vector<at::Tensor> drawn);

// Whether the class differs from what the task draws anyway: there are weights to change, floating inputs to scale, or
// a sign that is missing.
[[nodiscard]] bool appliesTo(const domain::Graph& graph, const Check& check, std::span<const at::Tensor> drawn);

// Another value for one parameter or buffer, of the same shape, type and about the same scale. A buffer keeps signs and
// zeros (a variance stays positive, a mask stays a mask), but for a running mean, which may be anything.
[[nodiscard]] at::Tensor otherWeight(const domain::GraphInput& input, const at::Tensor& weight, std::uint64_t seed);

// A value off by one rounding of the type it is stored in, up or down at random; itself when it is not floating.
[[nodiscard]] at::Tensor offByOneRounding(const at::Tensor& value, domain::ScalarType stored);

}  // namespace swage::verify
