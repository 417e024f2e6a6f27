// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/region.h"

namespace swage::synth {

// Says everything of a region but which tensors it reads and writes. Regions with equal keys are twins: the same
// kernels compute them, on other tensors, in the same time. Models of many equal layers have many twins.
[[nodiscard]] std::string keyOf(const Region& region);

}  // namespace swage::synth
