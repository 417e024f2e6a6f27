// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/command.h"
#include "core/engine/export_benchmark.h"

namespace swage::cli {

// `bench export`.
class BenchExportCommand final : public Command {
 public:
  BenchExportCommand(Context context, BenchExportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  void show(const Result<engine::ExportBenchmark::Report>& report);

  BenchExportArguments m_arguments;
  std::unique_ptr<engine::ExportBenchmark> m_benchmark;
  int m_signal = 0;
};

[[nodiscard]] domain::Json toJson(const engine::ExportBenchmark::Report& report);
[[nodiscard]] std::string benchExportText(const engine::ExportBenchmark::Report& report);

}  // namespace swage::cli
