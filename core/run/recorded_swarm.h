// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/run/swarm_board.h"
#include "core/services/swarm_service.h"
#include "core/store/record.h"

namespace swage::run {

// What the record has about the pairs of a run, in its order. Reads every event and candidate of the run.
[[nodiscard]] Result<SwarmBoard> recordedBoard(const store::Record& record, domain::RunId run);
// Of a run that is over, how its pairs stood at the end.
[[nodiscard]] Result<services::SwarmReport> recordedSwarm(const store::Record& record, domain::RunId run);

}  // namespace swage::run
