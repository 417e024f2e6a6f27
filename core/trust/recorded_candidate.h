// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/record.h"
#include "core/wire/messages.h"

namespace swage::trust {

// Everything it takes to run a recorded candidate once more.
struct RecordedCandidate {
  domain::DeviceKind device = domain::DeviceKind::Cpu;
  domain::LaunchPlan plan;
  std::string binary;                        // empty when the plan launches no kernel
  std::vector<domain::KernelFacts> kernels;  // what the compiler said
  std::string assembly;                      // empty: not recorded
  wire::LoadTask load;                       // with the run's own seed
};

// From the record and the run's task bundle alone. Fails when it was never compiled, or its bundle is gone.
[[nodiscard]] Result<RecordedCandidate> readCandidate(const store::Record& record, domain::CandidateId id);

}  // namespace swage::trust
