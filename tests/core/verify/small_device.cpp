// SPDX-License-Identifier: Apache-2.0
#include "tests/core/verify/small_device.h"

#include "core/verify/checks.h"
#include "core/verify/memory_plan.h"

namespace swage::testing {

std::int64_t bytesToKeep(int checks, const wire::LoadTask& loading) {
  constexpr std::int64_t kParts = 1024;  // the size is found to a thousandth
  const auto planned = static_cast<int>(verify::planChecks(loading).size());
  for (std::int64_t bytes = kParts;; bytes += bytes / kParts) {
    const auto plan = verify::planMemory(loading.task.graph, planned, bytes);
    if (plan && plan->referenceInFloat64 && plan->keptChecks >= checks) {
      return bytes;
    }
  }
}

}  // namespace swage::testing
