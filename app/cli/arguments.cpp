// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "app/cli/default_arguments.h"
#include "core/base/duration.h"

namespace swage::cli {
namespace {

// What CLI11 fills in, before it becomes Arguments.
struct Raw {
  services::Settings settings;
  bool json = false;
  bool jsonLines = false;
  bool quiet = false;
  int verbose = 0;
  bool noCompileBaseline = false;
  bool noSelfTest = false;
  std::string project;
  std::string timeBudget;
  std::string devices;
  std::vector<std::string> overrides;
  std::string reference;
  std::string filter;
  std::string output;
  ImportArguments import;
  OptimizeArguments optimize;
  ResumeArguments resume;
  ListArguments list;
  ShowArguments show;
  bool noChecks = false;
  EvaluateArguments evaluate;
  ExportArguments exporting;
  std::string format = "modelnew";
  BenchArguments bench;
  DoctorArguments doctor;
};

using Finish = std::function<Result<CommandArguments>(Raw&)>;
struct Parser {
  CLI::App app{"Turns a PyTorch module into the fastest verified kernel it can find.", "swage"};
  Raw raw;
  std::map<const CLI::App*, Finish> finish;
};

enum class WithProject : std::uint8_t { Yes, No };

CLI::App* addCommand(Parser& parser, CLI::App& group, const std::string& name, const std::string& description,
                     WithProject withProject) {
  CLI::App* command = group.add_subcommand(name, description);
  auto* json = command->add_flag("--json", parser.raw.json, "Print one JSON document on standard output");
  command->add_flag("--jsonl", parser.raw.jsonLines, "Print a stream of JSON lines on standard output")->excludes(json);
  command->add_flag("-q,--quiet", parser.raw.quiet, "Only errors on standard error");
  command->add_flag("-v,--verbose", parser.raw.verbose, "Log more on standard error");
  if (withProject == WithProject::Yes) {
    command->add_option("--project", parser.raw.project, "Project directory: record, artifacts and task bundles")
        ->type_name("DIR");
  }
  return command;
}

CLI::App* addCommand(Parser& parser, const std::string& name, const std::string& description, WithProject withProject) {
  return addCommand(parser, parser.app, name, description, withProject);
}

Result<> takeOverrides(const Raw& raw, std::vector<std::pair<std::string, std::string>>& into) {
  for (const std::string& text : raw.overrides) {
    SWAGE_TRY_ASSIGN(auto pair, parseOverride(text));
    into.push_back(std::move(pair));
  }
  return {};
}

void addTaskOptions(CLI::App* command, Raw& raw, std::string& inputs, bool& eval) {
  command->add_option("--set", raw.overrides, "Override a module-level constant of the file")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)  // "--set a=1 task.py": the file is no second value
      ->take_all();
  command->add_option("--inputs", inputs, "Inputs of a plain module: \"float32[16,64]; int64[16] randint(0,10)\"")
      ->type_name("SPEC");
  command->add_flag("--eval", eval, "Use the module in evaluation mode");
}

void addImport(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "import", "Turn a Python file into a task bundle", WithProject::No);
  command->add_option("task", raw.import.task, "FILE.py or FILE.py:Class")->required()->type_name("TASK.py");
  addTaskOptions(command, raw, raw.import.inputs, raw.import.eval);
  command->add_option("-o,--output", raw.output, "Bundle directory; NAME.swage in the current one by default")
      ->type_name("BUNDLE");
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY(takeOverrides(filled, filled.import.overrides));
    filled.import.output = filled.output;
    return CommandArguments(filled.import);
  };
}

