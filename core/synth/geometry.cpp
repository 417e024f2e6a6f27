// SPDX-License-Identifier: Apache-2.0
#include "core/synth/geometry.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::synth {
namespace {

std::string_view familyOf(Form form) {
  switch (form) {
    case Form::Map: return "map";
    case Form::Row: return "row";
    case Form::Column: return "column";
  }
  return "map";
}

Result<> checkParameters(const patterns::Pattern& pattern, const Parameters& parameters) {
  for (const patterns::Parameter& parameter : pattern.parameters) {
    const auto given = parameters.find(parameter.name);
    if (given == parameters.end() ||
        std::find(parameter.values.begin(), parameter.values.end(), given->second) == parameter.values.end()) {
      return Error(
          ErrorKind::InvalidInput,
          fmt::format("pattern '{}': parameter '{}' is missing or not one of its values", pattern.id, parameter.name));
    }
  }
  if (parameters.size() != pattern.parameters.size()) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}': unknown parameter", pattern.id));
  }
  return {};
}

}  // namespace

Result<> checkFit(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                  const domain::DeviceInfo& device) {
  if (pattern.target != device.target || pattern.family != familyOf(formOf(program))) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}' is for another kind of region", pattern.id));
  }
  SWAGE_TRY(checkParameters(pattern, parameters));
  return device.target == domain::Target::Cpu ? checkFitCpu(pattern, program, parameters)
                                              : checkFitCuda(pattern, program, parameters, device);
}

Launch planLaunch(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                  const domain::DeviceInfo& device, const std::string& entry) {
  return device.target == domain::Target::Cpu ? planLaunchCpu(entry)
                                              : planLaunchCuda(pattern, program, parameters, device, entry);
}

}  // namespace swage::synth
