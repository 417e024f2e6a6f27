// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/progress_line.h"
#include "core/engine/engine_benchmark.h"

namespace swage::cli {

// `bench engine`. Its project is thrown away unless one is named.
class BenchCommand final : public Command {
 public:
  BenchCommand(Context context, BenchArguments arguments);
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] bool mayUseGpu() const;
  [[nodiscard]] Result<> prepare();
  void show(const Result<engine::EngineBenchmark::Report>& report);

  BenchArguments m_arguments;
  ProgressLine m_progress;
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<engine::EngineBenchmark> m_benchmark;
  int m_signal = 0;
};

[[nodiscard]] domain::Json toJson(const engine::EngineBenchmark::Report& report);
[[nodiscard]] std::string benchText(const engine::EngineBenchmark::Report& report);

}  // namespace swage::cli
