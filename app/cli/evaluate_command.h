// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/command.h"
#include "core/run/edit_evaluation.h"

namespace swage::cli {

// `swage evaluate`: a recorded candidate with another source becomes a candidate of the same run. Leaves with 0 when it
// is correct, else with 8 (verification failed).
class EvaluateCommand final : public Command {
 public:
  EvaluateCommand(Context context, EvaluateArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] Result<services::EditSpec> spec() const;
  void show(const Result<services::EditOutcome>& outcome);

  EvaluateArguments m_arguments;
  std::unique_ptr<run::EditEvaluation> m_evaluation;
  int m_signal = 0;
};

}  // namespace swage::cli
