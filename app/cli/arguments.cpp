// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "app/cli/command_tree.h"
#include "app/cli/default_arguments.h"
#include "app/cli/models_arguments.h"
#include "core/base/closest_word.h"
#include "core/base/duration.h"
#include "core/services/devices_service.h"
#include "core/services/overrides.h"

namespace swage::cli {
namespace {

constexpr std::string_view kComplete = "__complete";

void addTasks(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "tasks", "List the bundled tasks and those in your folder of tasks", WithProject::No);
  command->add_option("folder", parser.raw.output, "Another folder whose tasks to list")->type_name("DIR");
  explain(parser, command,
          "Your folder is $XDG_DATA_HOME/swage/tasks. `swage optimize NAME` finds a task of either by its name.",
          {"swage tasks", "swage tasks ~/KernelBench/level1 --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    return CommandArguments(TasksArguments{filled.output});
  };
}

void addImport(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command =
      addCommand(parser, "import", "Turn a Python file into a task bundle, without searching", WithProject::No);
  command->add_option("task", raw.import.task, "File with class Model, or FILE.py:Class")
      ->required()
      ->type_name("TASK.py");
  addTaskOptions(command, raw, raw.import.inputs, raw.import.eval);
  command->add_option("-o,--output", raw.output, "Folder to write; NAME.swage in the current folder by default")
      ->type_name("BUNDLE");
  explain(parser, command, "The bundle holds the traced graph, the input generators and the weights.",
          {"swage import model.py --set batch_size=16",
           "swage import net.py:Block --inputs \"float32[16,64]\" -o block.swage"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY(takeOverrides(filled, filled.import.overrides));
    filled.import.output = filled.output;
    return CommandArguments(filled.import);
  };
}

void addBudget(CLI::App* command, Raw& raw, std::int64_t& maxEvaluations) {
  command->add_option("--time-budget", raw.timeBudget, "Search time, such as 60s, 2m or 1h")->type_name("TIME");
  command->add_option("--max-evaluations", maxEvaluations, "Stop after this many candidates")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

void addSpeedups(CLI::App* command, double& target, double& required) {
  command
      ->add_option("--target-speedup", target,
                   "Stop once a candidate's speedup is significantly above X; exit code 7 if none is")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--required-speedup", required, "Exit code 7 unless the winner's speedup is significantly above X")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
}

}  // namespace

Result<> takeOverrides(const Raw& raw, std::vector<std::pair<std::string, std::string>>& into) {
  for (const std::string& text : raw.overrides) {
    SWAGE_TRY_ASSIGN(auto pair, services::parseOverride(text));
    into.push_back(std::move(pair));
  }
  return {};
}

void addTaskOptions(CLI::App* command, Raw& raw, std::string& inputs, bool& eval) {
  command->add_option("--set", raw.overrides, "Change a constant of the file; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)  // "--set a=1 task.py": the file is no second value
      ->take_all();
  command->add_option("--inputs", inputs, "Inputs of a plain module: \"float32[16,64]; int64[16] randint(0,10)\"")
      ->type_name("SPEC");
  command->add_flag("--eval", eval, "Use the module in evaluation mode");
}

void addTarget(CLI::App* command, std::string& target) {
  command->add_option("--target", target, "cpu, cuda or auto")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->type_name("TARGET")
      ->capture_default_str();
}

void addSandbox(CLI::App* command, Raw& raw) {
  command
      ->add_option("--sandbox", raw.sandbox,
                   "What keeps compilers from the rest of the machine: auto, bwrap, landlock, or none, which is not "
                   "safe; the setting search.sandbox by default")
      ->check(CLI::IsMember({"auto", "bwrap", "landlock", "none"}))
      ->type_name("MODE");
}

namespace {

void addSelfTestFlag(CLI::App* command, Raw& raw) {
  command->add_flag("--no-self-test", raw.noSelfTest, "Search without the self-test of this device");
}

// What the command line says, else what is set; empty: the first GPU.
Result<std::vector<std::string>> devicesOf(const Raw& filled) {
  if (filled.devices.empty()) {
    return defaultDevices(filled.settings);
  }
  return services::parseDevices(filled.devices);
}

void addDevices(CLI::App* command, Raw& raw) {
  command->add_option("--devices", raw.devices, "GPUs of the same model to use at once, by number or UUID: 0,1")
      ->type_name("LIST");
}

void addPairs(CLI::App* command, Raw& raw, services::RunSpec& spec) {
  command->add_option("--pairs", spec.pairs, "Pairs of a coder and a judge, spread over the islands of the search")
      ->type_name("N")
      ->check(CLI::Range(1, services::kMostPairs))
      ->capture_default_str();
  command->add_option("--judge", raw.judge, "on or off: whether a judge's advice steers the search")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("WHEN")
      ->capture_default_str();
}

void addOptimize(Parser& parser) {
  Raw& raw = parser.raw;
  services::RunSpec& spec = raw.optimize.spec;
  takeDefaults(raw.settings, spec);
  CLI::App* command = addCommand(parser, "optimize", "Search for the fastest verified kernel", WithProject::Yes);
  command->add_option("task", spec.task, "File, FILE.py:Class, task bundle, or name of a bundled task")
      ->required()
      ->type_name("TASK");
  addTaskOptions(command, raw, spec.inputs, spec.eval);
  addTarget(command, spec.target);
  addDevices(command, raw);
  addBudget(command, raw, spec.maxEvaluations);
  addSpeedups(command, spec.targetSpeedup, spec.requiredSpeedup);
  command
      ->add_option("--seed", spec.seed,
                   "Seed of the search and of its test inputs. The same seed proposes the same candidates, unless "
                   "measured times differ. 0 or none: a random seed for each run, kept in the record")
      ->type_name("S");
  command->add_flag("--no-compile-baseline", raw.noCompileBaseline, "Compare with eager only, not torch.compile");
  command
      ->add_option("--baselines", spec.baselines,
                   "Modes of PyTorch to compare with: eager, compile, max-autotune; max-autotune is included by "
                   "default from a time budget of 5 minutes")
      ->delimiter(',')
      ->check(CLI::IsMember({"eager", "compile", "max-autotune"}))
      ->type_name("MODES");
  command->add_flag("--remeasure", spec.remeasureBaselines,
                    "Measure the baselines again, also where an earlier run of this project measured them");
  addPairs(command, raw, spec);
  addSelfTestFlag(command, raw);
  addSandbox(command, raw);
  addModelOptions(command, raw, raw.optimize.models);
  explain(
      parser, command,
      "Imports the task, measures PyTorch's own ways to run it, and searches until the budget is used up. Every "
      "candidate is verified against PyTorch in float64 before it is timed. Ctrl-C stops after the evaluation in "
      "progress; `swage resume` continues.",
      {"swage optimize softmax_rows --target cpu --time-budget 60s", "swage optimize model.py --set rows=4096 --json",
       "swage optimize net.py:Block --inputs \"float32[16,64]\" --max-evaluations 200"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    services::RunSpec& result = filled.optimize.spec;
    SWAGE_TRY(takeOverrides(filled, result.overrides));
    result.timeBudgetSeconds = defaultBudget(filled.settings);
    if (!filled.timeBudget.empty()) {
      SWAGE_TRY_ASSIGN(result.timeBudgetSeconds, parseDuration(filled.timeBudget));
    } else if (result.maxEvaluations > 0) {
      result.timeBudgetSeconds = 0.0;  // the other limit was chosen
    }
    result.compileBaselines = !filled.noCompileBaseline && comparesWithCompile(filled.settings);
    result.judge = filled.judge == "on";
    filled.optimize.selfTest = !filled.noSelfTest;
    SWAGE_TRY_ASSIGN(filled.optimize.devices, devicesOf(filled));
    SWAGE_TRY(takeModels(filled, filled.optimize.models));
    result.budgetUsd = filled.optimize.models.usd;
    result.budgetTokens = filled.optimize.models.tokens;
    return CommandArguments(filled.optimize);
  };
}

void addResume(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command =
      addCommand(parser, "resume", "Continue a run that was stopped, killed or ran out of budget", WithProject::Yes);
  command->add_option("run", raw.reference, "Run, such as r3; the latest unfinished run by default")->type_name("RUN");
  addDevices(command, raw);
  addBudget(command, raw, raw.resume.maxEvaluations);
  addSpeedups(command, raw.resume.targetSpeedup, raw.resume.requiredSpeedup);
  addSelfTestFlag(command, raw);
  addSandbox(command, raw);
  addModelOptions(command, raw, raw.resume.models);
  explain(parser, command, "A finished run continues with a larger budget when it is named.",
          {"swage resume", "swage resume r3 --time-budget 5m"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.resume.devices, devicesOf(filled));
    SWAGE_TRY(takeModels(filled, filled.resume.models));
    filled.resume.selfTest = !filled.noSelfTest;
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.resume.run, parseReference(filled.reference));
      filled.resume.run->kind = RecordReference::Kind::Run;  // nothing else can be resumed, so the r may be left out
    }
    if (!filled.timeBudget.empty()) {
      SWAGE_TRY_ASSIGN(filled.resume.timeBudgetSeconds, parseDuration(filled.timeBudget));
    }
    return CommandArguments(filled.resume);
  };
}

void addVerify(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "verify", "Verify and time a recorded candidate again, in a fresh process", WithProject::Yes);
  command->add_option("candidate", parser.raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  command->add_flag("--no-checks", parser.raw.noChecks, "Do not verify it at other sizes of the task");
  addSandbox(command, parser.raw);
  explain(parser, command, "Exit code 8 if it fails. The result of the checks is recorded.", {"swage verify 17"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(const RecordReference reference, candidateReference(filled.reference));
    return CommandArguments(VerifyArguments{reference, filled.noChecks});
  };
}

void addEvaluate(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command =
      addCommand(parser, "evaluate", "Verify, time and record your own edit of a candidate", WithProject::Yes);
  command->add_option("candidate", raw.reference, "Candidate that you edited, such as 17")
      ->required()
      ->type_name("CANDIDATE");
  command->add_option("--source", raw.output, "Edited source; - reads standard input")->required()->type_name("FILE");
  addSelfTestFlag(command, raw);
  addSandbox(command, raw);
  explain(parser, command, "The edit becomes a candidate of its own, with the launch plan of the one it was made from.",
          {"swage show 17 --source > kernel.cpp", "swage evaluate 17 --source kernel.cpp"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.evaluate.candidate, candidateReference(filled.reference));
    filled.evaluate.source = filled.output;
    filled.evaluate.selfTest = !filled.noSelfTest;
    return CommandArguments(filled.evaluate);
  };
}

void addProfile(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "profile", "Profile the kernels of a candidate, and record the profile", WithProject::Yes);
  command->add_option("candidate", parser.raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  explain(parser, command,
          "With hardware counters where the device allows them, else with the time of each kernel, else with what the "
          "compiler reports.",
          {"swage profile 17"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(const RecordReference reference, candidateReference(filled.reference));
    return CommandArguments(ProfileArguments{reference});
  };
}

Result<CommandArguments> exportArguments(Raw& raw) {
  ExportArguments& result = raw.exporting;
  SWAGE_TRY_ASSIGN(result.what, parseReference(raw.reference));
  result.format = services::parseExportFormat(raw.format).value_or(services::ExportFormat::ModelNew);
  result.noChecks = raw.noChecks;
  result.output = raw.output;
  if (raw.output.empty() && !result.preview) {
    return Error(ErrorKind::Usage, "--output is required",
                 "name a file or folder, or use --preview, which writes nothing");
  }
  return CommandArguments(result);
}

void addExport(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command =
      addCommand(parser, "export", "Write a verified candidate as Python file or folder", WithProject::Yes);
  command->add_option("what", raw.reference, "Candidate, such as 17, or run, such as r3, for its best candidate")
      ->required()
      ->type_name("RUN|CANDIDATE");
  command
      ->add_option(
          "--format", raw.format,
          "modelnew: one Python file with class ModelNew; project: a folder with that file, kernels, launch plan, "
          "provenance and test")
      ->check(CLI::IsMember({"modelnew", "project"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", raw.output, "File or folder to write")->type_name("FILE.py|DIR");
  auto* noChecks = command->add_flag("--no-checks", raw.noChecks, "Do not verify it at other sizes of the task first");
  command
      ->add_flag("--verify", raw.exporting.verify,
                 "First verify it again in a fresh process, and on a GPU under compute-sanitizer")
      ->excludes(noChecks);
  command->add_flag("--preview", raw.exporting.preview, "Show checks, provenance and files, and write nothing");
  command->add_flag("--force", raw.exporting.force, "Write also into a folder that is not empty");
  addSandbox(command, raw);
  explain(parser, command, "Prints what was checked before it writes.",
          {"swage export r1 -o softmax_new.py", "swage export 17 --format project -o softmax",
           "swage export 17 --preview"});
  parser.finish[command] = exportArguments;
}

void describe(Parser& parser) {
  parser.app.set_help_flag("-h,--help", "Show this help");
  parser.app.require_subcommand(1);
  beginGroup(parser, "Search");
  addInitCommand(parser);
  addTasks(parser);
  addImport(parser);
  addOptimize(parser);
  addResume(parser);
  beginGroup(parser, "Results");
  addRecordCommands(parser);
  addPatternCommands(parser);
  addDbCommands(parser);
  beginGroup(parser, "Check and edit");
  addVerify(parser);
  addEvaluate(parser);
  addProfile(parser);
  beginGroup(parser, "Export");
  addExport(parser);
  beginGroup(parser, "This machine");
  addMachineCommands(parser);
  addModelCommands(parser);
  addKeyCommands(parser);
  addMcpCommand(parser);
  addBenchCommands(parser);
  beginGroup(parser, "This program");
  addProgramCommands(parser);
  explain(parser, &parser.app,
          "Logs and progress go to standard error, results to standard output. `swage COMMAND --help` has the options "
          "and examples of a command.",
          {"swage optimize softmax_rows --set rows=4096 --target cpu --time-budget 60s",
           "swage list r1 --sort speedup --limit 10", "swage export r1 -o softmax_new.py"});
}

Common commonOf(const Raw& raw) {
  Common common;
  common.form = raw.json ? OutputForm::Json : raw.jsonLines ? OutputForm::JsonLines : OutputForm::Text;
  common.verbosity = raw.quiet ? -1 : raw.verbose;
  common.color = raw.noColor || raw.color == "never" ? ColorWhen::Never
                 : raw.color == "always"             ? ColorWhen::Always
                                                     : ColorWhen::Auto;
  common.project = raw.project;
  common.sandbox = raw.sandbox;
  return common;
}

// The innermost one that was named.
const CLI::App* chosenCommand(const Parser& parser) {
  const CLI::App* command = parser.app.get_subcommands().front();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
  }
  return command;
}

std::string nameOf(const Parser& parser) {
  std::string name = "swage";
  for (const CLI::App* command : parser.app.get_subcommands()) {
    name += " " + command->get_name();
    for (const CLI::App* inner : command->get_subcommands()) {
      name += " " + inner->get_name();
    }
  }
  return name;
}

std::string helpOf(const Parser& parser) {
  const CommandFact program = factsOf(parser);
  const std::string name = nameOf(parser);
  for (const CommandFact* command : withCommandsBelow(program)) {
    if (command->name == name) {
      return helpText(*command);
    }
  }
  return helpText(program);
}

// The option that an unknown word was probably meant to be.
std::string nearestOption(const Parser& parser, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : chosenCommand(parser)->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto closest = closestWord(word.substr(0, word.find('=')), views);
  return closest ? fmt::format("did you mean {}? ", *closest) : std::string();
}

Error usageError(const Parser& parser, const CLI::ParseError& error) {
  const std::string help = fmt::format("`{} --help` shows how", nameOf(parser));
  if (const auto extras = parser.app.remaining(true);
      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty()) {
    const std::string& word = extras.front();
    if (nameOf(parser) == "swage keys set") {  // the word may be a key: it is not repeated
      return {ErrorKind::Usage, "keys set takes nothing but the name of a model and its options; the key is asked for",
              help};
    }
    if (!word.starts_with('-')) {
      return {ErrorKind::Usage, fmt::format("'{}' is one argument too many", word), help};
    }
    return {ErrorKind::Usage, fmt::format("there is no option '{}'", word), nearestOption(parser, word) + help};
  }
  return {ErrorKind::Usage, error.what(), help};
}

Result<> checkCommand(const Parser& parser, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) {
    return {};
  }
  const auto commands = parser.app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), arguments.front()) != names.end()) {
    return {};
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto closest = closestWord(arguments.front(), views);
  return Error(ErrorKind::Usage, fmt::format("there is no command '{}'", arguments.front()),
               (closest ? fmt::format("did you mean '{}'? ", *closest) : std::string()) + "`swage --help` lists them");
}

}  // namespace

Result<std::variant<Arguments, HelpText>> parseArguments(const std::vector<std::string>& arguments,
                                                         const services::Settings& settings) {
  using Parsed = std::variant<Arguments, HelpText>;
  if (!arguments.empty() && arguments.front() == kComplete) {
    return Parsed(Arguments{{}, CompleteArguments{{arguments.begin() + 1, arguments.end()}}});
  }
  Parser parser;
  parser.raw.settings = settings;
  describe(parser);
  SWAGE_TRY(checkCommand(parser, arguments));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // what CLI11 wants
  try {
    parser.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Parsed(HelpText{helpOf(parser)});
  } catch (const CLI::ParseError& error) {
    return usageError(parser, error);
  }
  const CLI::App* command = chosenCommand(parser);
  SWAGE_TRY_ASSIGN(CommandArguments finished, parser.finish.at(command)(parser.raw));
  return Parsed(Arguments{commonOf(parser.raw), std::move(finished)});
}

std::filesystem::path projectNamed(const std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--project";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOption && i + 1 < arguments.size()) {
      return arguments[i + 1];
    }
    if (arguments[i].starts_with(std::string(kOption) + '=')) {
      return arguments[i].substr(kOption.size() + 1);
    }
  }
  return {};
}

bool worksWithoutSettings(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 7> kCommands{"config",  "completion", "man", "version",
                                                      kComplete, "doctor",     "init"};
  return arguments.empty() || arguments.front().starts_with('-') ||
         std::find(kCommands.begin(), kCommands.end(), arguments.front()) != kCommands.end() ||
         std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
}

CommandFact describeProgram() {
  Parser parser;
  describe(parser);
  return factsOf(parser);
}

}  // namespace swage::cli
