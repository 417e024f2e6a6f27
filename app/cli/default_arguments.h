// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/services/settings_service.h"
#include "core/services/types.h"

// What the user's settings put in the place of arguments that are not given. The same keys that the window reads.
namespace swage::cli {

inline constexpr double kDefaultBudgetSeconds = 60.0;

// Target and seed of a search. A setting that makes no sense is passed over: the window says so where it is edited.
void takeDefaults(const services::Settings& settings, services::RunSpec& spec);
[[nodiscard]] double defaultBudget(const services::Settings& settings);                     // seconds
[[nodiscard]] std::vector<std::string> defaultDevices(const services::Settings& settings);  // empty: the first GPU
[[nodiscard]] bool comparesWithCompile(const services::Settings& settings);

}  // namespace swage::cli
