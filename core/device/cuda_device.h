// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/device/device.h"

namespace swage::device {

// One NVIDIA GPU through the driver API, in its primary context, which libtorch shares. Measures the copy bandwidth.
[[nodiscard]] Result<std::unique_ptr<Device>> openCudaDevice(int ordinal);

}  // namespace swage::device
