// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "core/verify/wiped.h"

namespace swage::verify {

// A tensor, flat and in logical order, whose bits lie in memory under a mask, so that a kernel which reads memory it
// was not given finds no answer there. Only chunks of it are ever readable. Without a mask, for results that no
// candidate runs beside, it is wiped with its last copy. Calls may throw c10::Error.
class Sealed {
 public:
  // Of nothing: whoever asks for an element gets a c10::Error.
  Sealed() = default;
  // Copies, unless the key is 0.
  Sealed(const at::Tensor& tensor, std::uint64_t key);

  // Not to be changed. Booleans come as bytes.
  [[nodiscard]] Wiped chunk(std::int64_t begin, std::int64_t count) const;
  [[nodiscard]] double element(std::int64_t index) const;

  [[nodiscard]] bool isThere() const { return m_bits.defined(); }
  [[nodiscard]] std::int64_t size() const { return m_bits.numel(); }
  [[nodiscard]] bool isFloating() const { return at::isFloatingType(m_type); }
  [[nodiscard]] c10::Device device() const { return m_bits.device(); }
  // Masked.
  [[nodiscard]] const at::Tensor& bits() const { return m_bits; }

 private:
  std::shared_ptr<const Wiped> m_open;  // where there is no mask; before m_bits, so that it ends after them
  at::ScalarType m_type = at::kByte;
  std::int64_t m_mask = 0;  // as a value of the integer type of the bits
  at::Tensor m_bits;
};

}  // namespace swage::verify
