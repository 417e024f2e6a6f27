// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/command.h"
#include "app/cli/progress_line.h"
#include "core/process/target_choice.h"
#include "core/trust/self_test.h"

namespace swage::cli {

// `swage doctor --self-test`: planted cheats and honest controls through the real compiler and worker. One line for
// each case as it ends, and how far it is on standard error. Leaves with 0 when no cheat passed and no control failed,
// else with 8 (verification failed); what it finds decides whether searches on the device may record results.
class SelfTestCommand final : public Command {
 public:
  SelfTestCommand(Context context, DoctorArguments arguments);
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  void run(const Result<domain::DeviceKind>& target);
  void showCase(const services::SelfTestCase& one);
  void show(const Result<services::SelfTestReport>& report);

  DoctorArguments m_arguments;
  ProgressLine m_progress;
  std::unique_ptr<process::TargetChoice> m_choice;
  std::unique_ptr<trust::SelfTest> m_test;
  std::string m_corpusHash;
  int m_signal = 0;
};

}  // namespace swage::cli
