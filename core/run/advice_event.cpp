// SPDX-License-Identifier: Apache-2.0
#include "core/run/advice_event.h"

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/judge/advice_json.h"

namespace swage::run {
namespace {

using domain::Json;

Error unreadable(const Json::exception& error) {
  return Error(ErrorKind::Storage, fmt::format("the record has an event that cannot be read: {}", error.what()));
}

judge::Role roleOf(const Json& json) {
  return judge::parseRole(json.at("role").get<std::string>()).value_or(judge::Role::Parameters);
}

// Of pairs there is none.
void addModel(Json& json, const std::string& model) {
  if (!model.empty()) {
    json["model"] = model;
  }
}

}  // namespace

std::string adviceJson(const judge::GivenAdvice& given) {
  Json json{{"pair", given.pair},
            {"role", judge::name(given.role)},
            {"about", given.about.value()},
            {"advice", judge::toJson(given.advice)}};
  addModel(json, given.model);
  return domain::dumpJson(json);
}

Result<judge::GivenAdvice> parseGivenAdvice(std::string_view json) {
  SWAGE_TRY_ASSIGN(const Json parsed, domain::parseJson(json));
  try {
    judge::GivenAdvice given{.pair = parsed.at("pair").get<int>(),
                             .role = roleOf(parsed),
                             .about = domain::CandidateId(parsed.at("about").get<std::int64_t>()),
                             .advice = {},
                             .model = parsed.value("model", std::string())};
    SWAGE_TRY_ASSIGN(given.advice, judge::adviceFromJson(parsed.at("advice")));
    return given;
  } catch (const Json::exception& error) {
    return unreadable(error);
  }
}

std::string scoreJson(const judge::ScoredAdvice& scored) {
  Json json{{"pair", scored.pair},
            {"role", judge::name(scored.role)},
            {"rule", scored.rule},
            {"pass", judge::name(scored.pass)},
            {"about", scored.about.value()},
            {"candidate", scored.candidate.value()},
            {"expected_gain", scored.expectedGain ? Json(*scored.expectedGain) : Json()},
            {"achieved_gain", scored.achievedGain},
            {"reward", scored.reward},
            {"seconds", scored.seconds}};
  addModel(json, scored.model);
  return domain::dumpJson(json);
}

Result<judge::ScoredAdvice> parseScoredAdvice(std::string_view json) {
  SWAGE_TRY_ASSIGN(const Json parsed, domain::parseJson(json));
  try {
    judge::ScoredAdvice scored;
    scored.pair = parsed.at("pair").get<int>();
    scored.role = roleOf(parsed);
    scored.rule = parsed.at("rule").get<std::string>();
    scored.pass = parsed.at("pass").get<std::string>() == judge::name(domain::AdvicePass::Functional)
                      ? domain::AdvicePass::Functional
                      : domain::AdvicePass::Optimisation;
    scored.about = domain::CandidateId(parsed.at("about").get<std::int64_t>());
    scored.candidate = domain::CandidateId(parsed.at("candidate").get<std::int64_t>());
    if (const Json& gain = parsed.at("expected_gain"); !gain.is_null()) {
      scored.expectedGain = gain.get<double>();
    }
    scored.achievedGain = parsed.at("achieved_gain").get<double>();
    scored.reward = parsed.at("reward").get<double>();
    scored.model = parsed.value("model", std::string());
    scored.seconds = parsed.value("seconds", 0.0);  // earlier versions did not write it down
    return scored;
  } catch (const Json::exception& error) {
    return unreadable(error);
  }
}

Result<> keepNews(store::Record& record, domain::RunId run, const judge::SwarmNews& news) {
  if (news.scored) {
    SWAGE_TRY(record.addEvent(run, domain::EventKind::AdviceScore, scoreJson(*news.scored)));
  }
  for (const judge::GivenAdvice& given : news.given) {
    SWAGE_TRY(record.addEvent(run, domain::EventKind::Advice, adviceJson(given)));
  }
  return {};
}

Result<> restoreCredit(const store::Record& record, domain::RunId run, judge::Swarm& swarm) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  for (const domain::RunEvent& event : events) {
    if (event.kind == domain::EventKind::AdviceScore) {
      SWAGE_TRY_ASSIGN(const judge::ScoredAdvice scored, parseScoredAdvice(event.json));
      swarm.restore(scored);
    }
  }
  return {};
}

}  // namespace swage::run
