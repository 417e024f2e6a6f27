// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/domain/launch_plan.h"

namespace swage::device {

enum class ReplayIf : std::uint8_t {
  Always,
  UsesSharedMemory,  // at least one of the kernels; of others there is nothing to see for a tool that watches no more
};

// Runs the kernels of a plan once, in order, without libtorch, so that a tool that watches every access of a process
// can watch them alone. Each buffer that they use is an allocation of its own with exactly its size. Inputs, and what
// ATen steps would make, hold numbers of magnitude 0.5 to 1 with random signs; integers and booleans are zero, which is
// valid wherever an index is. What kernels have to write first is left as it is. Gives the number of kernels launched.
// Environment: no device, or no room on it. InvalidInput: a kernel cannot be launched or fails.
[[nodiscard]] Result<int> replayKernels(const domain::LaunchPlan& plan, const std::string& binary, int ordinal,
                                        ReplayIf condition = ReplayIf::Always);

}  // namespace swage::device
