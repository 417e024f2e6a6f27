// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/verify/session_state.h"

namespace swage::verify {

// Why a speedup on an admitted task would say little, one sentence each: outputs that are zero, constant or nearly so,
// the same for every draw, and inputs or weights that no output depends on. A program that computes nothing could pass
// on such a task. Tries inputs and weights one after the other for a few seconds; in a task with slow eager and many
// weights the last ones are not tried. May throw c10::Error.
[[nodiscard]] std::vector<std::string> findDoubts(SessionState& state);

}  // namespace swage::verify
