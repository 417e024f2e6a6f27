// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "core/device/driver_kernel.h"

namespace swage::device {

// Fills the L2 cache with clean lines of a buffer of its own, by reading it. After flushing with writes the next kernel
// would pay for writing those lines back, and the counters would count that as the kernel's.
class CacheCleaner {
 public:
  // In the current context. The buffer has four times `cacheBytes`.
  [[nodiscard]] static DeviceResult<std::unique_ptr<CacheCleaner>> create(const CudaDriver& driver,
                                                                          std::size_t cacheBytes);
  ~CacheCleaner();
  CacheCleaner(const CacheCleaner&) = delete;
  CacheCleaner& operator=(const CacheCleaner&) = delete;

  // Has finished when this returns.
  [[nodiscard]] DeviceStatus clean();

 private:
  explicit CacheCleaner(const CudaDriver& driver) : m_driver(driver) {}
  [[nodiscard]] DeviceStatus prepare(std::size_t bytes);

  const CudaDriver& m_driver;
  std::unique_ptr<DriverKernel> m_reader;
  CUdeviceptr m_buffer = 0;
  std::size_t m_bytes = 0;
};

}  // namespace swage::device
