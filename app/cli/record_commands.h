// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

// Commands that read the record, and end at once.
namespace swage::cli {

class StatusCommand final : public Command {
 public:
  using Command::Command;
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;
};

class ListCommand final : public Command {
 public:
  ListCommand(Context context, ListArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;
  [[nodiscard]] Result<services::CandidateQuery> page(const std::vector<services::RunSummary>& runs) const;

  ListArguments m_arguments;
};

class ShowCommand final : public Command {
 public:
  ShowCommand(Context context, ShowArguments arguments) : Command(std::move(context)), m_arguments(arguments) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;

  ShowArguments m_arguments;
};

}  // namespace swage::cli
