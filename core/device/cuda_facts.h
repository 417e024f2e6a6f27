// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/device/cuda_driver.h"
#include "core/device/nvml.h"
#include "core/device/occupancy.h"
#include "core/domain/device_info.h"

// What the driver knows of a device without a context on it; private to this folder.
namespace swage::device {

// 0 where the driver does not know it.
[[nodiscard]] int attributeOf(const CudaDriver& driver, CUdevice device, CUdevice_attribute attribute);
[[nodiscard]] MultiprocessorLimits limitsOf(const CudaDriver& driver, CUdevice device);
// "GPU-01234567-89ab-…" as nvidia-smi has it; empty where the driver does not know it.
[[nodiscard]] std::string uuidOf(const CudaDriver& driver, CUdevice device);
// All but what has to be measured.
[[nodiscard]] domain::DeviceInfo describeDevice(const CudaDriver& driver, CUdevice device, int ordinal,
                                                const std::string& uuid, const NvmlFacts& facts);

}  // namespace swage::device
