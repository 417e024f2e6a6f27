// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/run/candidate_pipeline.h"
#include "core/run/run_context.h"

namespace swage::run {

// How candidates of a run are compiled and timed, by its device, its task and its archive, with so many compilers. All
// but when to propose. The context has a searcher, and both outlive what this gives.
[[nodiscard]] CandidatePipeline::Options pipelineOptions(const RunContext& context, int compilers);

}  // namespace swage::run
