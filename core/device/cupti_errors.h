// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/device/profiler.h"

namespace swage::device {

// What a code of cupti_result.h means for the user: the cause in words, and the fix where there is one. `attempted` is
// what was tried: "start the counters"; `name` is the code's own name.
[[nodiscard]] ProfilerFailure explainCupti(int code, std::string_view name, std::string_view attempted);

}  // namespace swage::device
