// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/services/activity.h"
#include "core/store/record.h"

namespace swage::engine {

// Who did what in a run, as far as its record says. The compilers are one lane: nobody wrote down which of them did
// what. Of a record from before samples were kept, only the filling of the cells is known. Reads every candidate.
[[nodiscard]] Result<services::RunActivity> recordedActivity(const store::Record& record, domain::RunId run);

}  // namespace swage::engine
