// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/cpu_loops.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/synth/strategies/builtin.h"

namespace swage::synth::cpu {
namespace {

// A thread's stack is 2 MiB or more; tiles of results and groups live on it.
constexpr std::int64_t kMaxStackBytes = 256 << 10;

}  // namespace

Launch CpuLoopStrategy::launch(const Instance& /*instance*/, const std::string& entry) const {
  Launch launch;
  launch.step.entry = entry;
  return launch;
}

// The compiler finds the vectors by itself.
domain::Cell CpuLoopStrategy::aims(const Instance& instance) const {
  domain::Cell cell = Strategy::aims(instance);
  cell.movement = instance.value("streaming") != 0 ? domain::DataMovement::Pipelined : domain::DataMovement::Wide;
  cell.arithmetic = domain::Arithmetic::Packed;
  return cell;
}

Result<> CpuLoopStrategy::fits(const Instance& instance) const {
  const auto prims = static_cast<std::int64_t>(instance.region.prims.size());
  const std::int64_t width = std::max(instance.value("block", 0), instance.value("tile", 0));
  if (width * prims * 8 > kMaxStackBytes && width > 16) {
    return unfit(fmt::format("{} elements at a time need too much stack", width));
  }
  if (instance.value("streaming", 0) != 0 && instance.region.elementStores.empty()) {
    return unfit("there is nothing to stream");
  }
  if (instance.value("keep", 0) != 0) {
    const Loops loops = loopsOf(instance.region);
    if (instance.value("fused", 0) != 0 || keptPrim(instance.region) < 0 || loops.outer != 1 ||
        loops.inner * 4 > kMaxStackBytes) {
      return unfit("there is nothing worth keeping, or too much of it");
    }
  }
  if (instance.value("fused", 0) != 0) {
    Region fused = instance.region;
    if (fuseStages(fused) == Changed::No) {
      return unfit("no two stages of this region can be one");
    }
  }
  return {};
}

void addLoops(StrategyTable& table) {
  addMap(table);
  addRow(table);
  addSplit(table);
  addColumn(table);
}

}  // namespace swage::synth::cpu
