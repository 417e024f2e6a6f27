// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "app/cli/command.h"
#include "core/engine/judge_benchmark.h"

namespace swage::cli {

// `bench judge`: what the advice of the judge is worth, on what a run has recorded. Ends at once.
class BenchJudgeCommand final : public Command {
 public:
  BenchJudgeCommand(Context context, BenchJudgeArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> show() const;

  BenchJudgeArguments m_arguments;
};

[[nodiscard]] domain::Json toJson(const engine::JudgeBenchmarkResult& result);
[[nodiscard]] std::string benchJudgeText(const engine::JudgeBenchmarkResult& result);

}  // namespace swage::cli
