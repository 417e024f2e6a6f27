// SPDX-License-Identifier: Apache-2.0
#include "app/cli/rules_command.h"

#include <fmt/format.h>

#include "core/store/knowledge.h"

namespace swage::cli {

void RulesCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

// None where no run has kept any.
RuleExperience RulesCommand::experienceOf(const std::string& rule) const {
  const Result<store::Knowledge> knowledge = store::Knowledge::openToRead(context().parts.knowledge);
  Result<RuleExperience> found = knowledge ? knowledge->ofRule(rule) : RuleExperience();
  return found ? std::move(*found) : RuleExperience();
}

Result<> RulesCommand::show() const {
  const Result<std::filesystem::path> project = existingProject();
  SWAGE_TRY_ASSIGN(const judge::RuleBook book, judge::RuleBook::load(process::ruleFolders(
                                                   context().locations, project ? *project : std::filesystem::path())));
  if (m_arguments.id.empty()) {
    domain::Json json = {{"rules", domain::Json::array()}};
    for (const judge::Rule& rule : book.all()) {
      if (form() == OutputForm::JsonLines) {
        printJson(toJson(rule));
      }
      json["rules"].push_back(toJson(rule));
    }
    if (form() == OutputForm::Json) {
      printJson(json);
    } else if (form() == OutputForm::Text) {
      print(ruleTable(book.all()));
    }
    return {};
  }
  const judge::Rule* rule = book.find(m_arguments.id);
  if (rule == nullptr) {
    return Error(ErrorKind::NotFound, fmt::format("there is no rule '{}'", m_arguments.id), "`swage rules` lists them");
  }
  const RuleExperience experience = experienceOf(rule->id);
  if (form() == OutputForm::Text) {
    print(ruleText(*rule) + experienceText(experience));
  } else {
    domain::Json json = toJson(*rule);
    json["experience"] = toJson(experience);
    printJson(json);
  }
  return {};
}

}  // namespace swage::cli
