// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "core/domain/graph.h"

namespace swage::verify {

// Operators that a plan may call: those of the task's own graph, and a fixed list of pure ones of which none is
// random: attention only without dropout. Nothing that changes its arguments, nothing outside the `aten` namespace,
// whatever the graph says. Empty when the call is allowed, else why it is not.
[[nodiscard]] std::string whyForbidden(const domain::Node& call, const std::set<std::string>& taskOperators);

}  // namespace swage::verify
