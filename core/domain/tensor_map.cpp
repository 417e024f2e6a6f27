// SPDX-License-Identifier: Apache-2.0
#include "core/domain/tensor_map.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace swage::domain {
namespace {

// Limits of cuTensorMapEncodeTiled (CUDA driver API, section "Tensor Map Object Management").
constexpr std::size_t kMaxRank = 5;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 32;
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;
constexpr std::int64_t kMaxBox = 256;
constexpr std::int64_t kMaxElementStride = 8;
constexpr std::int64_t kAlignment = 16;  // of addresses, strides and the inner box

struct ElementRow {
  MapElement element;
  std::string_view name;
  std::int64_t bytes;
  bool floating;
};

constexpr std::array kElementRows{
    ElementRow{MapElement::UInt8, "uint8", 1, false},
    ElementRow{MapElement::UInt16, "uint16", 2, false},
    ElementRow{MapElement::UInt32, "uint32", 4, false},
    ElementRow{MapElement::Int32, "int32", 4, false},
    ElementRow{MapElement::UInt64, "uint64", 8, false},
    ElementRow{MapElement::Int64, "int64", 8, false},
    ElementRow{MapElement::Float16, "float16", 2, true},
    ElementRow{MapElement::Float32, "float32", 4, true},
    ElementRow{MapElement::Float64, "float64", 8, true},
    ElementRow{MapElement::BFloat16, "bfloat16", 2, true},
    ElementRow{MapElement::Float32Flushed, "float32_flushed", 4, true},
    ElementRow{MapElement::TFloat32, "tf32", 4, true},
    ElementRow{MapElement::TFloat32Flushed, "tf32_flushed", 4, true},
};

const ElementRow& entry(MapElement element) {
  const auto index = static_cast<std::size_t>(element);
  SWAGE_ASSERT(index < kElementRows.size() && kElementRows[index].element == element);
  return kElementRows[index];
}

std::int64_t swizzleBytes(MapSwizzle swizzle) {
  return std::int64_t{16} << static_cast<unsigned>(swizzle);
}

std::string findRankDefect(const TensorMap& map) {
  const std::size_t rank = map.sizes.size();
  if (rank == 0 || rank > kMaxRank) {
    return fmt::format("has {} dimensions, not 1 to {}", rank, kMaxRank);
  }
  if (map.strides.size() != rank - 1 || map.box.size() != rank || map.elementStrides.size() != rank) {
    return fmt::format("has {} sizes, {} strides, {} box sizes and {} element strides", rank, map.strides.size(),
                       map.box.size(), map.elementStrides.size());
  }
  return {};
}

// The lists must agree in their lengths.
std::string findNumberDefect(const TensorMap& map) {
  for (std::size_t i = 0; i < map.sizes.size(); ++i) {
    if (map.sizes[i] < 1 || map.sizes[i] > kMaxSize) {
      return fmt::format("has a size of {}, not 1 to 2^32", map.sizes[i]);
    }
    if (map.box[i] < 1 || map.box[i] > kMaxBox) {
      return fmt::format("has a box size of {}, not 1 to {}", map.box[i], kMaxBox);
    }
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > kMaxElementStride) {
      return fmt::format("has an element stride of {}, not 1 to {}", map.elementStrides[i], kMaxElementStride);
    }
  }
  for (const std::int64_t stride : map.strides) {
    if (stride < 0 || stride >= kMaxStride || stride % kAlignment != 0) {
      return fmt::format("has a stride of {} bytes, not a multiple of {} below 2^40", stride, kAlignment);
    }
  }
  return {};
}

std::string findBoxDefect(const TensorMap& map) {
  const std::int64_t inner = map.box.front() * byteSize(map.element);
  if (inner % kAlignment != 0) {
    return fmt::format("has a box whose innermost dimension takes {} bytes, not a multiple of {}", inner, kAlignment);
  }
  if (map.swizzle != MapSwizzle::None && inner > swizzleBytes(map.swizzle)) {
    return fmt::format("has a box whose innermost dimension takes {} bytes, more than its swizzle of {}", inner,
                       swizzleBytes(map.swizzle));
  }
  if (map.fill == MapFill::NotANumber && !entry(map.element).floating) {
    return fmt::format("fills {} with NaN", name(map.element));
  }
  return {};
}

// From the first element of a buffer to its last, whatever the strides. A type without defect cannot overflow.
std::int64_t extentBytes(const TensorType& type) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) {
      return 0;
    }
    last += (type.shape[i] - 1) * type.strides[i];
  }
  return (last + 1) * static_cast<std::int64_t>(byteSize(type.dtype));
}

std::string findExtentDefect(const TensorMap& map, const TensorType& buffer) {
  const std::int64_t bytes = byteSize(map.element);
  const std::int64_t extent = extentBytes(buffer);
  if (map.offset < 0 || map.offset > extent / bytes || map.offset * bytes % kAlignment != 0) {
    return fmt::format("begins at element {}, not on {} bytes inside of its buffer", map.offset, kAlignment);
  }
  // What is left of the buffer, dimension by dimension, so that nothing overflows.
  std::int64_t left = extent - map.offset * bytes - map.sizes.front() * bytes;
  for (std::size_t i = 0; i < map.strides.size() && left >= 0; ++i) {
    const std::int64_t steps = map.sizes[i + 1] - 1;
    const bool fits = map.strides[i] == 0 || steps <= left / map.strides[i];
    left = fits ? left - steps * map.strides[i] : -1;
  }
  return left < 0 ? fmt::format("reaches beyond the {} bytes of its buffer", extent) : std::string();
}

}  // namespace

std::string_view name(MapElement element) {
  return entry(element).name;
}

std::optional<MapElement> parseMapElement(std::string_view text) {
  const auto* const found =
      std::find_if(kElementRows.begin(), kElementRows.end(), [&](const ElementRow& one) { return one.name == text; });
  return found == kElementRows.end() ? std::nullopt : std::optional(found->element);
}

std::int64_t byteSize(MapElement element) {
  return entry(element).bytes;
}

MapElement mapElement(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
    case ScalarType::UInt8:
    case ScalarType::Int8: return MapElement::UInt8;
    case ScalarType::Int16: return MapElement::UInt16;
    case ScalarType::Int32: return MapElement::Int32;
    case ScalarType::Int64: return MapElement::Int64;
    case ScalarType::Float16: return MapElement::Float16;
    case ScalarType::BFloat16: return MapElement::BFloat16;
    case ScalarType::Float32: return MapElement::Float32;
    case ScalarType::Float64: return MapElement::Float64;
  }
  SWAGE_ASSERT(false);
  return MapElement::UInt8;
}

TensorMap tensorMapOf(ValueId buffer, const TensorType& type, std::vector<std::int64_t> box) {
  TensorMap map;
  map.buffer = buffer;
  map.element = mapElement(type.dtype);
  map.sizes.assign(type.shape.rbegin(), type.shape.rend());
  for (std::size_t i = type.strides.size(); i-- > 1;) {
    map.strides.push_back(type.strides[i - 1] * byteSize(map.element));
  }
  map.box = std::move(box);
  map.elementStrides.assign(map.sizes.size(), 1);
  return map;
}

std::string findDefect(const TensorMap& map, const TensorType& buffer) {
  if (std::string defect = findRankDefect(map); !defect.empty()) {
    return defect;
  }
  for (std::string defect : {findNumberDefect(map), findBoxDefect(map), findExtentDefect(map, buffer)}) {
    if (!defect.empty()) {
      return defect;
    }
  }
  return {};
}

}  // namespace swage::domain
