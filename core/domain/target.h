// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace swage::domain {

enum class Target : std::uint8_t { Cpu, Cuda };

[[nodiscard]] std::string_view name(Target target);  // "cpu", "cuda"
[[nodiscard]] std::optional<Target> parseTarget(std::string_view text);

}  // namespace swage::domain
