// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "app/cli/command_tree.h"

// The commands that look at what was recorded and at this machine, and those about the program itself.
namespace swage::cli {
namespace {

void addStatus(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "status", "Show all projects and the state of their latest run", WithProject::Yes);
  explain(parser, command, {}, {"swage status"});
  parser.finish[command] = [](Raw&) -> Result<CommandArguments> { return CommandArguments(StatusArguments{}); };
}

void addListOptions(CLI::App* command, Raw& raw) {
  command->add_option("run", raw.reference, "Run, such as r3; the latest by default")->type_name("RUN");
  command->add_option("--status", raw.list.status, "Only candidates with this status, such as correct")
      ->type_name("WORD");
  command
      ->add_option("--filter", raw.filter,
                   "Only candidates that match: \"status:correct speedup>1.5 -operator:human time<30us\"")
      ->type_name("FILTER");
  command
      ->add_option("--sort", raw.list.sort,
                   "Column to sort by: id, time, speedup, cell, status, operator, island, error, registers or found; "
                   "speedup begins with the fastest, all others with the lowest")
      ->check(CLI::IsMember(
          {"id", "time", "speedup", "cell", "status", "operator", "island", "error", "registers", "found"}))
      ->type_name("COLUMN")
      ->capture_default_str();
  command->add_flag("--reverse", raw.list.reverse, "Reverse the order");
  command->add_option("--limit", raw.list.limit, "Show at most this many candidates")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

void addList(Parser& parser) {
  CLI::App* command = addCommand(parser, "list", "List runs, and the candidates of one run", WithProject::Yes);
  addListOptions(command, parser.raw);
  explain(parser, command, "The filter language is that of the window: words, key:value, comparisons, - for not.",
          {"swage list", "swage list r3 --sort speedup --limit 10",
           "swage list r3 --filter \"status:correct speedup>1.5\" --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.list.run, runReference(filled.reference));
    }
    auto filter = domain::parseFilter(filled.filter, domain::candidateFilterKeys());
    if (!filter) {
      return domain::usageError(filter.error(), filled.filter);
    }
    filled.list.filter = std::move(*filter);
    return CommandArguments(filled.list);
  };
}

void addShow(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "show", "Show one candidate and its evaluation", WithProject::Yes);
  command->add_option("candidate", raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  command->add_flag("--source", raw.show.source, "Print only the source");
  command->add_flag("--assembly", raw.show.assembly, "Also print the compiled code; see `swage disasm`");
  explain(parser, command, {}, {"swage show 17", "swage show 17 --source > kernel.cpp"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.show.candidate, candidateReference(filled.reference));
    return CommandArguments(filled.show);
  };
}

void addCompare(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "compare", "Compare two candidates of any runs or projects", WithProject::Yes);
  command->add_option("a", raw.reference, "Candidate, such as 17, or run, such as r3, for its best candidate")
      ->required()
      ->type_name("A");
  command->add_option("b", raw.otherReference, "The other one")->required()->type_name("B");
  command->add_option("--other-project", raw.otherProject, "Project of B, if it is another one")->type_name("DIR");
  command->add_flag("--source", raw.compare.source, "Also print the differences of the sources");
  command->add_flag("--assembly", raw.compare.assembly, "Also print the differences of the assembly, addresses aside");
  explain(
      parser, command,
      "Compares how much faster each is than eager PyTorch, with which its timing was interleaved. If the intervals "
      "overlap, there is no significant difference.",
      {"swage compare 17 23", "swage compare 17 23 --source", "swage compare r1 r2 --other-project ../before"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.compare.left, parseReference(filled.reference));
    SWAGE_TRY_ASSIGN(filled.compare.right, parseReference(filled.otherReference));
    filled.compare.otherProject = filled.otherProject;
    return CommandArguments(filled.compare);
  };
}

void addDisasm(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "disasm", "Print the assembly of a recorded candidate", WithProject::Yes);
  command->add_option("candidate", raw.reference, "Candidate, such as 17")->required()->type_name("CANDIDATE");
  command->add_option("--kernel", raw.disasm.kernel, "Only this kernel")->type_name("NAME");
  command->add_flag("--no-directives", raw.disasm.noDirectives,
                    "Leave out directives and lines that name places in the source");
  command->add_flag("--no-addresses", raw.disasm.noAddresses, "Leave out addresses");
  explain(parser, command, "x86 code of a CPU kernel, PTX of a GPU kernel, with C++ names.",
          {"swage disasm 17 --no-directives", "swage disasm 17 --kernel softmax --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(filled.disasm.candidate, candidateReference(filled.reference));
    return CommandArguments(filled.disasm);
  };
}

void addReport(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "report", "Write the report of a run as one file", WithProject::Yes);
  command->add_option("run", raw.reference, "Run, such as r3; the latest by default")->type_name("RUN");
  command->add_option("-o,--output", raw.output, "File to write; - for standard output")->required()->type_name("FILE");
  command->add_option("--format", raw.reportFormat, "html or markdown")
      ->check(CLI::IsMember({"html", "markdown"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  explain(
      parser, command,
      "Result, baselines, archive, progress, best candidates, failures, device, checks and the source of the winner. "
      "The HTML file needs nothing from outside.",
      {"swage report r3 -o softmax.html", "swage report -o - --format markdown"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if (!filled.reference.empty()) {
      SWAGE_TRY_ASSIGN(filled.report.run, runReference(filled.reference));
    }
    filled.report.format = services::parseReportFormat(filled.reportFormat).value_or(services::ReportFormat::Html);
    filled.report.output = filled.output;
    return CommandArguments(filled.report);
  };
}

void addRules(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "rules", "List the rules of the judge, or show one", WithProject::Yes);
  command->add_option("action", raw.action, "list or show")
      ->check(CLI::IsMember({"list", "show"}))
      ->type_name("ACTION")
      ->capture_default_str();
  command->add_option("rule", raw.rules.id, "Rule to show, such as spills")->type_name("RULE");
  explain(parser, command,
          "Rules say what to change about a candidate: `swage show` has what they say. Files *.toml in "
          "~/.config/swage/rules and in PROJECT/rules add rules, and change those with the same name.",
          {"swage rules", "swage rules show spills", "swage rules --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    if ((filled.action == "show") == filled.rules.id.empty()) {
      return Error(ErrorKind::Usage,
                   filled.rules.id.empty() ? "rules show needs the name of a rule" : "rules list takes no rule",
                   "`swage rules` lists them");
    }
    return CommandArguments(filled.rules);
  };
}

void addDevices(Parser& parser) {
  CLI::App* command =
      addCommand(parser, "devices", "List the CPU and all GPUs, and whether they can be used", WithProject::No);
  explain(parser, command, {}, {"swage devices", "swage devices --json"});
  parser.finish[command] = [](Raw&) -> Result<CommandArguments> { return CommandArguments(DevicesArguments{}); };
}

void addDoctor(Parser& parser) {
  DoctorArguments& doctor = parser.raw.doctor;
  CLI::App* command =
      addCommand(parser, "doctor", "Check everything that a search needs, and say how to fix it", WithProject::Yes);
  auto* selfTest = command->add_flag("--self-test", doctor.selfTest,
                                     "Instead evaluate known cheats and correct kernels on this device");
  addTarget(command, doctor.target);
  command->get_option("--target")->needs(selfTest)->description("Device of the self-test: cpu, cuda or auto");
  command
      ->add_option(
          "--bundle", parser.raw.output,
          "Also write the checks, devices, settings and versions to an archive for a bug report, without names "
          "of users, hosts and home folders")
      ->type_name("FILE.tar.gz")
      ->excludes(selfTest);
  addSandbox(command, parser.raw);
  explain(parser, command, "Exit code 5 if something is missing that nothing works without.",
          {"swage doctor", "swage doctor --self-test --target cpu", "swage doctor --bundle report.tar.gz"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    filled.doctor.bundle = filled.output;
    return CommandArguments(filled.doctor);
  };
}

Result<CommandArguments> configArguments(Raw& raw) {
  using Action = ConfigArguments::Action;
  static const std::map<std::string, Action> kActions{{"list", Action::List},
                                                      {"get", Action::Get},
                                                      {"set", Action::Set},
                                                      {"unset", Action::Unset},
                                                      {"path", Action::Path}};
  ConfigArguments& config = raw.config;
  config.action = kActions.at(raw.action);
  config.scope = raw.scope == "project" ? ConfigArguments::Scope::Project : ConfigArguments::Scope::User;
  const bool needsKey = config.action != Action::List && config.action != Action::Path;
  if (needsKey != !config.key.empty()) {
    return Error(ErrorKind::Usage,
                 needsKey ? "config " + raw.action + " needs the name of a setting"
                          : "config " + raw.action + " takes no setting",
                 "`swage config --help` shows how");
  }
  return CommandArguments(config);
}

void addConfig(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "config", "Show and change settings", WithProject::Yes);
  command->add_option("action", raw.action, "list, get, set, unset, or path (of the file)")
      ->check(CLI::IsMember({"list", "get", "set", "unset", "path"}))
      ->type_name("ACTION")
      ->capture_default_str();
  command->add_option("setting", raw.config.key, "Setting, such as search.target")->type_name("SETTING");
  auto* value = command->add_option("value", raw.config.value, "Value to set")->type_name("VALUE");
  command->add_flag("--origin", raw.config.origin, "Also show the files that set a value, and the values they hide");
  command->add_option("--scope", raw.scope, "File to change: user or project")
      ->check(CLI::IsMember({"user", "project"}))
      ->type_name("SCOPE")
      ->capture_default_str();
  explain(
      parser, command,
      "A setting comes from, in this order: options of a command, the environment, PROJECT/project.toml, the user's "
      "file, /etc/xdg/swage/config.toml, the default. A setting that does not exist is an error (exit code 3), and so "
      "is a file with a higher `version` at its top than the 1 that this Swage writes.",
      {"swage config", "swage config set search.time_budget \"5 min\"", "swage config get search.target --origin",
       "swage config set search.target cuda --scope project --project runs/softmax"});
  parser.finish[command] = [value](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY_ASSIGN(CommandArguments arguments, configArguments(filled));
    const bool sets = filled.config.action == ConfigArguments::Action::Set;
    if (sets != (value->count() > 0)) {
      return Error(ErrorKind::Usage, sets ? "config set needs a value" : "only config set takes a value",
                   "`swage config --help` shows how");
    }
    return arguments;
  };
}

void addCompletion(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "completion", "Print the completion script of a shell", WithProject::No);
  command->add_option("shell", raw.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  explain(parser, command, "An installed Swage has brought them along; a build folder has not.",
          {"source <(swage completion bash)", "swage completion zsh > ~/.zfunc/_swage",
           "swage completion fish > ~/.config/fish/completions/swage.fish"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    return CommandArguments(CompletionArguments{filled.shell == "zsh"    ? Shell::Zsh
                                                : filled.shell == "fish" ? Shell::Fish
                                                                         : Shell::Bash});
  };
}

void addMan(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "man", "Print the manual page of a command", WithProject::No);
  command->add_option("command", raw.words, "Command, such as optimize; the program by default")->type_name("COMMAND");
  command->add_option("-o,--output", raw.output, "Write all pages into this folder instead")->type_name("DIR");
  explain(parser, command, {}, {"swage man optimize | man -l -", "swage man -o man/man1"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    ManArguments man;
    for (const std::string& word : filled.words) {
      man.command += (man.command.empty() ? "" : " ") + word;
    }
    man.output = filled.output;
    return CommandArguments(man);
  };
}

}  // namespace

void addRecordCommands(Parser& parser) {
  addStatus(parser);
  addList(parser);
  addShow(parser);
  addCompare(parser);
  addDisasm(parser);
  addReport(parser);
  addRules(parser);
}

void addMachineCommands(Parser& parser) {
  addDevices(parser);
  addDoctor(parser);
}

void addProgramCommands(Parser& parser) {
  addConfig(parser);
  addCompletion(parser);
  addMan(parser);
  CLI::App* version = addCommand(parser, "version", "Print the version", WithProject::No);
  explain(parser, version, {}, {"swage version --json"});
  parser.finish[version] = [](Raw&) -> Result<CommandArguments> { return CommandArguments(VersionArguments{}); };
}

}  // namespace swage::cli
