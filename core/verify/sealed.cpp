// SPDX-License-Identifier: Apache-2.0
#include "core/verify/sealed.h"

#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

// The low bits of the key as the integer type of `bits` has them: sign-extended, but bytes are unsigned.
std::int64_t maskFor(const at::Tensor& bits, std::uint64_t key) {
  const auto width = static_cast<unsigned>(8 * bits.element_size());
  if (width == 8) {
    return static_cast<std::int64_t>(key & 0xFFU);
  }
  return static_cast<std::int64_t>(key << (64U - width)) >> (64U - width);
}

}  // namespace

Sealed::Sealed(const at::Tensor& tensor, std::uint64_t key)
    : m_type(tensor.scalar_type() == at::kBool ? at::kByte : tensor.scalar_type()), m_bits(flatBits(tensor)) {
  m_mask = maskFor(m_bits, key);
  if (m_mask != 0) {
    m_bits = m_bits.bitwise_xor(m_mask);
  } else {
    m_open = std::make_shared<const Wiped>(m_bits);
  }
}

Wiped Sealed::chunk(std::int64_t begin, std::int64_t count) const {
  const at::Tensor part = count == size() ? m_bits : m_bits.narrow(0, begin, count);
  return Wiped((m_mask != 0 ? part.bitwise_xor(m_mask) : part).view(m_type));
}

double Sealed::element(std::int64_t index) const {
  return chunk(index, 1)->item<double>();
}

}  // namespace swage::verify
