// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "core/device/cuda_resources.h"

namespace swage::device {

// A kernel of Swage's own, from PTX that the driver compiles for the device at hand. In the current context; unloaded
// at destruction.
class DriverKernel {
 public:
  struct Shape {
    unsigned blocks = 1;
    unsigned threads = 1;
    unsigned sharedBytes = 0;
    CUstream stream = kDefaultStream;
  };

  [[nodiscard]] static DeviceResult<std::unique_ptr<DriverKernel>> load(const CudaDriver& driver, const char* ptx,
                                                                        const char* entry);
  ~DriverKernel();
  DriverKernel(const DriverKernel&) = delete;
  DriverKernel& operator=(const DriverKernel&) = delete;

  [[nodiscard]] DeviceStatus allowSharedBytes(int bytes) const;
  // `arguments` as for cuLaunchKernel. Does not wait.
  [[nodiscard]] DeviceStatus launch(const Shape& shape, void** arguments, std::string_view attempted) const;

 private:
  DriverKernel(const CudaDriver& driver, CUmodule module) : m_driver(driver), m_module(module) {}

  const CudaDriver& m_driver;
  CUmodule m_module;
  CUfunction m_function = nullptr;
};

}  // namespace swage::device
