// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "app/cli/command.h"
#include "app/cli/rules_view.h"

namespace swage::cli {

// `rules`: what the judge goes by. Ends at once.
class RulesCommand final : public Command {
 public:
  RulesCommand(Context context, RulesArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;
  [[nodiscard]] RuleExperience experienceOf(const std::string& rule) const;

  RulesArguments m_arguments;
};

}  // namespace swage::cli
