// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/command.h"
#include "app/cli/progress_line.h"
#include "core/engine/kernelbench_benchmark.h"

namespace swage::cli {

// `bench kernelbench`. Its document is the file that it writes; standard output gets the tables, or lines of JSON.
class BenchKernelBenchCommand final : public Command {
 public:
  BenchKernelBenchCommand(Context context, BenchKernelBenchArguments arguments);
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] Result<> begin();
  void showStart(const engine::KernelBenchProblem& problem, int index, int count);
  void showEnd(const exporting::KernelBenchRow& row);
  void showNotice(const services::Notice& notice);
  void handleFinished(const Result<exporting::KernelBenchDocument>& document);
  void event(const char* name, domain::Json json) const;
  void tell(const std::string& line);

  BenchKernelBenchArguments m_arguments;
  ProgressLine m_progress;
  std::unique_ptr<engine::KernelBenchBenchmark> m_benchmark;
  int m_signal = 0;
};

// `bench report`: such a file as tables or as a picture.
class BenchReportCommand final : public Command {
 public:
  BenchReportCommand(Context context, BenchReportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> write() const;

  BenchReportArguments m_arguments;
};

}  // namespace swage::cli
