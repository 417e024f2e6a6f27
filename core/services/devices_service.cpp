// SPDX-License-Identifier: Apache-2.0
#include "core/services/devices_service.h"

#include <charconv>

#include <fmt/format.h>

namespace swage::services {

std::string_view name(DeviceStatus::State state) {
  switch (state) {
    case DeviceStatus::State::Usable: return "usable";
    case DeviceStatus::State::InUse: return "in use";
    case DeviceStatus::State::Unusable: return "unusable";
  }
  return "unknown";
}

Result<std::vector<int>> parseDeviceNumbers(std::string_view text) {
  constexpr int kLargest = 1023;
  std::vector<int> devices;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int number = -1;
    const auto [rest, code] = std::from_chars(at, end, number);
    if (code != std::errc() || number < 0 || number > kLargest || (rest != end && *rest != ',')) {
      return Error(ErrorKind::Usage, fmt::format("'{}' is not a list of GPUs", text),
                   "write their numbers, for example 0,1; `swage devices` shows them");
    }
    devices.push_back(number);
    if (rest == end) {
      return devices;
    }
    at = rest + 1;
  }
}

}  // namespace swage::services
