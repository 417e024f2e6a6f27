// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/core/synth/system_compiler.h"

// Tensors as bytes and as numbers.
namespace swage::synth {

using Half = _Float16;

template <class T>
[[nodiscard]] Bytes toBytes(const std::vector<double>& numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T value = static_cast<T>(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
[[nodiscard]] std::vector<double> toNumbers(const Bytes& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

// Numbers in [-2, 2) that float represents, so that references in double start from the same values.
[[nodiscard]] inline std::vector<double> randomNumbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    number = static_cast<double>(static_cast<float>(random.unit() * 4.0 - 2.0));
  }
  return numbers;
}

// The first difference, or empty. NaN equals NaN and infinities equal themselves.
[[nodiscard]] inline std::string firstDifference(const std::vector<double>& got, const std::vector<double>& want,
                                                 double tolerance) {
  if (got.size() != want.size()) {
    return std::to_string(got.size()) + " elements instead of " + std::to_string(want.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = (std::isnan(got[i]) && std::isnan(want[i])) || got[i] == want[i] ||
                      std::abs(got[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i]));
    if (!same) {
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
             std::to_string(want[i]);
    }
  }
  return {};
}

}  // namespace swage::synth
