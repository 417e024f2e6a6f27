// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/device_info.h"
#include "core/domain/launch_plan.h"
#include "core/patterns/catalogue.h"
#include "core/synth/emit_region.h"

// From a region and a pattern to text and launches.
namespace swage::synth {

using Parameters = std::map<std::string, std::int64_t>;

// What a launch needs beside the region's own buffers.
struct Launch {
  domain::KernelStep step;                  // arguments filled in by the caller: region buffers, then scratch
  std::vector<domain::KernelStep> more;     // launches that follow, with the same arguments
  std::vector<domain::TensorType> scratch;  // buffers of ours, passed after the region's
  bool zeroScratch = false;                 // scratch must be zero before the launch
  Parameters constants;                     // numbers the source needs that follow from geometry
};

// Whether a pattern with these parameters can compute the region on the device; says why not.
[[nodiscard]] Result<> checkFit(const patterns::Pattern& pattern, const RegionProgram& program,
                                const Parameters& parameters, const domain::DeviceInfo& device);

// Geometry and scratch of the launch. Call only after checkFit.
[[nodiscard]] Launch planLaunch(const patterns::Pattern& pattern, const RegionProgram& program,
                                const Parameters& parameters, const domain::DeviceInfo& device,
                                const std::string& entry);

// The pattern's source with its parameters and the region put in, in a namespace of its own.
[[nodiscard]] Result<std::string> composeSource(const patterns::Pattern& pattern, const RegionText& region,
                                                const Parameters& parameters, const std::string& space);

}  // namespace swage::synth
