// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "core/engine/held_out_shapes.h"

// Commands that read the record, and end at once but for the checks before an export.
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
  [[nodiscard]] Result<services::CandidatePage> page(const std::vector<services::RunSummary>& runs) const;

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

class ExportCommand final : public Command {
 public:
  ExportCommand(Context context, ExportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] Result<> begin();
  [[nodiscard]] Result<domain::CandidateId> candidate() const;
  void handleChecked(const Result<domain::Assurance>& assurance);
  void finish();
  [[nodiscard]] Result<> write() const;

  ExportArguments m_arguments;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  std::unique_ptr<engine::HeldOutShapes> m_shapes;
  std::optional<domain::Assurance> m_checked;
  int m_signal = 0;
};

class VersionCommand final : public Command {
 public:
  using Command::Command;
  void start() override;
};

}  // namespace swage::cli
