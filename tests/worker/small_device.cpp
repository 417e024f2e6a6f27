// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/small_device.h"

#include "core/verify/checks.h"
#include "core/verify/memory_plan.h"

namespace swage::testing {

std::int64_t bytesToKeep(int checks, const wire::LoadTask& loading) {
  constexpr double kStep = 1.001;
  const auto planned = static_cast<int>(verify::planChecks(loading).size());
  double bytes = 1 << 12;
  for (;; bytes *= kStep) {
    const auto plan = verify::planMemory(loading.task.graph, planned, static_cast<std::int64_t>(bytes));
    if (plan && plan->referenceInFloat64 && plan->keptChecks >= checks) {
      return static_cast<std::int64_t>(bytes);
    }
  }
}

}  // namespace swage::testing
