// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/domain/graph.h"

namespace swage::verify {

// A tensor in the middle of a larger block, with red zones on both sides and a payload that starts out as poison.
// Constructing and checking may throw c10::Error.
class Guarded {
 public:
  // All bytes of the payload become `poison`: 0xFF reads as NaN in every floating type.
  Guarded(const domain::TensorType& type, c10::Device device, std::uint8_t poison);

  [[nodiscard]] const at::Tensor& tensor() const { return m_tensor; }
  // Both, as bytes.
  [[nodiscard]] at::Tensor redZones() const;
  void repairRedZones() const;
  // Changes a word here and there of what the tensor holds, beginning `offset` words (at least 16) into it: enough for
  // what is read back from it to be wrong, too little to hide what it is.
  void disturb(std::int64_t offset);

 private:
  at::Tensor m_block;
  at::Tensor m_tensor;
  std::int64_t m_payloadBytes = 0;
};

// Whether nobody wrote into these red zones: of one buffer or joined of several, on the host.
[[nodiscard]] bool areIntact(const at::Tensor& redZones);

inline constexpr std::uint8_t kPoison = 0xFF;
inline constexpr std::uint8_t kOtherPoison = 0x7F;  // 3.4e38 in float32: what a maximum that skips NaN would keep

}  // namespace swage::verify
