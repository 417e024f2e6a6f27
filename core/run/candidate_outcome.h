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
// Why a program is not even compiled: it is for another kind of device, or launches no kernel of its own and is no
// CUDA graph either. No value: it is.
[[nodiscard]] std::optional<domain::Evaluation> refusalOf(const domain::Program& program, domain::DeviceKind device);
// Why a program is not even kept: it is too large, or the record could not be read with it, because its plan is broken.
// What Swage writes itself can be read again.
[[nodiscard]] std::optional<domain::Evaluation> unkeepableOf(const domain::Program& program, bool isSwagesOwn);
// How the search sees an end.
[[nodiscard]] search::Outcome outcomeOf(const store::CandidateRecord& candidate, const domain::Evaluation& evaluation);

}  // namespace swage::run
