// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/domain/graph.h"
#include "core/verify/checks.h"

// Inputs that are hard to compute with, made from a draw of the task's generator. Only user inputs of floating type
// change, in the class of other weights only parameters and buffers of floating type, in that of other masks only
// booleans that tell nothing: an index, a mask or a counter stays what the task made it, so that every input stays one
// the task may get. Everything here may throw c10::Error.
namespace swage::verify {

// The inputs of `check`. Tensors that change are replaced, those that stay are shared with `drawn`.
[[nodiscard]] std::vector<at::Tensor> harden(const domain::Graph& graph, const Check& check,
                                             std::vector<at::Tensor> drawn);

// Whether the class differs from what the task draws anyway: there are weights to change, floating inputs to scale, or
// a sign that is missing.
[[nodiscard]] bool appliesTo(const domain::Graph& graph, const Check& check, std::span<const at::Tensor> drawn);

// Another value for one parameter or buffer, of the same shape, type and about the same scale. What has one sign keeps
// it (of a gain a root may be taken), and a buffer keeps all signs and zeros (a variance stays positive, a mask stays a
// mask), but for a running mean, which may be anything, and for one that is all zeros, as a bias may be.
[[nodiscard]] at::Tensor otherWeight(const domain::GraphInput& input, const at::Tensor& weight, std::uint64_t seed);

// With so many times its largest magnitude in the place of what is no number.
[[nodiscard]] at::Tensor withNumbers(const at::Tensor& input, double factor);

// Moves values by one rounding of the type they are stored in, up or down. The directions are drawn once and then taken
// from a random place on, over and over: a draw for each element of each value would take longer than the operator that
// computed it. Their number is prime, so that no row of a tensor gets what the row before it got.
class RoundingNoise {
 public:
  // Draws from PyTorch's generator, in the type and on the device of the values to come.
  RoundingNoise(at::ScalarType type, c10::Device device);

  // Contiguous; itself when it is not floating.
  [[nodiscard]] at::Tensor apply(const at::Tensor& value, domain::ScalarType stored);

 private:
  at::Tensor m_directions;  // 1 or -1
  std::mt19937_64 m_place;
};

}  // namespace swage::verify
