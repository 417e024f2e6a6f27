// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/domain/profile.h"

namespace swage::cli {

// Why a candidate is as fast as it is: each kernel's place on the roofline, what its warps wait for, its occupancy and
// what limits it, and the instructions and lines with most samples.
[[nodiscard]] std::string profileText(const domain::Profile& profile);

}  // namespace swage::cli
