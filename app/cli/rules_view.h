// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/json.h"
#include "core/judge/advice_json.h"
#include "core/judge/rules.h"

// Rules and what they say, as JSON and as text for a person. Pure.
namespace swage::cli {

[[nodiscard]] domain::Json toJson(const judge::Rule& rule);
[[nodiscard]] std::string ruleTable(const std::vector<judge::Rule>& rules);
[[nodiscard]] std::string ruleText(const judge::Rule& rule);
// Empty where there is none.
[[nodiscard]] std::string adviceText(const std::vector<domain::Advice>& advice);

}  // namespace swage::cli
