// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace swage::toolchain {

// What a process and all its descendants use now. Processes that end while we look count as nothing.
struct TreeUsage {
  std::int64_t residentBytes = 0;
  int processes = 0;
};

[[nodiscard]] TreeUsage treeUsage(pid_t root);

}  // namespace swage::toolchain
