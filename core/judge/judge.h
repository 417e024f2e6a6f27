// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/advice.h"
#include "core/judge/case_facts.h"
#include "core/judge/rules.h"

namespace swage::judge {

// What the rules say about a candidate: of one that failed only functional advice, of a correct one only optimisation.
// The largest expected gain first, what has no estimate behind that, else in the order of the book. A rule about
// kernels speaks once, of the kernel where it promises most. Pure: the same case gives the same advice.
[[nodiscard]] std::vector<domain::Advice> judge(const RuleBook& rules, const Case& what);

}  // namespace swage::judge
