// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/strategy.h"

// The strategies of this build; each file adds its own.
namespace swage::synth {

void addDirect(StrategyTable& table);
void addDirectRows(StrategyTable& table);
void addGather(StrategyTable& table);
void addCudaProduct(StrategyTable& table);
void addCudaMmaProduct(StrategyTable& table);
void addWgmmaProduct(StrategyTable& table);
void addOnepassProduct(StrategyTable& table);
void addConvMma(StrategyTable& table);
void addConvWgmma(StrategyTable& table);
void addCpuProduct(StrategyTable& table);
void addCpuPackedProduct(StrategyTable& table);
void addAttentionMma(StrategyTable& table);
void addAttentionWgmma(StrategyTable& table);
void addCpuAttention(StrategyTable& table);

namespace cuda {
void addColumn(StrategyTable& table);
void addMap(StrategyTable& table);
void addMapTurned(StrategyTable& table);
void addPool(StrategyTable& table);
void addRowBlock(StrategyTable& table);
void addRowWarp(StrategyTable& table);
void addScanColumns(StrategyTable& table);
void addScanRows(StrategyTable& table);
void addScanTiles(StrategyTable& table);
void addRowGang(StrategyTable& table);
void addRowRegisters(StrategyTable& table);
void addRowResident(StrategyTable& table);
void addRowShared(StrategyTable& table);
void addRowSplit(StrategyTable& table);
void addRecurrence(StrategyTable& table);

}  // namespace cuda

namespace cpu {
void addLoops(StrategyTable& table);
void addPool(StrategyTable& table);
void addScans(StrategyTable& table);
void addRecurrence(StrategyTable& table);
}  // namespace cpu

}  // namespace swage::synth
