// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/device/cuda_driver.h"
#include "core/device/device.h"

// Captured calls on a CUDA device: CUDA graphs of the driver. Used on the thread that has the context.
namespace swage::device {

class CudaCapture {
 public:
  // `stream` is the one that graphs are launched on; it outlives them and may change between launches.
  CudaCapture(const CudaDriver& driver, const CUstream& stream) : m_driver(driver), m_stream(stream) {}
  ~CudaCapture();
  CudaCapture(const CudaCapture&) = delete;
  CudaCapture& operator=(const CudaCapture&) = delete;

  // See Device::captureStream(). Made when it is first asked for.
  [[nodiscard]] DeviceResult<void*> ownStream();
  // See Device::capture().
  [[nodiscard]] DeviceResult<std::unique_ptr<CapturedCall>> capture(const Device::Call& call);

 private:
  const CudaDriver& m_driver;
  const CUstream& m_stream;
  CUstream m_own = nullptr;
};

}  // namespace swage::device
