// SPDX-License-Identifier: Apache-2.0
#include "core/verify/guarded.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "core/verify/tensors.h"
#include "core/verify/wiped.h"

namespace swage::verify {
namespace {

constexpr std::int64_t kZoneBytes = 4096;
constexpr std::uint8_t kCanary = 0xA5;
constexpr std::int64_t kDisturbedEvery = 61;

}  // namespace

Guarded::Guarded(const domain::TensorType& type, device::Device& device, c10::Device where, std::uint8_t poison)
    : m_device(&device), m_payloadBytes(extentBytes(type)) {
  m_block = at::empty({m_payloadBytes + 2 * kZoneBytes}, at::TensorOptions().dtype(at::kByte).device(where));
  m_redZones = {m_block.narrow(0, 0, kZoneBytes), m_block.narrow(0, kZoneBytes + m_payloadBytes, kZoneBytes)};
  repairRedZones();
  const at::Tensor payload = m_block.narrow(0, kZoneBytes, m_payloadBytes);
  fill(payload, poison);
  m_tensor = payload.view(toTorch(type.dtype)).as_strided(type.shape, type.strides);
}

Guarded::~Guarded() {
  m_tensor.reset();
  m_redZones = {};
  wipe(m_block);
}

void Guarded::repairRedZones() const {
  for (const at::Tensor& zone : m_redZones) {
    fill(zone, kCanary);
  }
}

void Guarded::fill(const at::Tensor& bytes, std::uint8_t value) const {
  const auto failed = m_device->fill(bytes.data_ptr(), value, bytes.nbytes());
  TORCH_CHECK(!failed, failed->detail);
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
bool areIntact(std::string_view redZones) {
  return redZones.empty() || (static_cast<std::uint8_t>(redZones.front()) == kCanary &&
                              std::memcmp(redZones.data(), redZones.data() + 1, redZones.size() - 1) == 0);
}

}  // namespace swage::verify
