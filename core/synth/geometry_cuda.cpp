// SPDX-License-Identifier: Apache-2.0
#include "core/synth/geometry.h"

#include <fmt/format.h>

namespace swage::synth {

Result<> checkFitCuda(const patterns::Pattern& pattern, const RegionProgram&, const Parameters&,
                      const domain::DeviceInfo&) {
  return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}' has no geometry", pattern.id));
}

Launch planLaunchCuda(const patterns::Pattern&, const RegionProgram&, const Parameters&, const domain::DeviceInfo&,
                      const std::string& entry) {
  Launch launch;
  launch.step.entry = entry;
  return launch;
}

}  // namespace swage::synth
