// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/graph.h"

// How the tensor memory accelerator of a device (TMA, from compute capability 9.0 on) sees a buffer: what
// cuTensorMapEncodeTiled takes, without an address.
namespace swage::domain {

// The type of the elements, with the driver's numbers (CUtensorMapDataType).
enum class MapElement : std::uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
  Float32Flushed,   // denormals become zero
  TFloat32,         // rounded to TF32 on the way
  TFloat32Flushed,  // both
};
[[nodiscard]] std::string_view name(MapElement element);  // "float16", "tf32"
[[nodiscard]] std::optional<MapElement> parseMapElement(std::string_view text);
[[nodiscard]] std::int64_t byteSize(MapElement element);
// Of the elements of a tensor, unchanged on the way.
[[nodiscard]] MapElement mapElement(ScalarType type);

// The bytes over which 16-byte pieces of shared memory change places, so that columns spread over all banks. The
// driver's numbers (CUtensorMapSwizzle); the modes with larger pieces are for later devices and not offered.
enum class MapSwizzle : std::uint8_t { None, Bytes32, Bytes64, Bytes128 };

// The size in which the second-level cache fetches from memory (CUtensorMapL2promotion).
enum class MapPromotion : std::uint8_t { None, Bytes64, Bytes128, Bytes256 };

// What stands for elements outside of the tensor (CUtensorMapFloatOOBfill).
enum class MapFill : std::uint8_t { Zero, NotANumber };

// All lists begin with the innermost dimension, whose elements are neighbours in memory, as the driver's do.
struct TensorMap {
  ValueId buffer;
  std::int64_t offset = 0;  // of the first element in the buffer, in elements of the map
  MapElement element = MapElement::Float32;
  std::vector<std::int64_t> sizes;           // of the tensor, 1 to 5 dimensions
  std::vector<std::int64_t> strides;         // in bytes, of all dimensions but the innermost
  std::vector<std::int64_t> box;             // elements of one transfer
  std::vector<std::int64_t> elementStrides;  // 1: every element; the driver ignores the innermost
  MapSwizzle swizzle = MapSwizzle::None;
  MapPromotion promotion = MapPromotion::Bytes128;
  MapFill fill = MapFill::Zero;

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

// The map of a whole tensor with this layout, whose innermost dimension must have stride 1; `box` as above.
[[nodiscard]] TensorMap tensorMapOf(ValueId buffer, const TensorType& type, std::vector<std::int64_t> box);

// What cuTensorMapEncodeTiled would refuse, given an address that is a multiple of 16, and what lies outside of the
// buffer. Returns an empty string or what is wrong.
[[nodiscard]] std::string findDefect(const TensorMap& map, const TensorType& buffer);

}  // namespace swage::domain
