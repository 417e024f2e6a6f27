// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace swage::verify {

// What a GPU has been asked and the host wants to know, brought over in one copy: a device that is asked one thing at a
// time, and waited for each time, is mostly idle. Calls may throw c10::Error.
class Answers {
 public:
  // Which of them belong to one question.
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  // Small contiguous tensors, all on one device. Does not wait.
  Range add(const std::vector<at::Tensor>& small);
  // Waits for the device, and throws when anything that it was asked before has failed.
  void fetch();

  // After fetch():
  [[nodiscard]] std::string_view bytesOf(Range range) const;
  [[nodiscard]] std::vector<double> numbersOf(Range range) const;  // of scalars of floating type
  [[nodiscard]] std::int64_t totalOf(Range range) const;           // of scalars of type int64, modulo 2^64
  [[nodiscard]] int firstSetOf(Range range) const;                 // of booleans; -1: none

 private:
  [[nodiscard]] std::span<const char> bytesAt(std::size_t index) const;

  std::vector<at::Tensor> m_asked;
  std::vector<at::ScalarType> m_types;
  std::vector<std::size_t> m_begins;  // of each answer's bytes, and the end of the last
  at::Tensor m_bytes;                 // on the host
};

}  // namespace swage::verify
