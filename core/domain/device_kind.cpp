// SPDX-License-Identifier: Apache-2.0
#include "core/domain/device_kind.h"

namespace swage::domain {

std::string_view name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cpu: return "cpu";
    case DeviceKind::Cuda: return "cuda";
  }
  return "unknown";
}

std::optional<DeviceKind> parseDeviceKind(std::string_view text) {
  for (const DeviceKind kind : kDeviceKinds) {
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace swage::domain
