// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "core/verify/sealed.h"

namespace swage::verify {

// What is left of a result for which there is no room: the sum of each run of neighbouring elements, every element with
// a weight that was drawn when the task was loaded, and that no candidate knows. Of two results, the sums differ by
// their errors: the squares of all differences add up to about the square of the L2 error of all elements, and an
// element that is wrong by itself moves its sum by half its error at least. So a look at the sums finds what a look at
// all elements finds, but for single errors that are lost among the ordinary ones of their run.
// Everything here may throw c10::Error.
class Digester {
 public:
  // Of fewer elements the sums say too little.
  static constexpr std::int64_t kFewestElements = std::int64_t{1} << 16;

  // The weights lie under the mask.
  Digester(c10::Device device, std::uint64_t maskKey);

  // Of a flat tensor: float64 where it is of floating type, int64 otherwise. Does not wait.
  [[nodiscard]] at::Tensor sumsOf(const at::Tensor& flat) const;
  [[nodiscard]] at::Tensor sumsOf(const Sealed& sealed) const;

  // How many neighbours are added up where there are so many elements: as few as keep what is left small.
  [[nodiscard]] static std::int64_t runLength(std::int64_t elements);

 private:
  using Part = std::function<Wiped(std::int64_t begin, std::int64_t count)>;
  [[nodiscard]] at::Tensor sumsOf(std::int64_t size, const Sealed& weights, const Part& part) const;

  Sealed m_weights;         // float64: of either sign, with a mean square of 1
  Sealed m_integerWeights;  // int64, odd
};

}  // namespace swage::verify