void addBudget(CLI::App* command, Raw& raw, std::int64_t& maxEvaluations) {
  command->add_option("--time-budget", raw.timeBudget, "Search time: 60s, 2m, 1h")->type_name("TIME");
  command->add_option("--max-evaluations", maxEvaluations, "Stop after this many candidates")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

void addTarget(CLI::App* command, std::string& target) {
  command->add_option("--target", target, "cpu, cuda or auto")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->type_name("TARGET")
      ->capture_default_str();
}

void addSelfTestFlag(CLI::App* command, Raw& raw) {
  command->add_flag("--no-self-test", raw.noSelfTest,
                    "Search although nobody knows whether cheats are found on this device");
}

// "0,2": the numbers of GPUs.
Result<std::vector<int>> parseDevices(const std::string& text) {
  constexpr int kLargest = 1023;
  std::vector<int> devices;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int number = -1;
    const auto [rest, code] = std::from_chars(at, end, number);
    if (code != std::errc() || number < 0 || number > kLargest || (rest != end && *rest != ',')) {
      return Error(ErrorKind::Usage, fmt::format("'{}' is no list of GPUs", text), "give their numbers: 0,1");
    }
    devices.push_back(number);
    if (rest == end) {
      return devices;
    }
    at = rest + 1;
  }
}

void addDevices(CLI::App* command, Raw& raw) {
  command->add_option("--devices", raw.devices, "GPUs of one model to use at once: 0,1")->type_name("LIST");
}

void addOptimize(Parser& parser) {
  Raw& raw = parser.raw;
  services::RunSpec& spec = raw.optimize.spec;
  takeDefaults(raw.settings, spec);
  CLI::App* command = addCommand(parser, "optimize", "Search for the fastest verified kernel", WithProject::Yes);
  command->add_option("task", spec.task, "FILE.py, FILE.py:Class, a bundle, or the name of a bundled task")
      ->required()
      ->type_name("TASK");
  addTaskOptions(command, raw, spec.inputs, spec.eval);
  addTarget(command, spec.target);
  addDevices(command, raw);
  addBudget(command, raw, spec.maxEvaluations);
  command->add_option("--seed", spec.seed, "The same seed gives the same candidates, as far as times allow")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--no-compile-baseline", raw.noCompileBaseline, "Compare with eager only, not torch.compile");
  command
      ->add_option("--baselines", spec.baselines,
                   "Modes of PyTorch to compare with; max-autotune by default from a budget of 5m on")
      ->delimiter(',')
      ->check(CLI::IsMember({"eager", "compile", "max-autotune"}))
      ->type_name("MODES");
  command->add_flag("--remeasure", spec.remeasureBaselines,
                    "Measure the baselines although an earlier run of this project did");
  addSelfTestFlag(command, raw);
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
    filled.optimize.selfTest = !filled.noSelfTest;
    if (!filled.devices.empty()) {
      SWAGE_TRY_ASSIGN(filled.optimize.devices, parseDevices(filled.devices));
    }
    return CommandArguments(filled.optimize);
  };
}

void addResume(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "resume", "Go on with a run that was stopped or killed", WithProject::Yes);
  command->add_option("run", raw.reference, "Run, such as r3; the latest unfinished one by default")->type_name("RUN");
  addDevices(command, raw);
  addBudget(command, raw, raw.resume.maxEvaluations);
  addSelfTestFlag(command, raw);
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if (!filled.devices.empty()) {
      SWAGE_TRY_ASSIGN(filled.resume.devices, parseDevices(filled.devices));
    }
    filled.resume.selfTest = !filled.noSelfTest;
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.resume.run, parseReference(filled.reference));
      filled.resume.run->kind = Reference::Kind::Run;  // nothing else can be resumed, so the r may be left out
    }
    if (!filled.timeBudget.empty()) {
      SWAGE_TRY_ASSIGN(filled.resume.timeBudgetSeconds, parseDuration(filled.timeBudget));
    }
    return CommandArguments(filled.resume);
  };
}

void addStatus(Parser& parser) {
  CLI::App* command = addCommand(parser, "status", "Show projects and how their latest runs stand", WithProject::Yes);
  parser.finish[command] = [](Raw&) -> Result<CommandArguments> { return CommandArguments(StatusArguments{}); };
}

