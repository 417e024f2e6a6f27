// SPDX-License-Identifier: Apache-2.0
#include "core/services/types.h"

#include <algorithm>

namespace swage::services {

std::string_view name(RunState state) {
  switch (state) {
    case RunState::Idle: return "idle";
    case RunState::Importing: return "importing";
    case RunState::Preparing: return "preparing";
    case RunState::Running: return "running";
    case RunState::Paused: return "paused";
    case RunState::Stopping: return "stopping";
    case RunState::Finished: return "finished";
    case RunState::Interrupted: return "interrupted";
    case RunState::Failed: return "failed";
  }
  return "unknown";
}

std::string_view title(RunState state) {
  switch (state) {
    case RunState::Idle: return "not started";
    case RunState::Interrupted: return "stopped";
    default: return name(state);
  }
}

std::string_view statusTitle(std::string_view status) {
  return status == name(RunState::Interrupted) ? title(RunState::Interrupted) : status;
}

bool hasEnded(RunState state) {
  return state == RunState::Finished || state == RunState::Interrupted || state == RunState::Failed;
}

double wantedSpeedup(const RunSpec& spec) {
  return std::max(spec.targetSpeedup, spec.requiredSpeedup);
}

bool pytorchWins(const RunSummary& run) {
  return !run.baselineMode.empty() && run.bestSpeedup.low <= 1.0 && (run.best.isValid() || run.winner.isValid());
}

}  // namespace swage::services
