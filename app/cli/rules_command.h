// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "app/cli/command.h"

namespace swage::cli {

// `rules`: what the judge goes by. Ends at once.
class RulesCommand final : public Command {
 public:
  RulesCommand(Context context, RulesArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;

  RulesArguments m_arguments;
};

}  // namespace swage::cli
