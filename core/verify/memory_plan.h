// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/domain/task.h"

namespace swage::verify {

// How much of a task fits on a device, estimated before anything is allocated.
struct MemoryPlan {
  bool referenceInFloat64 = true;
  int keptChecks = 0;   // checks whose inputs and expected results stay for the next candidate
  int workingSets = 2;  // inputs at different addresses, for timing: at most 4
  int streams = 1;      // that timed calls take turns on, each with memory of its own: at most 8
};

// Fails with InvalidInput when not even one run of the task fits.
[[nodiscard]] Result<MemoryPlan> planMemory(const domain::Graph& graph, int checks, std::int64_t freeBytes);

}  // namespace swage::verify
