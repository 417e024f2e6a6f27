// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace swage::device {

// What the management library says of a GPU. Empty or 0 where it is missing or does not know: nothing depends on it.
struct NvmlFacts {
  std::string driverVersion;
  int smClockMhz = 0;  // now
  int maxSmClockMhz = 0;
  int memoryClockMhz = 0;  // now
};

// `uuid` as the library spells it: "GPU-…".
[[nodiscard]] NvmlFacts queryNvml(const std::string& uuid);

}  // namespace swage::device
