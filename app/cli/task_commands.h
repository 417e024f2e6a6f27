// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "core/run/profile_job.h"
#include "core/run/task_preparation.h"
#include "core/trust/held_out_shapes.h"
#include "core/trust/verification.h"

// Commands about a task: tasks, and those that start one program and wait for it: import, verify, profile.
namespace swage::cli {

class TasksCommand final : public Command {
 public:
  TasksCommand(Context context, TasksArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  TasksArguments m_arguments;
};

class ImportCommand final : public Command {
 public:
  ImportCommand(Context context, ImportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  void show(const Result<store::TaskBundle>& bundle);

  ImportArguments m_arguments;
  std::unique_ptr<run::TaskPreparation> m_preparation;
};

class VerifyCommand final : public Command {
 public:
  VerifyCommand(Context context, VerifyArguments arguments) : Command(std::move(context)), m_arguments(arguments) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  void show(const Result<domain::Evaluation>& evaluation);

  void handleChecked(const Result<domain::Assurance>& assurance);
  void finish(const std::optional<domain::Assurance>& shapes);

  VerifyArguments m_arguments;
  std::filesystem::path m_project;
  std::unique_ptr<trust::Verification> m_verification;
  std::unique_ptr<trust::HeldOutShapes> m_shapes;
  domain::Evaluation m_evaluation;
  int m_signal = 0;
};

class ProfileCommand final : public Command {
 public:
  ProfileCommand(Context context, ProfileArguments arguments) : Command(std::move(context)), m_arguments(arguments) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  void show(const Result<domain::Profile>& profile);

  ProfileArguments m_arguments;
  std::unique_ptr<run::ProfileJob> m_job;
  int m_signal = 0;
};

}  // namespace swage::cli
