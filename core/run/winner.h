// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/services/record_service.h"

namespace swage::run {

// What `export` writes for a run: the winner of its last measurement, which is the task's own operators (operator
// `baseline`) where nothing beats the fastest of PyTorch's ways. Of a run without one, by the same rule: its best
// candidate if the interval of its speedup lies above 1. Invalid id: nothing is correct.
[[nodiscard]] Result<domain::CandidateId> winnerOf(const services::RecordService& record, domain::RunId run);

}  // namespace swage::run
