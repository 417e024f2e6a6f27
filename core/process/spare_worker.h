// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/device_kind.h"
#include "core/process/launch_command.h"

namespace swage::process {

// The command of the spare beside a worker: the same program, standing by. No program where a spare would do harm: on a
// CPU, whose cores are being timed while the spare starts, and where the host has little memory left.
[[nodiscard]] LaunchCommand spareFor(domain::DeviceKind target, const LaunchCommand& worker);

}  // namespace swage::process
