// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/domain/advice_experience.h"
#include "core/domain/json.h"
#include "core/judge/advice_json.h"
#include "core/judge/rules.h"

// Rules and what they say, as JSON and as text for a person. Pure.
namespace swage::cli {

[[nodiscard]] domain::Json toJson(const judge::Rule& rule);
[[nodiscard]] std::string ruleTable(const std::vector<judge::Rule>& rules);
[[nodiscard]] std::string ruleText(const judge::Rule& rule);
// What the advice of a rule came to in this user's runs, by device; empty where it was never followed.
using RuleExperience = std::vector<std::pair<std::string, domain::AdviceExperience>>;
[[nodiscard]] domain::Json toJson(const RuleExperience& experience);
[[nodiscard]] std::string experienceText(const RuleExperience& experience);
// Empty where there is none.
[[nodiscard]] std::string adviceText(const std::vector<domain::Advice>& advice);

}  // namespace swage::cli
