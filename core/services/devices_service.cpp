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

std::optional<int> deviceNumber(std::string_view word) {
  constexpr int kLargest = 1023;
  int number = -1;
  const char* const end = word.data() + word.size();
  const auto [rest, code] = std::from_chars(word.data(), end, number);
  const bool isNumber = code == std::errc() && rest == end && number >= 0 && number <= kLargest;
  return isNumber ? std::optional(number) : std::nullopt;
}

Result<std::vector<std::string>> parseDevices(std::string_view text) {
  constexpr std::string_view kUuid = "GPU-";
  std::vector<std::string> devices;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const bool isUuid = word.starts_with(kUuid) && word.size() > kUuid.size() &&
                        word.find_first_not_of("0123456789abcdefABCDEF-", kUuid.size()) == std::string_view::npos;
    if (!isUuid && !deviceNumber(word)) {
      return Error(ErrorKind::Usage, fmt::format("'{}' is not a list of GPUs", text),
                   "write their numbers, for example 0,1, or their UUIDs; `swage devices` shows them");
    }
    devices.emplace_back(word);
    if (comma == std::string_view::npos) {
      return devices;
    }
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace swage::services
