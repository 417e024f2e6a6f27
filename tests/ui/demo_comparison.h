// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_services.h"

namespace swage::testing {

// Three candidates of fillDemo() with sources, plans and genomes of their own: two descend from the first.
struct DemoComparison {
  domain::CandidateId ancestor;
  domain::CandidateId left;
  domain::CandidateId right;
};
[[nodiscard]] DemoComparison fillDemoComparison(FakeRecordService& record);

}  // namespace swage::testing
