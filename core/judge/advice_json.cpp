// SPDX-License-Identifier: Apache-2.0
#include "core/judge/advice_json.h"

#include <fmt/format.h>

namespace swage::judge {

using domain::Advice;
using domain::AdvicePass;
using domain::Json;

std::string_view name(AdvicePass pass) {
  return pass == AdvicePass::Functional ? "functional" : "optimisation";
}

Json toJson(const Advice& advice) {
  Json json = {{"rule", advice.rule},
               {"pass", name(advice.pass)},
               {"bottleneck", advice.bottleneck},
               {"method", advice.method},
               {"plan", advice.plan},
               {"expected_gain", advice.expectedGain ? Json(*advice.expectedGain) : Json()},
               {"kernel", advice.kernel},
               {"line", advice.line},
               {"evidence", Json::array()}};
  for (const domain::AdviceEvidence& one : advice.evidence) {
    json["evidence"].push_back({{"name", one.name}, {"value", one.value}, {"unit", one.unit}});
  }
  return json;
}

Result<Advice> adviceFromJson(const Json& json) {
  try {
    Advice advice;
    advice.rule = json.at("rule").get<std::string>();
    advice.pass = json.at("pass").get<std::string>() == name(AdvicePass::Functional) ? AdvicePass::Functional
                                                                                     : AdvicePass::Optimisation;
    advice.bottleneck = json.at("bottleneck").get<std::string>();
    advice.method = json.at("method").get<std::string>();
    advice.plan = json.at("plan").get<std::string>();
    if (const Json& gain = json.at("expected_gain"); !gain.is_null()) {
      advice.expectedGain = gain.get<double>();
    }
    advice.kernel = json.at("kernel").get<std::string>();
    advice.line = json.at("line").get<int>();
    for (const Json& one : json.at("evidence")) {
      advice.evidence.push_back(
          {one.at("name").get<std::string>(), one.at("value").get<double>(), one.at("unit").get<std::string>()});
    }
    return advice;
  } catch (const Json::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("this is no advice: {}", error.what()));
  }
}

}  // namespace swage::judge
