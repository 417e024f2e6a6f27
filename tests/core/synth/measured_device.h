// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/domain/device_info.h"

namespace swage::synth {

// The device that the listed programs are measured on: an H100, with this rate of a copy in bytes a second.
[[nodiscard]] inline domain::DeviceInfo measuredDevice(double copyBytesPerSecond = 2.9e12) {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.cacheBytes = std::int64_t{50} << 20;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  device.copyBytesPerSecond = copyBytesPerSecond;
  return device;
}

}  // namespace swage::synth
