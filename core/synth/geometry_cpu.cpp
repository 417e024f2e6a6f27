// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/synth/geometry.h"

namespace swage::synth {
namespace {

// A thread's stack is 2 MiB or more; tiles of results and groups live on it.
constexpr std::int64_t kMaxStackBytes = 256 << 10;

std::int64_t parameter(const Parameters& parameters, const char* name, std::int64_t otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

}  // namespace

Result<> checkFitCpu(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  const auto prims = static_cast<std::int64_t>(program.prims.size());
  const std::int64_t width = std::max(parameter(parameters, "block", 0), parameter(parameters, "tile", 0));
  if (width * prims * 8 > kMaxStackBytes && width > 16) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("pattern '{}': {} elements at a time need too much stack", pattern.id, width));
  }
  if (parameter(parameters, "streaming", 0) != 0 && program.elementStores.empty()) {
    return Error(ErrorKind::InvalidInput, "there is nothing to stream");
  }
  if (parameter(parameters, "keep", 0) != 0) {
    const Loops loops = loopsOf(program);
    if (parameter(parameters, "fused", 0) != 0 || keptPrim(program) < 0 || loops.outer != 1 ||
        loops.inner * 4 > kMaxStackBytes) {
      return Error(ErrorKind::InvalidInput, "there is nothing worth keeping, or too much of it");
    }
  }
  if (parameter(parameters, "fused", 0) != 0) {
    RegionProgram fused = program;
    if (fuseStages(fused) == Changed::No) {
      return Error(ErrorKind::InvalidInput, "no two stages of this region can be one");
    }
  }
  return {};
}

Launch planLaunchCpu(const std::string& entry) {
  Launch launch;
  launch.step.entry = entry;
  return launch;
}

}  // namespace swage::synth
