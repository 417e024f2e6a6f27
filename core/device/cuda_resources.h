// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <utility>

#include "core/base/log.h"
#include "core/device/cuda_driver.h"
#include "core/device/failure.h"

// What a CUDA device owns for as long as it is open. Used on the thread that has the context; private to this folder.
namespace swage::device {

inline constexpr CUstream kDefaultStream = nullptr;  // the legacy one, libtorch's own until it is told another

// An allocation outside libtorch's cache.
class DeviceBlock {
 public:
  [[nodiscard]] static DeviceResult<DeviceBlock> allocate(const CudaDriver& driver, std::size_t bytes) {
    CUdeviceptr address = 0;
    if (DeviceStatus failed = driver.check(driver.cuMemAlloc(&address, bytes), "allocate device memory")) {
      return tl::make_unexpected(std::move(*failed));
    }
    return DeviceBlock(driver, address, bytes);
  }
  ~DeviceBlock() {
    if (m_address != 0 && m_driver->cuMemFree(m_address) != CUDA_SUCCESS) {
      log::debug("device memory could not be freed");  // the context is gone, which has been reported
    }
  }
  DeviceBlock(DeviceBlock&& other) noexcept
      : m_driver(other.m_driver), m_address(std::exchange(other.m_address, 0)), m_bytes(other.m_bytes) {}
  DeviceBlock& operator=(DeviceBlock&&) = delete;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  [[nodiscard]] CUdeviceptr address() const { return m_address; }
  [[nodiscard]] std::size_t bytes() const { return m_bytes; }

 private:
  DeviceBlock(const CudaDriver& driver, CUdeviceptr address, std::size_t bytes)
      : m_driver(&driver), m_address(address), m_bytes(bytes) {}

  const CudaDriver* m_driver;
  CUdeviceptr m_address;
  std::size_t m_bytes;
};

class CudaEvent {
 public:
  explicit CudaEvent(const CudaDriver& driver) : m_driver(driver) {
    if (m_driver.cuEventCreate(&m_event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
      m_event = nullptr;  // recording it will say so
    }
  }
  ~CudaEvent() {
    if (m_event != nullptr && m_driver.cuEventDestroy(m_event) != CUDA_SUCCESS) {
      log::debug("an event could not be destroyed");
    }
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  [[nodiscard]] DeviceStatus record(CUstream stream) {
    return m_driver.check(m_driver.cuEventRecord(m_event, stream), "time");
  }
  [[nodiscard]] DeviceResult<double> nanosecondsSince(const CudaEvent& start) const {
    float milliseconds = 0.0F;
    const CUresult code = m_driver.cuEventElapsedTime(&milliseconds, start.m_event, m_event);
    if (DeviceStatus failed = m_driver.check(code, "read the time")) {
      return tl::make_unexpected(std::move(*failed));
    }
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  const CudaDriver& m_driver;
  CUevent m_event = nullptr;
};

}  // namespace swage::device
