// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/cpu_loops.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace swage::synth::cpu {
namespace {

// A thread's stack is 2 MiB or more; tiles of results and groups live on it.
constexpr std::int64_t kMaxStackBytes = 256 << 10;

// Gives a parameter of the pattern the least of its values that `likewise` accepts.
template <class Likewise>
void setLeast(const Instance& instance, Parameters& parameters, const char* name, Likewise likewise) {
  const patterns::Parameter* known = instance.pattern.parameter(name);
  const auto given = parameters.find(name);
  if (known == nullptr || given == parameters.end()) {
    return;
  }
  const auto least = std::find_if(known->values.begin(), known->values.end(), likewise);
  if (least != known->values.end()) {
    given->second = std::min(given->second, *least);
  }
}

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

void CpuLoopStrategy::normalise(const Instance& instance, Parameters& parameters) const {
  const std::int64_t inner = loopsOf(instance.region).inner;
  const auto capped = [&](const char* name, std::int64_t most) {
    const std::int64_t effective = std::min(instance.value(name, 0), most);
    setLeast(instance, parameters, name, [=](std::int64_t value) { return std::min(value, most) == effective; });
  };
  const auto lanes = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(inner)));
  capped("lanes", lanes);
  capped("block", inner);
  // What is streamed is a tile, or where the pattern has none, an element of each lane; less is not streamed.
  const bool hasTiles = instance.pattern.parameter("tile") != nullptr;
  const std::int64_t streamed = instance.value(hasTiles ? "tile" : "lanes", 0);
  if (streamed > inner) {
    setLeast(instance, parameters, "streaming", [](std::int64_t value) { return value == 0; });
  }
  if (m_form == Form::Map) {
    capped("tile", inner);
  } else if (const auto streaming = parameters.find("streaming");
             streaming != parameters.end() && streaming->second == 0) {
    setLeast(instance, parameters, "tile", [](std::int64_t /*value*/) { return true; });
  }
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
