// SPDX-License-Identifier: Apache-2.0
#include "core/device/tensor_maps.h"

#include <variant>

#include <fmt/format.h>

namespace swage::device {
namespace {

// More addresses than a run cycles through; one that takes ever new ones does not keep them all.
constexpr std::size_t kMostAddresses = 1024;

template <class Number>
std::vector<Number> as(const std::vector<std::int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

static_assert(sizeof(CUtensorMap) == domain::kTensorMapBytes && alignof(CUtensorMap) <= domain::kTensorMapAlignment);
static_assert(static_cast<int>(domain::MapElement::TFloat32Flushed) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(domain::MapSwizzle::Bytes128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(static_cast<int>(domain::MapPromotion::Bytes256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(domain::MapFill::NotANumber) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

TensorMaps::TensorMaps(const CudaDriver& driver, const domain::KernelStep& step)
    : m_driver(driver), m_count(step.arguments.size()) {
  for (std::size_t i = 0; i < m_count; ++i) {
    if (const auto* map = std::get_if<domain::TensorMap>(&step.arguments[i])) {
      m_slots.push_back({i, *map, {}});
    }
  }
}

DeviceStatus TensorMaps::check() const {
  if (!isEmpty() && m_driver.cuTensorMapEncodeTiled == nullptr) {
    return DeviceFailure{"this driver knows no tensor maps"};
  }
  return std::nullopt;
}

DeviceStatus TensorMaps::encode(void** arguments, std::vector<void*>& encoded) {
  encoded.assign(arguments, arguments + m_count);
  for (Slot& slot : m_slots) {
    const CUdeviceptr address = *static_cast<CUdeviceptr*>(arguments[slot.argument]);
    auto found = slot.encoded.find(address);
    if (found == slot.encoded.end()) {
      CUtensorMap map{};
      if (DeviceStatus failed = encode(slot.map, address, map)) {
        return failed;
      }
      if (slot.encoded.size() >= kMostAddresses) {
        slot.encoded.clear();
      }
      found = slot.encoded.emplace(address, map).first;
    }
    encoded[slot.argument] = &found->second;
  }
  return std::nullopt;
}

DeviceStatus TensorMaps::encode(const domain::TensorMap& map, CUdeviceptr address, CUtensorMap& encoded) const {
  const CUdeviceptr first = address + static_cast<CUdeviceptr>(map.offset * domain::byteSize(map.element));
  const auto sizes = as<cuuint64_t>(map.sizes);
  const auto strides = as<cuuint64_t>(map.strides);
  const auto box = as<cuuint32_t>(map.box);
  const auto elementStrides = as<cuuint32_t>(map.elementStrides);
  const CUresult code = m_driver.cuTensorMapEncodeTiled(
      &encoded, static_cast<CUtensorMapDataType>(map.element), static_cast<cuuint32_t>(sizes.size()),
      reinterpret_cast<void*>(first), sizes.data(), strides.data(), box.data(), elementStrides.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(map.swizzle),
      static_cast<CUtensorMapL2promotion>(map.promotion), static_cast<CUtensorMapFloatOOBfill>(map.fill));
  return m_driver.check(code, fmt::format("encode the tensor map of buffer {}", map.buffer.value()));
}

}  // namespace swage::device
