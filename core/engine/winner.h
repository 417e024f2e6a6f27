// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/services/record_service.h"

namespace swage::engine {

// What `export` writes for a run: its fastest candidate if the interval of its speedup over eager lies above 1, else
// the task's own operators as one candidate (operator `baseline`). Invalid id: nothing is correct.
[[nodiscard]] Result<domain::CandidateId> winnerOf(const services::RecordService& record, domain::RunId run);

}  // namespace swage::engine
