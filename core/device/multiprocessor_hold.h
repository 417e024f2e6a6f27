// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/device/device.h"
#include "core/device/driver_kernel.h"

namespace swage::device {

// Takes all multiprocessors but one away from other kernels of this process: one block for each, which asks for all
// shared memory, so that no other block fits beside it (from sm_80 on, where the system reserves some for every block;
// before that, blocks that use none may still fit). Let go by the host, and in any case after a few milliseconds:
// kernels whose blocks wait for one another are only delayed.
class MultiprocessorHold {
 public:
  // In the current context. `sharedBytesPerBlock`: the most that a block may ask for.
  [[nodiscard]] static DeviceResult<std::unique_ptr<MultiprocessorHold>> create(const CudaDriver& driver,
                                                                                int multiprocessors,
                                                                                std::int64_t sharedBytesPerBlock);
  ~MultiprocessorHold();
  MultiprocessorHold(const MultiprocessorHold&) = delete;
  MultiprocessorHold& operator=(const MultiprocessorHold&) = delete;

  // Waits for the device, takes the multiprocessors, and gives `call`, which issues to `stream`, what is left. Both
  // have ended when this returns.
  [[nodiscard]] DeviceStatus during(const Device::Call& call, CUstream stream);

 private:
  MultiprocessorHold(const CudaDriver& driver, int blocks, std::int64_t sharedBytes)
      : m_driver(driver), m_blocks(blocks), m_sharedBytes(sharedBytes) {}
  [[nodiscard]] DeviceStatus prepare();
  [[nodiscard]] DeviceStatus take();
  void letGo();

  const CudaDriver& m_driver;
  int m_blocks;
  std::int64_t m_sharedBytes;
  std::unique_ptr<DriverKernel> m_holder;
  CUstream m_stream = nullptr;
  // Memory of the host that the device sees too: whether to let go, then for each block whether it is there.
  volatile std::uint32_t* m_words = nullptr;
};

}  // namespace swage::device
