// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategy.h"

// The strategies of this build, each in a file of its own beside this one: where it is declared, and where it is added.
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

const StrategyTable& StrategyTable::builtIn() {
  static const StrategyTable table = [] {
    StrategyTable built;
    cuda::addColumn(built);
    cuda::addMap(built);
    cuda::addMapTurned(built);
    cuda::addRowBlock(built);
    cuda::addRowWarp(built);
    cuda::addRowGang(built);
    cuda::addRowRegisters(built);
    cuda::addRowResident(built);
    cuda::addRowShared(built);
    cuda::addRowSplit(built);
    cpu::addLoops(built);
    cuda::addPool(built);
    cpu::addPool(built);
    addDirectRows(built);
    addDirect(built);
    addGather(built);
    addCudaProduct(built);
    addCudaMmaProduct(built);
    addWgmmaProduct(built);
    addOnepassProduct(built);
    addConvWgmma(built);
    addConvMma(built);
    addCpuProduct(built);
    addCpuPackedProduct(built);
    cuda::addScanRows(built);
    cuda::addScanTiles(built);
    cuda::addScanColumns(built);
    cpu::addScans(built);
    addAttentionMma(built);
    addAttentionWgmma(built);
    addCpuAttention(built);
    cuda::addRecurrence(built);
    cpu::addRecurrence(built);
    return built;
  }();
  return table;
}

}  // namespace swage::synth
