// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/base/error.h"
#include "core/domain/evaluation.h"
#include "core/search/searcher.h"
#include "core/store/record.h"

// What the end of one step means for a candidate, and for the search. Pure.
namespace swage::run {

// Of a candidate that could not be written down: of a genome that does not fit, or of a synthesiser that ended over it.
// No value: the error is not the candidate's.
[[nodiscard]] std::optional<domain::Evaluation> evaluationOf(const Error& why);
// Why a program is not even compiled: it is for another kind of device, launches no kernel of its own, or its plan is
// broken. No value: it is.
[[nodiscard]] std::optional<domain::Evaluation> refusalOf(const domain::Program& program, domain::DeviceKind device);
// The same for one that is too large to be kept.
[[nodiscard]] std::optional<domain::Evaluation> oversizeOf(const domain::Program& program);
// How the search sees an end.
[[nodiscard]] search::Outcome outcomeOf(const store::CandidateRecord& candidate, const domain::Evaluation& evaluation);

}  // namespace swage::run
