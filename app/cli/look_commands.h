// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"
#include "app/cli/compare_view.h"

// `compare` and `disasm`: what recorded candidates are, side by side or down to their instructions. They end at once.
namespace swage::cli {

[[nodiscard]] Result<ComparedSide> readCompared(const std::filesystem::path& project, domain::CandidateId candidate);

class CompareCommand final : public Command {
 public:
  CompareCommand(Context context, CompareArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;

  CompareArguments m_arguments;
};

class DisasmCommand final : public Command {
 public:
  DisasmCommand(Context context, DisasmArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;

  DisasmArguments m_arguments;
};

}  // namespace swage::cli
