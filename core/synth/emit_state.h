// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/region.h"

// The running state of a stage as C++ text (patterns/README.md, "State" and "Total").
namespace swage::synth {

// The folds that run in a stage.
[[nodiscard]] std::vector<int> foldsOf(const Region& program, int stage);

// The types of the stage and the functions over them, but for `finish`, which belongs to the group.
[[nodiscard]] std::string stateText(const Region& program, int stage);

}  // namespace swage::synth
