// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace swage::domain {

// Element types, named as PyTorch names them.
enum class ScalarType : std::uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

[[nodiscard]] std::string_view name(ScalarType type);  // "float32"
[[nodiscard]] std::optional<ScalarType> parseScalarType(std::string_view text);
[[nodiscard]] std::size_t byteSize(ScalarType type);
[[nodiscard]] bool isFloating(ScalarType type);

}  // namespace swage::domain
