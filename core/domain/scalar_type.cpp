// SPDX-License-Identifier: Apache-2.0
#include "core/domain/scalar_type.h"

#include <array>

#include "core/base/assert.h"

namespace swage::domain {
namespace {

struct Entry {
  ScalarType type;
  std::string_view name;
  std::size_t bytes;
  bool floating;
};

constexpr std::array kEntries{
    Entry{ScalarType::Bool, "bool", 1, false},      Entry{ScalarType::UInt8, "uint8", 1, false},
    Entry{ScalarType::Int8, "int8", 1, false},      Entry{ScalarType::Int16, "int16", 2, false},
    Entry{ScalarType::Int32, "int32", 4, false},    Entry{ScalarType::Int64, "int64", 8, false},
    Entry{ScalarType::Float16, "float16", 2, true}, Entry{ScalarType::BFloat16, "bfloat16", 2, true},
    Entry{ScalarType::Float32, "float32", 4, true}, Entry{ScalarType::Float64, "float64", 8, true},
};

const Entry& entry(ScalarType type) {
  const auto index = static_cast<std::size_t>(type);
  SWAGE_ASSERT(index < kEntries.size() && kEntries[index].type == type);
  return kEntries[index];
}

}  // namespace

std::string_view name(ScalarType type) {
  return entry(type).name;
}

std::optional<ScalarType> parseScalarType(std::string_view text) {
  for (const Entry& candidate : kEntries) {
    if (candidate.name == text) {
      return candidate.type;
    }
  }
  return std::nullopt;
}

std::size_t byteSize(ScalarType type) {
  return entry(type).bytes;
}

bool isFloating(ScalarType type) {
  return entry(type).floating;
}

}  // namespace swage::domain
