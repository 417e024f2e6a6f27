// SPDX-License-Identifier: Apache-2.0
#include "core/process/spare_worker.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/base/files.h"

namespace swage::process {
namespace {

constexpr std::int64_t kNeededKilobytes = std::int64_t{8} << 20;  // a spare takes about one gigabyte

std::int64_t availableKilobytes() {
  constexpr std::string_view kKey = "MemAvailable:";
  const auto text = readTextFile("/proc/meminfo");
  const auto at = text ? text->find(kKey) : std::string::npos;
  if (at == std::string::npos) {
    return 0;
  }
  const auto digits = text->find_first_not_of(' ', at + kKey.size());
  std::int64_t kilobytes = 0;
  if (digits != std::string::npos) {
    std::from_chars(text->data() + digits, text->data() + text->size(), kilobytes);
  }
  return kilobytes;
}

}  // namespace

LaunchCommand spareFor(domain::DeviceKind target, const LaunchCommand& worker) {
  if (target != domain::DeviceKind::Cuda || availableKilobytes() < kNeededKilobytes) {
    return {};
  }
  LaunchCommand spare = worker;
  spare.arguments.emplace_back("--stand-by");
  return spare;
}

}  // namespace swage::process
