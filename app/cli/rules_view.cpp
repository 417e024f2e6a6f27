// SPDX-License-Identifier: Apache-2.0
#include "app/cli/rules_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/text.h"

namespace swage::cli {
namespace {

using domain::Json;

std::string deviceOf(const judge::Rule& rule) {
  return rule.device ? std::string(domain::name(*rule.device)) : "any";
}

std::vector<std::string> conditionsOf(const judge::Rule& rule) {
  std::vector<std::string> conditions;
  std::transform(rule.when.begin(), rule.when.end(), std::back_inserter(conditions),
                 [](const auto& condition) { return condition.text(); });
  return conditions;
}

std::string steeringText(const judge::Steering& steering) {
  std::vector<std::string> parts;
  for (const auto& [kind, weight] : steering.operators) {
    parts.push_back(fmt::format("{} x {:g}", domain::name(kind), weight));
  }
  for (const auto& [parameter, direction] : steering.parameters) {
    parts.push_back(fmt::format("{} {}", parameter, direction > 0 ? "up" : "down"));
  }
  for (const auto& [pattern, weight] : steering.patterns) {
    parts.push_back(fmt::format("{} x {:g}", pattern, weight));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json steeringJson(const judge::Steering& steering) {
  Json json = {{"operators", Json::object()}, {"parameters", Json::object()}, {"patterns", Json::object()}};
  for (const auto& [kind, weight] : steering.operators) {
    json["operators"][std::string(domain::name(kind))] = weight;
  }
  for (const auto& [parameter, direction] : steering.parameters) {
    json["parameters"][parameter] = direction > 0 ? "up" : "down";
  }
  for (const auto& [pattern, weight] : steering.patterns) {
    json["patterns"][pattern] = weight;
  }
  return json;
}

}  // namespace

Json toJson(const judge::Rule& rule) {
  Json json = {{"id", rule.id},
               {"pass", judge::name(rule.pass)},
               {"device", rule.device ? Json(domain::name(*rule.device)) : Json()},
               {"role", judge::name(rule.role)},
               {"title", rule.title},
               {"when", conditionsOf(rule)},
               {"says", rule.says},
               {"bottleneck", rule.bottleneck},
               {"method", rule.method},
               {"plan", rule.plan},
               {"gain", rule.gain ? Json(rule.gain->text()) : Json()},
               {"evidence", Json::array()},
               {"steer", steeringJson(rule.steering)},
               {"source", rule.source},
               {"file", rule.file.string()},
               {"line", rule.line}};
  for (const judge::RuleEvidence& one : rule.evidence) {
    json["evidence"].push_back({{"fact", one.fact}, {"title", one.title}, {"unit", one.unit}});
  }
  return json;
}

std::string ruleTable(const std::vector<judge::Rule>& rules) {
  std::vector<std::vector<std::string>> rows{{"rule", "pass", "device", "role", "what it looks for"}};
  for (const judge::Rule& rule : rules) {
    rows.push_back({rule.id, std::string(judge::name(rule.pass)), deviceOf(rule), std::string(judge::name(rule.role)),
                    rule.title});
  }
  return formatTable(rows) + '\n';
}

std::string ruleText(const judge::Rule& rule) {
  std::string text = fmt::format("{}: {}\n", rule.id, rule.title);
  const auto line = [&text](std::string_view title, const std::string& what) {
    text += what.empty() ? std::string() : fmt::format("{:<11} {}\n", title, what);
  };
  line("pass", std::string(judge::name(rule.pass)));
  line("device", deviceOf(rule));
  line("role", std::string(judge::name(rule.role)));
  line("when", fmt::format("{}", fmt::join(conditionsOf(rule), "\n            ")));
  line("says", fmt::format("{}", fmt::join(rule.says, ", ")));
  line("bottleneck", rule.bottleneck);
  line("method", rule.method);
  line("plan", rule.plan);
  line("gain", rule.gain ? rule.gain->text() : std::string("not estimated"));
  line("steers", steeringText(rule.steering));
  line("source", rule.source);
  line("file", fmt::format("{}:{}", rule.file.string(), rule.line));
  return text;
}

namespace {
// Of those that paid; their geometric mean.
double meanGain(const domain::AdviceExperience& one) {
  return one.paid > 0 ? std::exp(one.logGain / static_cast<double>(one.paid)) : 1.0;
}
}  // namespace

Json toJson(const RuleExperience& experience) {
  Json json = Json::array();
  for (const auto& [device, one] : experience) {
    json.push_back({{"device", device},
                    {"followed", one.followed},
                    {"paid", one.paid},
                    {"mean_gain", one.paid > 0 ? Json(meanGain(one)) : Json()}});
  }
  return json;
}

std::string experienceText(const RuleExperience& experience) {
  std::string text = experience.empty() ? "" : "\nin your runs\n";
  for (const auto& [device, one] : experience) {
    const std::string gain =
        one.paid > 0 ? fmt::format(", then {:.2f} times as fast in the geometric mean", meanGain(one)) : "";
    text += fmt::format("  {}: followed {} times, paid {} times{}\n", device, one.followed, one.paid, gain);
  }
  return text;
}

std::string adviceText(const std::vector<domain::Advice>& advice) {
  std::string text = advice.empty() ? "" : "\nadvice of the built-in judge\n";
  for (const domain::Advice& one : advice) {
    const std::string gain = one.expectedGain ? fmt::format(", at most {:.2f} times as fast", *one.expectedGain) : "";
    const std::string place = one.line > 0 ? fmt::format(", line {}", one.line) : "";
    text += fmt::format("  {}{}{}\n    {}\n    {}{}{}\n", one.rule, gain, place, one.bottleneck, one.method,
                        one.plan.empty() ? "" : " ", one.plan);
  }
  return text;
}

}  // namespace swage::cli
