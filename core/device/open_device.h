// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/device/device.h"

namespace swage::device {

// The device a worker owns. `threads` is what a cpu device reports. Fails with kind Environment when there is no such
// device, or when this build knows nothing of CUDA.
[[nodiscard]] Result<std::unique_ptr<Device>> openDevice(domain::DeviceKind target, int ordinal, int threads);

// What would stop openDevice(), as far as it can be told without taking anything of the device: a missing or broken
// driver, a device that is not there, a mode that Swage does not work in. Kind Environment.
[[nodiscard]] Result<> checkDevice(domain::DeviceKind target, int ordinal);

// What is known of a device without taking anything of it, and what stops openDevice(), as far as that can be told.
struct ListedDevice {
  domain::DeviceInfo info;
  std::optional<Error> trouble;
};
struct DeviceList {
  std::vector<ListedDevice> devices;  // the cpu, then all GPUs by their numbers
  std::optional<Error> cudaTrouble;   // why no GPU can be asked
};
[[nodiscard]] DeviceList listDevices(int threads);

}  // namespace swage::device
