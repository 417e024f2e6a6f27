// SPDX-License-Identifier: Apache-2.0
#include "core/synth/parameter_ranking.h"

#include <algorithm>

#include "core/domain/numeric_mode.h"
#include "core/synth/cost_model.h"

namespace swage::synth {
namespace {

constexpr int kMostSets = 40'000;    // of parameters that are asked about
constexpr double kLessExact = 10.0;  // times as long: most references are not as loose as TF32
constexpr double kMoreExact = 4.0;   // where PyTorch rounds: results may have to be near PyTorch's own

constexpr int kFirstWithTf32 = 80;  // compute capability
constexpr double kUnusual = 0.01;  // of the time, for each parameter that has not its standard value, as good ones have

Parameters standardParameters(const patterns::Pattern& pattern) {
  Parameters standard;
  for (const patterns::Parameter& parameter : pattern.parameters) {
    standard[parameter.name] = parameter.standard;
  }
  return standard;
}

std::int64_t modeOf(const RankedParameters& each) {
  const auto mode = each.parameters.find("mode");
  return mode == each.parameters.end() ? 0 : mode->second;
}

bool hasOtherMode(const std::vector<RankedParameters>& found, const RankedParameters& first) {
  return std::any_of(found.begin(), found.end(),
                     [&](const RankedParameters& each) { return modeOf(each) != modeOf(first); });
}

// As fast as with ties to even, so that asking about both is of no use.
bool hasTiesAway(const Instance& instance) {
  return instance.value("mode") == static_cast<std::int64_t>(domain::NumericMode::Fp16Away);
}

// How PyTorch's kernel rounds ties is not known before it is measured: parameters that round get the likelier mode, and
// the first of them is added once more with the other mode.
void addOtherTies(const Strategy& strategy, const patterns::Pattern& pattern, const Region& region,
                  const domain::DeviceInfo& device, std::vector<RankedParameters>& best) {
  std::optional<RankedParameters> other;
  for (RankedParameters& each : best) {
    const bool isRounded = modeOf(each) == static_cast<std::int64_t>(domain::NumericMode::Fp16);
    RankedParameters away = each;
    away.parameters["mode"] = static_cast<std::int64_t>(domain::NumericMode::Fp16Away);
    if (!isRounded || !strategy.checkAccepted({pattern, region, away.parameters, device})) {
      continue;
    }
    if (region.roundsTiesAway) {
      std::swap(each, away);
    }
    other = other ? other : std::optional(std::move(away));
  }
  if (other) {
    best.push_back(std::move(*other));
  }
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
  return region.hasRole(AxisRole::Window) || (strategy.isForConvolutions() && rows > 1);
}

// How much longer a candidate seems to take because PyTorch is more or less exact.
double accuracyFactor(const Strategy& strategy, const Instance& instance) {
  const auto mode = static_cast<domain::NumericMode>(instance.value("mode"));
  if (instance.region.mayRound && instance.device.computeCapability >= kFirstWithTf32) {
    return isRounding(mode) ? 1.0 : kMoreExact;
  }
  return isOneHalf(mode) && !isConvolution(strategy, instance.region) ? kLessExact : 1.0;
}

}  // namespace

bool isExact(const RankedParameters& ranked) {
  const auto mode = ranked.parameters.find("mode");
  return mode == ranked.parameters.end() || !domain::isRounding(static_cast<domain::NumericMode>(mode->second));
}

std::optional<double> rankOf(const Strategy& strategy, const Instance& instance) {
  std::optional<double> seconds = strategy.estimate(instance);
  // Sums are worked on when they are complete, by threads that have nothing else to do then.
  if (seconds && instance.region.kind() == NestKind::Contract && instance.device.kind == domain::DeviceKind::Cuda) {
    *seconds += secondsOfPrims(instance.region, DeviceRates::of(instance.device));
  }
  if (seconds) {
    *seconds *= accuracyFactor(strategy, instance);
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
    if (!hasTiesAway(instance) && strategy.checkAccepted(instance)) {
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
  // Whether PyTorch rounds a convolution to TF32 is not known before it is measured: the second is of another mode.
  const bool hasModes = isConvolution(strategy, region) && !found.empty() && hasOtherMode(found, found.front());
  std::vector<RankedParameters> best;
  for (RankedParameters& each : found) {
    if (best.size() == count) {
      break;
    }
    if (hasModes && best.size() == 1 && modeOf(each) == modeOf(best.front())) {
      continue;
    }
    Parameters settled = each.parameters;
    strategy.normalise({pattern, region, each.parameters, device}, settled);
    const bool isApart = std::all_of(best.begin(), best.end(), [&](const RankedParameters& other) {
      // Which mode of recurrent layers is as near to PyTorch as it has to be nobody knows before.
      const bool isAlike =
          region.recurrence && settled.contains("mode") && settled["mode"] == other.parameters.at("mode");
      return !isAlike && (distance(settled, other.parameters) >= 2 || modeOf(each) != modeOf(other));
    });
    if (isApart) {
      best.push_back({std::move(settled), each.seconds});
    }
  }
  if (region.mayRound && std::none_of(best.begin(), best.end(), isExact)) {
    const auto exact = std::find_if(found.begin(), found.end(), isExact);
    if (exact != found.end()) {
      Parameters settled = exact->parameters;
      strategy.normalise({pattern, region, exact->parameters, device}, settled);
      best.push_back({std::move(settled), exact->seconds});
    }
  }
  addOtherTies(strategy, pattern, region, device, best);
  return best;
}

bool fitsSomehow(const Strategy& strategy, const patterns::Pattern& pattern, const Region& region,
                 const domain::DeviceInfo& device) {
  std::optional<Parameters> parameters = firstParameters(pattern);
  for (int asked = 0; parameters && asked < kMostSets; ++asked) {
    if (strategy.checkAccepted({pattern, region, *parameters, device})) {
      return true;
    }
    parameters = parametersAfter(pattern, std::move(*parameters));
  }
  return false;
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
