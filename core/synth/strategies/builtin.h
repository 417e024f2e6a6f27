// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/strategy.h"

// The strategies of this build; each file adds its own.
namespace swage::synth {

namespace cuda {
void addMapAndColumn(StrategyTable& table);
void addRows(StrategyTable& table);
void addGangs(StrategyTable& table);
}  // namespace cuda

namespace cpu {
void addLoops(StrategyTable& table);
}  // namespace cpu

}  // namespace swage::synth
