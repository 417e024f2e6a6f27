// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/command.h"
#include "app/cli/progress_line.h"
#include "core/engine/run_service_impl.h"

namespace swage::cli {

// On standard error, for a terminal or a log.
[[nodiscard]] ProgressLine makeProgressLine(const Common& common);

// `optimize` and `resume`: one run with its progress, and a summary at its end. The first signal stops after the
// evaluation in progress, the second kills.
class RunCommand : public Command {
 public:
  RunCommand(Context context, services::RunSpec spec);
  void start() override;
  void interrupt(int signal, int count) override;

 protected:
  void run();
  services::RunSpec m_spec;

 private:
  void event(const char* name, domain::Json json);
  void handleNotice(const services::Notice& notice);
  void handleFinished(const services::RunOutcome& outcome);
  [[nodiscard]] Result<> summarise(const services::RunOutcome& outcome);
  [[nodiscard]] wire::ExitCode exitCode(const services::RunOutcome& outcome) const;

  engine::RunServiceImpl m_service;
  ProgressLine m_progress;
  ProgressFilter m_news;
  int m_signal = 0;
};

class OptimizeCommand final : public RunCommand {
 public:
  using RunCommand::RunCommand;
  void start() override;
};

class ResumeCommand final : public RunCommand {
 public:
  ResumeCommand(Context context, ResumeArguments arguments);
  void start() override;

 private:
  [[nodiscard]] Result<> choose();
  ResumeArguments m_arguments;
};

}  // namespace swage::cli
