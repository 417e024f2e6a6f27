// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"
#include "core/engine/new_project.h"

namespace swage::cli {

// `init`: makes a folder a project. Ends at once.
class InitCommand final : public Command {
 public:
  InitCommand(Context context, InitArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  InitArguments m_arguments;
};

[[nodiscard]] domain::Json toJson(const engine::NewProject& made);
[[nodiscard]] std::string newProjectText(const engine::NewProject& made);

}  // namespace swage::cli
