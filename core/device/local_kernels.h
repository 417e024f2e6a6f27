// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "core/device/device.h"

namespace swage::device {

// Kernels for a CPU in this process, without the wall of a cell: for comparison, and for who trusts them.
// SWAGE_CELL=off in the environment of a worker.
[[nodiscard]] bool areKernelsLocal();

[[nodiscard]] DeviceResult<std::unique_ptr<KernelModule>> loadLocalKernels(const std::string& binary);
// The stacks of all threads of the team hold nothing of earlier calls, and their arithmetic is the usual one.
void renewLocalTeam(int threads);
// Those that run a kernel, the calling one first.
[[nodiscard]] std::vector<pid_t> localTeam();

}  // namespace swage::device
