// SPDX-License-Identifier: Apache-2.0
#include "core/verify/guarded.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

constexpr std::int64_t kZoneBytes = 4096;
constexpr std::uint8_t kCanary = 0xA5;
constexpr std::int64_t kDisturbedEvery = 61;

}  // namespace

Guarded::Guarded(const domain::TensorType& type, c10::Device device, std::uint8_t poison)
    : m_payloadBytes(extentBytes(type)) {
  m_block = at::empty({m_payloadBytes + 2 * kZoneBytes}, at::TensorOptions().dtype(at::kByte).device(device));
  repairRedZones();
  const at::Tensor payload = m_block.narrow(0, kZoneBytes, m_payloadBytes);
  payload.fill_(poison);
  m_tensor = payload.view(toTorch(type.dtype)).as_strided(type.shape, type.strides);
}

at::Tensor Guarded::redZones() const {
  return m_block.as_strided({2, kZoneBytes}, {kZoneBytes + m_payloadBytes, 1});
}

void Guarded::repairRedZones() const {
  redZones().fill_(kCanary);
}

void Guarded::disturb(std::int64_t offset) {
  const at::Tensor bytes = m_block.narrow(0, kZoneBytes, m_payloadBytes);
  const at::Tensor words = m_payloadBytes % 4 == 0 ? bytes.view(at::kInt) : bytes;
  if (words.numel() == 0) {
    return;
  }
  constexpr std::int64_t kFlipped = 0x55;  // of every byte; of a float32 that is half of its exponent
  const std::int64_t first = std::min(offset, words.numel() - 1);
  words.slice(0, first, words.numel(), kDisturbedEvery)
      .bitwise_xor_(words.scalar_type() == at::kInt ? kFlipped * 0x01010101 : kFlipped);
}

// On the host, because on a GPU one copy is less than a reduction for each buffer.
bool areIntact(const at::Tensor& redZones) {
  const at::Tensor bytes = redZones.contiguous();
  const auto* first = bytes.const_data_ptr<std::uint8_t>();
  const auto size = static_cast<std::size_t>(bytes.numel());
  return size == 0 || (*first == kCanary && std::memcmp(first, first + 1, size - 1) == 0);
}

}  // namespace swage::verify
