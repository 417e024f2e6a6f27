// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <type_traits>

#include "app/cli/bench_command.h"
#include "app/cli/bench_export_command.h"
#include "app/cli/bench_judge_command.h"
#include "app/cli/bench_kernelbench_command.h"
#include "app/cli/bench_swarm_command.h"
#include "app/cli/command.h"
#include "app/cli/config_command.h"
#include "app/cli/db_command.h"
#include "app/cli/evaluate_command.h"
#include "app/cli/export_command.h"
#include "app/cli/init_command.h"
#include "app/cli/keys_command.h"
#include "app/cli/look_commands.h"
#include "app/cli/machine_commands.h"
#include "app/cli/mcp_command.h"
#include "app/cli/models_command.h"
#include "app/cli/patterns_command.h"
#include "app/cli/program_commands.h"
#include "app/cli/record_commands.h"
#include "app/cli/report_command.h"
#include "app/cli/rules_command.h"
#include "app/cli/run_command.h"
#include "app/cli/self_test_command.h"
#include "app/cli/task_commands.h"

namespace swage::cli {
namespace {

Context withSelfTest(Context context, bool wanted) {
  if (context.parts.selfTest) {
    context.parts.selfTest->skip = !wanted;
  }
  return context;
}

Result<Context> withDevices(Context context, const std::vector<std::string>& devices) {
  if (!devices.empty()) {
    SWAGE_TRY_ASSIGN(const std::vector<int> numbers, engine::findDevices(context.locations, devices));
    context.parts.useDevices(context.locations, numbers);
  }
  return context;
}

Result<Context> withModels(Context context, const ModelChoice& choice) {
  SWAGE_TRY_ASSIGN(std::vector<run::ProposerFactory> proposers, proposersFor(choice, context.locations));
  std::move(proposers.begin(), proposers.end(), std::back_inserter(context.parts.proposers));
  context.parts.searches = !choice.alone;
  return context;
}

}  // namespace

Result<std::unique_ptr<Command>> makeCommand(const CommandArguments& arguments, Context context) {
  return std::visit(
      [&context](const auto& chosen) -> Result<std::unique_ptr<Command>> {
        using Chosen = std::decay_t<decltype(chosen)>;
        if constexpr (std::is_same_v<Chosen, InitArguments>) {
          return std::make_unique<InitCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, KeysArguments>) {
          return std::make_unique<KeysCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, DbArguments>) {
          return std::make_unique<DbCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, TasksArguments>) {
          return std::make_unique<TasksCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ImportArguments>) {
          return std::make_unique<ImportCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, OptimizeArguments>) {
          SWAGE_TRY_ASSIGN(Context whole,
                           withDevices(withSelfTest(std::move(context), chosen.selfTest), chosen.devices));
          SWAGE_TRY_ASSIGN(whole, withModels(std::move(whole), chosen.models));
          return std::make_unique<OptimizeCommand>(std::move(whole), chosen.spec);
        } else if constexpr (std::is_same_v<Chosen, ResumeArguments>) {
          SWAGE_TRY_ASSIGN(Context whole,
                           withDevices(withSelfTest(std::move(context), chosen.selfTest), chosen.devices));
          SWAGE_TRY_ASSIGN(whole, withModels(std::move(whole), chosen.models));
          return std::make_unique<ResumeCommand>(std::move(whole), chosen);
        } else if constexpr (std::is_same_v<Chosen, StatusArguments>) {
          return std::make_unique<StatusCommand>(std::move(context));
        } else if constexpr (std::is_same_v<Chosen, ListArguments>) {
          return std::make_unique<ListCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ShowArguments>) {
          return std::make_unique<ShowCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, CompareArguments>) {
          return std::make_unique<CompareCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, DisasmArguments>) {
          return std::make_unique<DisasmCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ReportArguments>) {
          return std::make_unique<ReportCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, RulesArguments>) {
          return std::make_unique<RulesCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, DevicesArguments>) {
          return std::make_unique<DevicesCommand>(std::move(context));
        } else if constexpr (std::is_same_v<Chosen, ConfigArguments>) {
          return std::make_unique<ConfigCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ModelsArguments>) {
          return std::make_unique<ModelsCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, PatternsArguments>) {
          return std::make_unique<PatternsCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, McpArguments>) {
          return std::make_unique<McpCommand>(withSelfTest(std::move(context), chosen.selfTest), chosen);
        } else if constexpr (std::is_same_v<Chosen, CompletionArguments>) {
          return std::make_unique<CompletionCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ManArguments>) {
          return std::make_unique<ManCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, CompleteArguments>) {
          return std::make_unique<CompleteCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, VerifyArguments>) {
          return std::make_unique<VerifyCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, EvaluateArguments>) {
          return std::make_unique<EvaluateCommand>(withSelfTest(std::move(context), chosen.selfTest), chosen);
        } else if constexpr (std::is_same_v<Chosen, ProfileArguments>) {
          return std::make_unique<ProfileCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, ExportArguments>) {
          return std::make_unique<ExportCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, DoctorArguments>) {
          if (chosen.selfTest) {
            return std::make_unique<SelfTestCommand>(std::move(context), chosen);
          }
          return std::make_unique<DoctorCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchExportArguments>) {
          return std::make_unique<BenchExportCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchJudgeArguments>) {
          return std::make_unique<BenchJudgeCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchSwarmArguments>) {
          return std::make_unique<BenchSwarmCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchKernelBenchArguments>) {
          SWAGE_TRY_ASSIGN(Context whole,
                           withDevices(withSelfTest(std::move(context), chosen.selfTest), chosen.devices));
          return std::make_unique<BenchKernelBenchCommand>(std::move(whole), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchReportArguments>) {
          return std::make_unique<BenchReportCommand>(std::move(context), chosen);
        } else if constexpr (std::is_same_v<Chosen, BenchArguments>) {
          return std::make_unique<BenchCommand>(std::move(context), chosen);
        } else {
          return std::make_unique<VersionCommand>(std::move(context));
        }
      },
      arguments);
}

}  // namespace swage::cli
