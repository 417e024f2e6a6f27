// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace swage::process {

// What keeps the code of candidates for a CPU in (core/device/cell.h) and is missing on this machine, as words for
// people: "Landlock", "seccomp", "a process of their own". Empty: nothing is. A worker of this machine has the same.
[[nodiscard]] std::string missingAroundKernels();

}  // namespace swage::process
