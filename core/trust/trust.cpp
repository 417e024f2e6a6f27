// SPDX-License-Identifier: Apache-2.0
#include "core/trust/trust.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/process/programs.h"
#include "core/trust/self_test_gate.h"

namespace swage::trust {

std::optional<domain::Assurance> heldBackAssurance(const domain::Evaluation& evaluation) {
  domain::Assurance assurance;
  assurance.kind = domain::AssuranceKind::HeldBackSeeds;
  if (const auto* wrong = std::get_if<domain::Wrong>(&evaluation)) {
    if (wrong->detail.find(domain::kHeldBackInputs) == std::string::npos) {
      return std::nullopt;
    }
    assurance.verdict = domain::AssuranceVerdict::Failed;
    assurance.detail = wrong->detail;
    return assurance;
  }
  const domain::Correct* correct = domain::asCorrect(evaluation);
  if (correct == nullptr) {
    return std::nullopt;
  }
  const auto found =
      std::find_if(correct->byInputs.begin(), correct->byInputs.end(),
                   [](const domain::InputErrors& errors) { return errors.inputs == domain::kHeldBackInputs; });
  if (found == correct->byInputs.end()) {
    return std::nullopt;
  }
  assurance.verdict = domain::AssuranceVerdict::Passed;
  assurance.detail = fmt::format("{} seeds that no other check used", found->checks);
  return assurance;
}

Result<> addDoubts(store::Record& record, domain::RunId run, const std::vector<std::string>& doubts) {
  for (const std::string& doubt : doubts) {
    SWAGE_TRY(record.addEvent(run, domain::EventKind::Doubt, nlohmann::json{{"doubt", doubt}}.dump()));
  }
  return {};
}

Result<std::vector<std::string>> doubtsOf(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  std::vector<std::string> doubts;
  for (const domain::RunEvent& event : events) {
    if (event.kind != domain::EventKind::Doubt) {
      continue;
    }
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(event.json));
    if (const auto doubt = json.find("doubt"); doubt != json.end() && doubt->is_string()) {
      doubts.push_back(doubt->get<std::string>());
    }
  }
  return doubts;
}

Result<> addSandbox(store::Record& record, domain::RunId run, std::string_view sandbox) {
  return sandbox == process::kNoSandbox
             ? record.addEvent(run, domain::EventKind::Sandbox, nlohmann::json{{"sandbox", sandbox}}.dump())
             : Result<>();
}

Result<std::string> sandboxOf(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  const bool lacksOne = std::any_of(events.begin(), events.end(), [](const domain::RunEvent& event) {
    return event.kind == domain::EventKind::Sandbox;
  });
  return std::string(lacksOne ? process::kNoSandbox : "");
}

Result<bool> skippedSelfTest(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  for (const domain::RunEvent& event : events) {
    if (event.kind != domain::EventKind::SelfTest) {
      continue;
    }
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(event.json));
    const auto ground = json.find("ground");
    if (ground != json.end() && ground->is_string() &&
        ground->get<std::string>() == name(SelfTestGate::Ground::Skipped)) {
      return true;
    }
  }
  return false;
}

Result<> recordAssurance(const std::filesystem::path& project, domain::CandidateId candidate,
                         const domain::Assurance& assurance) {
  SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(project, store::Record::Mode::ReadWrite));
  return record.setAssurance(candidate, assurance);
}

}  // namespace swage::trust
