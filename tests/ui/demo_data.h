// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_services.h"

namespace swage::testing {

inline constexpr domain::RunId kDemoRun{7};

// A run of a few hundred candidates over a softmax as it could look on a CPU, the same every time: filled, failed,
// empty and unavailable cells, all kinds of evaluations, a history and baselines.
void fillDemo(FakeRecordService& record);
// A catalogue of a few patterns.
[[nodiscard]] std::vector<services::PatternInfo> demoPatterns();
// A sound machine without a sandbox and without a GPU.
[[nodiscard]] std::vector<services::DoctorCheck> demoChecks();
[[nodiscard]] services::Progress demoProgress(const FakeRecordService& record);

}  // namespace swage::testing
