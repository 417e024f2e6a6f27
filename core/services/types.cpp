// SPDX-License-Identifier: Apache-2.0
#include "core/services/types.h"

#include <algorithm>

namespace swage::services {

std::string_view name(RunState state) {
  switch (state) {
    case RunState::Idle: return "idle";
    case RunState::Importing: return "importing";
    case RunState::Preparing: return "preparing";
    case RunState::Stopping: return "stopping";
    case RunState::Running: return domain::name(RunStatus::Running);
    case RunState::Paused: return domain::name(RunStatus::Paused);
    case RunState::Finished: return domain::name(RunStatus::Finished);
    case RunState::Interrupted: return domain::name(RunStatus::Interrupted);
    case RunState::Failed: return domain::name(RunStatus::Failed);
  }
  return "unknown";
}

std::string_view title(RunState state) {
  switch (state) {
    case RunState::Idle: return "not started";
    case RunState::Interrupted: return domain::title(RunStatus::Interrupted);
    default: return name(state);
  }
}

bool hasEnded(RunState state) {
  return state == RunState::Finished || state == RunState::Interrupted || state == RunState::Failed;
}

double wantedSpeedup(const RunSpec& spec) {
  return std::max(spec.targetSpeedup, spec.requiredSpeedup);
}

}  // namespace swage::services
