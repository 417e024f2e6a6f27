// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>

#include <memory>

#include "app/cli/command.h"
#include "core/engine/swarm_benchmark.h"

namespace swage::cli {

// `bench swarm`: whether the engine keeps up with many models at once. Its record is thrown away.
class BenchSwarmCommand final : public Command {
 public:
  BenchSwarmCommand(Context context, const BenchSwarmArguments& arguments)
      : Command(std::move(context)), m_arguments(arguments) {}
  void start() override;

 private:
  void show(const Result<engine::SwarmBenchmark::Report>& report);

  BenchSwarmArguments m_arguments;
  QTemporaryDir m_folder;
  std::unique_ptr<engine::SwarmBenchmark> m_benchmark;
};

[[nodiscard]] domain::Json toJson(const engine::SwarmBenchmark::Report& report);
[[nodiscard]] std::string benchSwarmText(const engine::SwarmBenchmark::Report& report);

}  // namespace swage::cli
