// SPDX-License-Identifier: Apache-2.0
#include "core/services/devices_service.h"

namespace swage::services {

std::string_view name(DeviceStatus::State state) {
  switch (state) {
    case DeviceStatus::State::Usable: return "usable";
    case DeviceStatus::State::InUse: return "in use";
    case DeviceStatus::State::Unusable: return "unusable";
  }
  return "unknown";
}

}  // namespace swage::services
