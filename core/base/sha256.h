// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace swage {

// Lower-case hexadecimal SHA-256.
[[nodiscard]] std::string sha256Hex(std::string_view data);
[[nodiscard]] std::string sha256Hex(std::span<const std::byte> data);

}  // namespace swage
