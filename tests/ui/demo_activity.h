// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/services/activity.h"
#include "tests/support/fake_services.h"

namespace swage::testing {

// Two GPUs, of which one is lost, and compilers, so many seconds into a search.
[[nodiscard]] std::vector<services::LaneStatus> demoLanes(double seconds);
// Who proposed the candidates of a record up to then, with credits that move.
[[nodiscard]] services::ProposerReport demoReport(const FakeRecordService& record, double seconds);
// What the record has of it all.
void fillDemoActivity(FakeRecordService& record);

}  // namespace swage::testing
