// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace swage::domain {

// What a worker drives. In which language a program for it is written is another question: core/domain/language.h.
enum class DeviceKind : std::uint8_t { Cpu, Cuda };

inline constexpr std::array kDeviceKinds{DeviceKind::Cpu, DeviceKind::Cuda};

[[nodiscard]] std::string_view name(DeviceKind kind);  // "cpu", "cuda"
[[nodiscard]] std::optional<DeviceKind> parseDeviceKind(std::string_view text);

}  // namespace swage::domain
