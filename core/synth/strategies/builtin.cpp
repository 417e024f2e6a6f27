// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/builtin.h"

namespace swage::synth {

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
