// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/device/device.h"

namespace swage::device {

// One NVIDIA GPU through the driver API, in its primary context, which libtorch shares. Measures the copy bandwidth.
// The device has shown that it works, and what kernels may take of it beside their buffers is limited.
[[nodiscard]] Result<std::unique_ptr<Device>> openCudaDevice(int ordinal);

// Whether there is such a device and it may be used, without a context on it.
[[nodiscard]] Result<> checkCudaDevice(int ordinal);

// Both without a context on a device.
[[nodiscard]] Result<int> countCudaDevices();
[[nodiscard]] Result<domain::DeviceInfo> describeCudaDevice(int ordinal);

}  // namespace swage::device