void addList(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "list", "List runs, and the candidates of one run", WithProject::Yes);
  command->add_option("run", raw.reference, "Run, such as r3; the latest by default")->type_name("RUN");
  command->add_option("--status", raw.list.status, "Only candidates with this status, such as correct")
      ->type_name("WORD");
  command
      ->add_option("--filter", raw.filter,
                   "Only candidates that match: \"status:correct speedup>1.5 -operator:human time<30us\"")
      ->type_name("FILTER");
  command
      ->add_option("--sort", raw.list.sort,
                   "id, time, speedup, cell, status, operator, island, error, registers or found")
      ->check(CLI::IsMember(
          {"id", "time", "speedup", "cell", "status", "operator", "island", "error", "registers", "found"}))
      ->type_name("COLUMN")
      ->capture_default_str();
  command->add_option("--limit", raw.list.limit, "At most this many candidates")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.list.run, parseReference(filled.reference));
      filled.list.run->kind = Reference::Kind::Run;
    }
    auto filter = domain::parseFilter(filled.filter, domain::candidateFilterKeys());
    if (!filter) {
      return domain::usageError(filter.error(), filled.filter);
    }
    filled.list.filter = std::move(*filter);
    return CommandArguments(filled.list);
  };
}

Result<Reference> candidateReference(const std::string& text) {
  SWAGE_TRY_ASSIGN(const Reference reference, parseReference(text));
  if (reference.kind != Reference::Kind::Candidate) {
    return Error(ErrorKind::Usage, fmt::format("'{}' is a run; a candidate is needed", text),
                 "`swage list " + text + "` shows its candidates");
  }
  return reference;
}

void addShow(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "show", "Show one candidate with its whole evaluation", WithProject::Yes);
  command->add_option("candidate", raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  command->add_flag("--source", raw.show.source, "Also print the source");
  command->add_flag("--assembly", raw.show.assembly, "Also print the compiled code");
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.show.candidate, candidateReference(filled.reference));
    return CommandArguments(filled.show);
  };
}

void addVerify(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "verify", "Evaluate a recorded candidate again, in a fresh worker", WithProject::Yes);
  command->add_option("candidate", parser.raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  command->add_flag("--no-checks", parser.raw.noChecks, "Do not also verify its genome at other sizes of the task");
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(const Reference reference, candidateReference(filled.reference));
    return CommandArguments(VerifyArguments{reference, filled.noChecks});
  };
}

void addEvaluate(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command =
      addCommand(parser, "evaluate", "Evaluate your own edit of a recorded candidate", WithProject::Yes);
  command->add_option("candidate", raw.reference, "Candidate that was edited, such as 17")
      ->required()
      ->type_name("CANDIDATE");
  command->add_option("--source", raw.output, "The edited source; - reads standard input")
      ->required()
      ->type_name("FILE");
  addSelfTestFlag(command, raw);
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.evaluate.candidate, candidateReference(filled.reference));
    filled.evaluate.source = filled.output;
    filled.evaluate.selfTest = !filled.noSelfTest;
    return CommandArguments(filled.evaluate);
  };
}

void addProfile(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "profile", "Look into the kernels of a candidate, and keep the profile", WithProject::Yes);
  command->add_option("candidate", parser.raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(const Reference reference, candidateReference(filled.reference));
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
    return Error(ErrorKind::Usage, "--output is required", "`swage export --preview` writes nothing and needs none");
  }
  return CommandArguments(result);
}

