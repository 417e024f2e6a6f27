// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

// Commands about the program itself.
namespace swage::cli {

class CompletionCommand final : public Command {
 public:
  CompletionCommand(Context context, CompletionArguments arguments)
      : Command(std::move(context)), m_arguments(arguments) {}
  void start() override;

 private:
  CompletionArguments m_arguments;
};

class ManCommand final : public Command {
 public:
  ManCommand(Context context, ManArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> writeAll(const CommandFact& program) const;
  [[nodiscard]] Result<> show(const CommandFact& program) const;

  ManArguments m_arguments;
};

// What a shell asks at Tab. Never fails: it has nobody to tell.
class CompleteCommand final : public Command {
 public:
  CompleteCommand(Context context, CompleteArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  CompleteArguments m_arguments;
};

class VersionCommand final : public Command {
 public:
  using Command::Command;
  void start() override;
};

}  // namespace swage::cli
