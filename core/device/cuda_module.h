// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/cuda_driver.h"
#include "core/device/cuda_resources.h"
#include "core/device/device.h"

namespace swage::device {

// The cubins of a program (core/domain/cubins.h) in the current context. Kernels are launched on the stream that is
// there when they are, as libtorch's are.
class CudaModule final : public KernelModule {
 public:
  // `stream` outlives the module and its kernels, and may change between launches.
  [[nodiscard]] static DeviceResult<std::unique_ptr<KernelModule>> load(const CudaDriver& driver,
                                                                        std::string_view binary,
                                                                        std::int64_t sharedBytesPerBlock,
                                                                        const MultiprocessorLimits& limits,
                                                                        const CUstream& stream = kDefaultStream);
  ~CudaModule() override;

  [[nodiscard]] DeviceResult<std::unique_ptr<Kernel>> bind(const domain::KernelStep& step) override;

 private:
  CudaModule(const CudaDriver& driver, std::int64_t sharedBytesPerBlock, const MultiprocessorLimits& limits,
             const CUstream& stream)
      : m_driver(driver), m_sharedBytesPerBlock(sharedBytesPerBlock), m_limits(limits), m_stream(stream) {}
  [[nodiscard]] DeviceStatus add(std::string_view cubin);
  [[nodiscard]] CUresult find(const std::string& entry, CUfunction& function) const;
  [[nodiscard]] DeviceStatus checkParameters(CUfunction function, const domain::KernelStep& step) const;
  [[nodiscard]] DeviceStatus allowResources(CUfunction function, const domain::KernelStep& step) const;

  const CudaDriver& m_driver;
  std::vector<CUmodule> m_modules = {};
  std::int64_t m_sharedBytesPerBlock;
  MultiprocessorLimits m_limits;
  const CUstream& m_stream;
};

}  // namespace swage::device
