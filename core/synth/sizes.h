// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Arithmetic on sizes and positions, and the limits of CUDA that strategies of several families meet.
namespace swage::synth {

inline constexpr std::int64_t kLargestInt = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMaxGrid = kLargestInt;  // blocks along the first axis of a CUDA grid

[[nodiscard]] inline std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

// Parts of `b` that hold `a`; both positive.
[[nodiscard]] inline std::int64_t divideUp(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
// The least multiple of `b` that is not below `a`.
[[nodiscard]] inline std::int64_t roundUp(std::int64_t a, std::int64_t b) {
  return divideUp(a, b) * b;
}

}  // namespace swage::synth
