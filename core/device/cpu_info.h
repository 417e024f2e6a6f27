// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swage::device {

struct CpuDescription {
  std::string name;
  std::string architecture;  // "x86-64-v3", "x86-64-v4+amx"; the machine's name elsewhere
};

// From the text of /proc/cpuinfo. `machine` (as uname gives it) is used where the text has no x86 flags.
[[nodiscard]] CpuDescription describeCpu(std::string_view cpuinfo, std::string_view machine);

// "32768K", "2M", "1024" to bytes; 0 when it is no size.
[[nodiscard]] std::int64_t parseCacheSize(std::string_view text);

// Of this machine. Missing files give 0, never an error: the number only sizes buffers.
[[nodiscard]] std::int64_t lastLevelCacheBytes();
[[nodiscard]] std::int64_t availableMemoryBytes();
[[nodiscard]] std::int64_t totalMemoryBytes();

}  // namespace swage::device
