// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/compose.h"

// The two targets' halves of checkFit and planLaunch.
namespace swage::synth {

[[nodiscard]] Result<> checkFitCpu(const patterns::Pattern& pattern, const RegionProgram& program,
                                   const Parameters& parameters);
[[nodiscard]] Launch planLaunchCpu(const std::string& entry);

[[nodiscard]] Result<> checkFitCuda(const patterns::Pattern& pattern, const RegionProgram& program,
                                    const Parameters& parameters, const domain::DeviceInfo& device);
[[nodiscard]] Launch planLaunchCuda(const patterns::Pattern& pattern, const RegionProgram& program,
                                    const Parameters& parameters, const domain::DeviceInfo& device,
                                    const std::string& entry);

}  // namespace swage::synth
