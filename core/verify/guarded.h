// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "core/device/device.h"
#include "core/domain/graph.h"

namespace swage::verify {

// A tensor in the middle of a larger block, with red zones on both sides and a payload that starts out as poison.
// Constructing and checking may throw c10::Error.
class Guarded {
 public:
  // All bytes of the payload become `poison`: 0xFF reads as NaN in every floating type. `device`, which libtorch calls
  // `where`, must outlive this.
  Guarded(const domain::TensorType& type, device::Device& device, c10::Device where, std::uint8_t poison);

  // What the payload held is wiped.
  ~Guarded();
  Guarded(Guarded&&) noexcept = default;
  Guarded& operator=(Guarded&&) noexcept = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  [[nodiscard]] const at::Tensor& tensor() const { return m_tensor; }
  // The one before and the one behind, as bytes.
  [[nodiscard]] const std::array<at::Tensor, 2>& redZones() const { return m_redZones; }
  void repairRedZones() const;
  // Changes a word here and there of what the tensor holds, beginning `offset` words (at least 16) into it: enough for
  // what is read back from it to be wrong, too little to hide what it is.
  void disturb(std::int64_t offset);

 private:
  // By the device: libtorch takes many times longer to start on it.
  void fill(const at::Tensor& bytes, std::uint8_t value) const;

  device::Device* m_device;
  at::Tensor m_block;
  at::Tensor m_tensor;
  std::array<at::Tensor, 2> m_redZones;
  std::int64_t m_payloadBytes = 0;
};

// Whether nobody wrote into these red zones: bytes of one or of several, one behind the other.
[[nodiscard]] bool areIntact(std::string_view redZones);

inline constexpr std::uint8_t kPoison = 0xFF;
inline constexpr std::uint8_t kOtherPoison = 0x7F;  // 3.4e38 in float32: what a maximum that skips NaN would keep

}  // namespace swage::verify
