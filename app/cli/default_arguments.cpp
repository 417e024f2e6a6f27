// SPDX-License-Identifier: Apache-2.0
#include "app/cli/default_arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/duration.h"
#include "core/services/devices_service.h"
#include "core/services/drawn_seed.h"

namespace swage::cli {
namespace {

// Empty where nothing, or nothing of this type, is set.
template <class T>
std::optional<T> setting(const services::Settings& settings, std::string_view key) {
  const auto found = settings.find(key);
  const T* value = found == settings.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

}  // namespace

void takeDefaults(const services::Settings& settings, services::RunSpec& spec) {
  constexpr std::array<std::string_view, 3> kTargets{"auto", "cpu", "cuda"};
  const std::string target = setting<std::string>(settings, "search.target").value_or("");
  if (std::find(kTargets.begin(), kTargets.end(), target) != kTargets.end()) {
    spec.target = target;
  }
  const auto seed = setting<std::int64_t>(settings, "search.seed");
  spec.seed = seed && *seed >= 0 ? static_cast<std::uint64_t>(*seed) : services::kDrawnSeed;
}

double defaultBudget(const services::Settings& settings) {
  const auto text = setting<std::string>(settings, "search.time_budget");
  return text ? parseDuration(*text).value_or(kDefaultBudgetSeconds) : kDefaultBudgetSeconds;
}

std::vector<std::string> defaultDevices(const services::Settings& settings) {
  return services::parseDevices(setting<std::string>(settings, "search.devices").value_or(""))
      .value_or(std::vector<std::string>());
}

bool comparesWithCompile(const services::Settings& settings) {
  return setting<bool>(settings, "search.compile_baselines").value_or(true);
}

}  // namespace swage::cli
