// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/strategy.h"

namespace swage::synth {

// The region as C++ text in the interface that the patterns are written against (patterns/README.md). Works for both
// targets: what differs is in their preludes.
[[nodiscard]] KernelText emitRegion(const Region& program, const std::string& entry);

}  // namespace swage::synth
