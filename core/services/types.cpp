// SPDX-License-Identifier: Apache-2.0
#include "core/services/types.h"

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
    case RunState::Failed: return "failed";
  }
  return "unknown";
}

}  // namespace swage::services
