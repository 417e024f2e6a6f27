// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "core/device/cuda_driver.h"
#include "core/domain/launch_plan.h"

namespace swage::device {

// The tensor maps among the arguments of one kernel, encoded for the addresses that their buffers have. A map is kept
// for each address that it was encoded for, since the buffers of a candidate take turns at a few addresses while it is
// timed, and encoding would be timed with it.
class TensorMaps {
 public:
  TensorMaps(const CudaDriver& driver, const domain::KernelStep& step);

  [[nodiscard]] bool isEmpty() const { return m_slots.empty(); }
  // Whether the driver can encode maps at all.
  [[nodiscard]] DeviceStatus check() const;
  // Takes and gives arguments as Kernel::launch and cuLaunchKernel do: where there is a map, `arguments` has the
  // address of its buffer and the result the map. What the result points at lives until the next call.
  [[nodiscard]] DeviceStatus encode(void** arguments, std::vector<void*>& encoded);

 private:
  struct Slot {
    std::size_t argument = 0;
    domain::TensorMap map;
    std::unordered_map<CUdeviceptr, CUtensorMap> encoded;  // by the address of the buffer
  };

  [[nodiscard]] DeviceStatus encode(const domain::TensorMap& map, CUdeviceptr address, CUtensorMap& encoded) const;

  const CudaDriver& m_driver;
  std::size_t m_count = 0;  // of all arguments
  std::vector<Slot> m_slots;
};

}  // namespace swage::device
