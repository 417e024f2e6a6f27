// SPDX-License-Identifier: Apache-2.0
// The arguments of `swage bench`.
#include "app/cli/command_tree.h"
#include "app/cli/default_arguments.h"
#include "core/base/duration.h"

namespace swage::cli {
namespace {

void addBenchEngine(Parser& parser, CLI::App& group) {
  Raw& raw = parser.raw;
  services::RunSpec& spec = raw.bench.spec;
  CLI::App* command =
      addCommand(parser, group, "engine",
                 "Measure candidates per minute, use of the device, and how repeatable times are", WithProject::Yes);
  command->add_option("task", spec.task, "Task to search; a bundled normalisation of about 100 MB by default")
      ->type_name("TASK");
  addTaskOptions(command, raw, spec.inputs, spec.eval);
  addTarget(command, spec.target);
  command->add_option("--time-budget", raw.timeBudget, "Search time: 60s, 2m")->type_name("TIME");
  command->add_option("--processes", raw.bench.freshProcesses, "New processes that time the winner again")
      ->type_name("N")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  explain(parser, command, "Searches a task and times its winner again in fresh processes.",
          {"swage bench engine --target cpu --time-budget 60s --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    services::RunSpec& result = filled.bench.spec;
    SWAGE_TRY(takeOverrides(filled, result.overrides));
    result.timeBudgetSeconds = kDefaultBudgetSeconds;
    if (!filled.timeBudget.empty()) {
      SWAGE_TRY_ASSIGN(result.timeBudgetSeconds, parseDuration(filled.timeBudget));
    }
    return CommandArguments(filled.bench);
  };
}

void addBenchExport(Parser& parser, CLI::App& group) {
  BenchExportArguments& bench = parser.raw.benchExport;
  CLI::App* command = addCommand(parser, group, "export",
                                 "Measure what the checks of an exported kernel cost at each call", WithProject::No);
  command->add_option("--target", bench.target, "cpu, cuda, or auto for the CPU and the first GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->type_name("TARGET")
      ->capture_default_str();
  command->add_option("--calls", bench.calls, "Warm calls to take the median of")
      ->type_name("N")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  explain(parser, command,
          "Exports a small kernel and calls it by itself, under torch.compile and, on a GPU, in a CUDA graph.",
          {"swage bench export --target cpu --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> { return CommandArguments(filled.benchExport); };
}

void addBenchJudge(Parser& parser, CLI::App& group) {
  engine::JudgeBenchmarkOptions& options = parser.raw.benchJudge.options;
  CLI::App* command = addCommand(parser, group, "judge",
                                 "Compare the search with a judge and without, on a recorded run", WithProject::Yes);
  command->add_option("run", parser.raw.reference, "Run, such as r3; the latest by default")->type_name("RUN");
  command->add_option("--seeds", options.seeds, "Searches of each kind")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--goal", options.goal, "Part of the best speedup of the run that a search has to reach")
      ->type_name("X")
      ->check(CLI::Range(0.1, 1.0))
      ->capture_default_str();
  explain(
      parser, command,
      "Searches among the candidates that the run has recorded, and looks their evaluations up: nothing is compiled "
      "or timed. The run should have been made with --judge off.",
      {"swage bench judge r3 --seeds 20 --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.benchJudge.run, runReference(filled.reference));
    }
    return CommandArguments(filled.benchJudge);
  };
}

void addBenchSwarm(Parser& parser, CLI::App& group) {
  BenchSwarmArguments& bench = parser.raw.benchSwarm;
  CLI::App* command = addCommand(
      parser, group, "swarm", "Measure whether the engine keeps up with many language models at once", WithProject::No);
  command->add_option("--models", bench.models, "Models that reply at the same time")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--tokens-per-second", bench.tokensPerSecond, "Tokens a second, of all models together")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1e8))
      ->capture_default_str();
  command->add_option("--tokens-per-event", bench.tokensPerEvent, "Tokens in each piece of the stream")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seconds", bench.seconds, "How long to measure")
      ->type_name("S")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  explain(parser, command,
          "A server on this machine plays the models. What they write is read, recorded and told as in a search; "
          "nothing of it is compiled. Needs no network.",
          {"swage bench swarm --seconds 10 --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> { return CommandArguments(filled.benchSwarm); };
}

}  // namespace

void addBenchCommands(Parser& parser) {
  CLI::App* group = addCommandGroup(parser, "bench", "Measure how fast Swage works, and how fast what it finds");
  addBenchEngine(parser, *group);
  addBenchExport(parser, *group);
  addBenchJudge(parser, *group);
  addBenchSwarm(parser, *group);
  addBenchKernelBench(parser, *group);
  addBenchReport(parser, *group);
}

}  // namespace swage::cli
