// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/judge/facts.h"

namespace swage::judge {

// Adds how a candidate failed, and what of its results is wrong and where; nothing of a correct one. `program` may be
// null. Gives the line of the first mistake that a compiler found, or 0.
int addFailure(const domain::Evaluation& evaluation, const domain::Program* program, Facts& facts);

}  // namespace swage::judge
