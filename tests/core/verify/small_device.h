// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/wire/messages.h"
#include "tests/core/verify/relay_device.h"

namespace swage::testing {

// A device that says it has little memory left.
class SmallDevice final : public RelayDevice {
 public:
  SmallDevice(device::Device& real, std::int64_t freeBytes) : RelayDevice(real), m_freeBytes(freeBytes) {}
  [[nodiscard]] std::int64_t freeBytes() const override { return m_freeBytes; }

 private:
  std::int64_t m_freeBytes;
};

// The least free memory with which the results of so many checks are kept and the reference is computed in float64.
[[nodiscard]] std::int64_t bytesToKeep(int checks, const wire::LoadTask& loading);

}  // namespace swage::testing
