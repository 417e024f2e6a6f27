// SPDX-License-Identifier: Apache-2.0
#include "core/device/driver_kernel.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"

namespace swage::device {

DeviceResult<std::unique_ptr<DriverKernel>> DriverKernel::load(const CudaDriver& driver, const char* ptx,
                                                               const char* entry) {
  CUmodule module = nullptr;
  if (DeviceStatus failed = driver.check(driver.cuModuleLoadData(&module, ptx), fmt::format("load {}", entry))) {
    return tl::make_unexpected(std::move(*failed));
  }
  std::unique_ptr<DriverKernel> kernel(new DriverKernel(driver, module));
  const CUresult found = driver.cuModuleGetFunction(&kernel->m_function, module, entry);
  if (DeviceStatus failed = driver.check(found, fmt::format("find {}", entry))) {
    return tl::make_unexpected(std::move(*failed));
  }
  return kernel;
}

DriverKernel::~DriverKernel() {
  if (m_driver.cuModuleUnload(m_module) != CUDA_SUCCESS) {
    log::debug("a kernel could not be unloaded");  // the context is gone, which has been reported
  }
}

DeviceStatus DriverKernel::allowSharedBytes(int bytes) const {
  const CUresult set = m_driver.cuFuncSetAttribute(m_function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
  return m_driver.check(set, "allow more shared memory");
}

DeviceStatus DriverKernel::launch(const Shape& shape, void** arguments, std::string_view attempted) const {
  CUlaunchConfig config{};
  config.gridDimX = shape.blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = shape.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.sharedBytes;
  config.hStream = shape.stream;
  return m_driver.check(m_driver.cuLaunchKernelEx(&config, m_function, arguments, nullptr), attempted);
}

}  // namespace swage::device
