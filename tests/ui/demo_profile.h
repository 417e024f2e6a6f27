// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_profile_service.h"
#include "tests/support/fake_services.h"

namespace swage::testing {

// A profile as counters of a large GPU could give it: a memory-bound kernel and a small latency-bound one after it.
[[nodiscard]] services::ProfileReport demoReport(domain::CandidateId candidate);
// What is known without the permission to use counters.
[[nodiscard]] services::ProfileReport demoCompilerReport(domain::CandidateId candidate);
// A profile of a CPU without counters: times, samples by the clock and what was compiled.
[[nodiscard]] services::ProfileReport demoCpuReport(domain::CandidateId candidate);
// A profile and checks for the best candidate of fillDemo(), whose times become those of a GPU.
void fillDemoProfile(FakeProfileService& profiles, FakeRecordService& record);
[[nodiscard]] domain::CandidateId demoBest(const FakeRecordService& record);

}  // namespace swage::testing
