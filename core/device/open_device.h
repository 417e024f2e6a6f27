// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/device/device.h"

namespace swage::device {

// The device a worker owns. `threads` is what a cpu device reports. Fails with kind Environment when there is no such
// device, or when this build knows nothing of CUDA.
[[nodiscard]] Result<std::unique_ptr<Device>> openDevice(domain::Target target, int ordinal, int threads);

}  // namespace swage::device
