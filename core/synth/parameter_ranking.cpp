// SPDX-License-Identifier: Apache-2.0
#include "core/synth/parameter_ranking.h"

#include <algorithm>
#include <set>

#include "core/domain/numeric_mode.h"
#include "core/synth/cost_model.h"

namespace swage::synth {
namespace {

constexpr int kMostSets = 40'000;    // of parameters that are asked about
constexpr double kLessExact = 10.0;  // times as long: most references are not as loose as TF32

constexpr double kFarBehind = 2.0;  // times the fastest
constexpr double kUnusual = 0.01;  // of the time, for each parameter that has not its standard value, as good ones have

Parameters standardParameters(const patterns::Pattern& pattern) {
  Parameters standard;
  for (const patterns::Parameter& parameter : pattern.parameters) {
    standard[parameter.name] = parameter.standard;
  }
  return standard;
}

// How many parameters differ.
int distance(const Parameters& a, const Parameters& b) {
  int different = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    different += other == b.end() || other->second != value ? 1 : 0;
  }
  return different;
}

// PyTorch rounds the operands of convolutions to TF32 itself. One of single pixels has no window left, but images.
bool isConvolution(const Strategy& strategy, const Region& region) {
  const auto rows =
      std::count_if(region.axes.begin(), region.axes.end(), [](const Axis& axis) { return axis.role == AxisRole::M; });
  const bool isMadeForThem = strategy.id() == "conv_mma" || strategy.id() == "conv_wgmma";
  return region.hasRole(AxisRole::Window) || (isMadeForThem && rows > 1);
}

}  // namespace

std::optional<double> rankOf(const Strategy& strategy, const Instance& instance) {
  std::optional<double> seconds = strategy.estimate(instance);
  // Sums are worked on when they are complete, by threads that have nothing else to do then.
  if (seconds && instance.region.kind() == NestKind::Contract && instance.device.kind == domain::DeviceKind::Cuda) {
    *seconds += secondsOfPrims(instance.region, DeviceRates::of(instance.device));
  }
  if (seconds && !isConvolution(strategy, instance.region) &&
      instance.value("mode") == static_cast<std::int64_t>(domain::NumericMode::Fp16)) {
    *seconds *= kLessExact;
  }
  return seconds;
}

std::vector<RankedParameters> bestParameters(const Strategy& strategy, const patterns::Pattern& pattern,
                                             const Region& region, const domain::DeviceInfo& device,
                                             std::size_t count) {
  std::vector<RankedParameters> found;
  const Parameters standard = standardParameters(pattern);
  std::optional<Parameters> parameters = firstParameters(pattern);
  for (int asked = 0; parameters && asked < kMostSets; ++asked) {
    const Instance instance{pattern, region, *parameters, device};
    if (strategy.check(instance)) {
      const auto seconds = rankOf(strategy, instance);
      if (!seconds) {
        return {};
      }
      found.push_back({*parameters, *seconds * (1.0 + kUnusual * distance(*parameters, standard))});
    }
    parameters = parametersAfter(pattern, std::move(*parameters));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RankedParameters& a, const RankedParameters& b) { return a.seconds < b.seconds; });
  // The fastest of every numeric mode before others of the same: what is fastest may round too much.
  std::vector<RankedParameters> best;
  std::vector<RankedParameters> others;
  const double least = found.empty() ? 0.0 : found.front().seconds;
  std::set<std::int64_t> modes;
  for (RankedParameters& each : found) {
    const auto mode = each.parameters.find("mode");
    const bool isFirst =
        mode != each.parameters.end() && each.seconds <= kFarBehind * least && modes.insert(mode->second).second;
    (isFirst ? best : others).push_back(std::move(each));
  }
  const std::size_t ofModes = std::min(best.size(), count);
  best.resize(ofModes);
  for (RankedParameters& each : best) {
    const Parameters given = each.parameters;
    strategy.normalise({pattern, region, given, device}, each.parameters);
  }
  for (RankedParameters& each : others) {
    if (best.size() == count) {
      break;
    }
    Parameters settled = each.parameters;
    strategy.normalise({pattern, region, each.parameters, device}, settled);
    const bool isApart = std::all_of(best.begin(), best.end(), [&](const RankedParameters& other) {
      return distance(settled, other.parameters) >= 2;
    });
    if (isApart) {
      best.push_back({std::move(settled), each.seconds});
    }
  }
  return best;
}

Parameters firstParameters(const patterns::Pattern& pattern) {
  Parameters first;
  for (const patterns::Parameter& parameter : pattern.parameters) {
    first[parameter.name] = parameter.values.front();
  }
  return first;
}

std::optional<Parameters> parametersAfter(const patterns::Pattern& pattern, Parameters parameters) {
  for (const patterns::Parameter& parameter : pattern.parameters) {
    std::int64_t& value = parameters[parameter.name];
    const auto next = std::upper_bound(parameter.values.begin(), parameter.values.end(), value);
    if (next != parameter.values.end()) {
      value = *next;
      return parameters;
    }
    value = parameter.values.front();
  }
  return std::nullopt;
}

}  // namespace swage::synth
