// SPDX-License-Identifier: Apache-2.0
#include "core/verify/guarded.h"

#include <ATen/ops/empty.h>

#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

constexpr std::int64_t kZoneBytes = 4096;
constexpr std::uint8_t kCanary = 0xA5;

}  // namespace

Guarded::Guarded(const domain::TensorType& type, c10::Device device, std::uint8_t poison)
    : m_payloadBytes(extentBytes(type)) {
  m_block = at::empty({m_payloadBytes + 2 * kZoneBytes}, at::TensorOptions().dtype(at::kByte).device(device));
  repairRedZones();
  const at::Tensor payload = m_block.narrow(0, kZoneBytes, m_payloadBytes);
  payload.fill_(poison);
  m_tensor = payload.view(toTorch(type.dtype)).as_strided(type.shape, type.strides);
}

bool Guarded::redZonesIntact() const {
  return frontZone().eq(kCanary).logical_and(backZone().eq(kCanary)).all().item<bool>();
}

void Guarded::repairRedZones() {
  frontZone().fill_(kCanary);
  backZone().fill_(kCanary);
}

at::Tensor Guarded::frontZone() const {
  return m_block.narrow(0, 0, kZoneBytes);
}

at::Tensor Guarded::backZone() const {
  return m_block.narrow(0, kZoneBytes + m_payloadBytes, kZoneBytes);
}

}  // namespace swage::verify