void addExport(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "export", "Write a verified candidate as files of your own", WithProject::Yes);
  command->add_option("what", raw.reference, "Candidate such as 17, or the best of a run such as r3")
      ->required()
      ->type_name("RUN|CANDIDATE");
  command
      ->add_option("--format", raw.format,
                   "modelnew: one Python file with class ModelNew; project: a folder around it with kernels, plan, "
                   "provenance and a test")
      ->check(CLI::IsMember({"modelnew", "project"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", raw.output, "File to write, or folder to make")->type_name("FILE.py|DIR");
  auto* noChecks =
      command->add_flag("--no-checks", raw.noChecks, "Do not verify its genome at other sizes of the task first");
  command
      ->add_flag("--verify", raw.exporting.verify,
                 "First also evaluate it again in a fresh process and run its kernels under compute-sanitizer")
      ->excludes(noChecks);
  command->add_flag("--preview", raw.exporting.preview,
                    "Show what is known of it and what would be written, and write nothing");
  command->add_flag("--force", raw.exporting.force, "Write into a folder that is not empty");
  parser.finish[command] = exportArguments;
}

void addBench(Parser& parser) {
  Raw& raw = parser.raw;
  services::RunSpec& spec = raw.bench.spec;
  CLI::App* group = parser.app.add_subcommand("bench", "Measure Swage itself on this machine");
  group->require_subcommand(1);
  CLI::App* command =
      addCommand(parser, *group, "engine", "Candidates a minute by stage, device use, and how repeatable its times are",
                 WithProject::Yes);
  command->add_option("task", spec.task, "Task to search; a bundled softmax of about 100 MB by default")
      ->type_name("TASK");
  addTaskOptions(command, raw, spec.inputs, spec.eval);
  addTarget(command, spec.target);
  command->add_option("--time-budget", raw.timeBudget, "Search time: 60s, 2m")->type_name("TIME");
  command->add_option("--processes", raw.bench.freshProcesses, "Processes that measure the winner again")
      ->type_name("N")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
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

void addDoctor(Parser& parser) {
  DoctorArguments& doctor = parser.raw.doctor;
  CLI::App* command = addCommand(parser, "doctor", "Check everything a run needs, with hints", WithProject::Yes);
  auto* selfTest = command->add_flag("--self-test", doctor.selfTest,
                                     "Evaluate planted cheats and honest controls on this device instead");
  command->add_option("--target", doctor.target, "Of the self-test: cpu, cuda or auto")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->type_name("TARGET")
      ->capture_default_str()
      ->needs(selfTest);
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> { return CommandArguments(filled.doctor); };
}

void addRest(Parser& parser) {
  CLI::App* version = addCommand(parser, "version", "Print the version", WithProject::No);
  parser.finish[version] = [](Raw&) -> Result<CommandArguments> { return CommandArguments(VersionArguments{}); };
}

void describe(Parser& parser) {
  parser.app.require_subcommand(1);
  parser.app.set_help_all_flag();
  addImport(parser);
  addOptimize(parser);
  addStatus(parser);
  addList(parser);
  addShow(parser);
  addResume(parser);
  addVerify(parser);
  addEvaluate(parser);
  addProfile(parser);
  addExport(parser);
  addBench(parser);
  addDoctor(parser);
  addRest(parser);
}

Common commonOf(const Raw& raw) {
  Common common;
  common.form = raw.json ? OutputForm::Json : raw.jsonLines ? OutputForm::JsonLines : OutputForm::Text;
  common.verbosity = raw.quiet ? -1 : raw.verbose;
  common.project = raw.project;
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

std::string helpOf(const Parser& parser) {
  const CLI::App* command = chosenCommand(parser);
  const CLI::App* group = command->get_parent();
  return command->help(group == &parser.app ? "swage" : "swage " + group->get_name());
}

Error usageError(const Parser& parser, const CLI::ParseError& error) {
  std::string name = "swage";
  for (const CLI::App* command : parser.app.get_subcommands()) {
    name += " " + command->get_name();
    for (const CLI::App* inner : command->get_subcommands()) {
      name += " " + inner->get_name();
    }
  }
  return {ErrorKind::Usage, error.what(), fmt::format("`{} --help` shows how", name)};
}

Result<> checkCommand(const Parser& parser, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) {
    return {};
  }
  const auto commands = parser.app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = std::any_of(commands.begin(), commands.end(),
                                 [&](const CLI::App* command) { return command->get_name() == arguments.front(); });
  return known ? Result<>()
               : Error(ErrorKind::Usage, fmt::format("there is no command '{}'", arguments.front()),
                       "`swage --help` lists them");
}

}  // namespace

Result<std::variant<Arguments, HelpText>> parseArguments(const std::vector<std::string>& arguments,
                                                         const services::Settings& settings) {
  using Parsed = std::variant<Arguments, HelpText>;
  Parser parser;
  parser.raw.settings = settings;
  describe(parser);
  SWAGE_TRY(checkCommand(parser, arguments));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // what CLI11 wants
  try {
    parser.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = parser.app.get_subcommands();
    return Parsed(HelpText{chosen.empty() ? parser.app.help() : helpOf(parser)});
  } catch (const CLI::ParseError& error) {
    return usageError(parser, error);
  }
  const CLI::App* command = chosenCommand(parser);
  SWAGE_TRY_ASSIGN(CommandArguments finished, parser.finish.at(command)(parser.raw));
  return Parsed(Arguments{commonOf(parser.raw), std::move(finished)});
}

}  // namespace swage::cli
