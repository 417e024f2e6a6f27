// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_facts.h"

// The commands as CLI11 knows them. Private to the parser: what they are for a person is CommandFact.
namespace swage::cli {

// What CLI11 fills in, before it becomes Arguments.
struct Raw {
  services::Settings settings;
  bool json = false;
  bool jsonLines = false;
  bool quiet = false;
  int verbose = 0;
  std::string judge = "on";
  std::string color = "auto";
  bool noColor = false;
  bool noCompileBaseline = false;
  bool noSelfTest = false;
  std::string sandbox;
  std::string project;
  std::string timeBudget;
  std::string devices;
  std::vector<std::string> overrides;
  std::string reference;
  std::string otherReference;
  std::string otherProject;
  std::string filter;
  std::string output;
  std::string format = "modelnew";
  std::string reportFormat = "html";
  std::string action = "list";
  std::string scope = "user";
  std::string shell;
  ImportArguments import;
  OptimizeArguments optimize;
  ResumeArguments resume;
  ListArguments list;
  ShowArguments show;
  bool noChecks = false;
  EvaluateArguments evaluate;
  ExportArguments exporting;
  BenchArguments bench;
  BenchExportArguments benchExport;
  BenchJudgeArguments benchJudge;
  BenchSwarmArguments benchSwarm;
  BenchKernelBenchArguments kernelBench;
  std::string kernelBenchCheckout;
  std::string kernelBenchLevels = "1,2,3";
  std::string kernelBenchProblems = "all";
  bool kernelBenchSmall = false;
  double kernelBenchLargestMib = 0.0;
  BenchReportArguments benchReport;
  DoctorArguments doctor;
  CompareArguments compare;
  DisasmArguments disasm;
  ConfigArguments config;
  RulesArguments rules;
  ReportArguments report;
  ModelsArguments models;
  KeysArguments keys;
  McpArguments mcp;
  PatternsArguments patterns;
  std::vector<std::string> modelNames;
  std::string modelKind = "openai";
  std::string keyEnv;
  std::string keyCommand;
  std::string keyFile;
  std::string keyKeychain;
  double priceInput = -1.0;  // not given
  double priceOutput = -1.0;
  std::vector<std::string> words;
};

using Finish = std::function<Result<CommandArguments>(Raw&)>;
struct Parser {
  CLI::App app{"Turn a PyTorch module into the fastest verified kernel that a search finds", "swage"};
  Raw raw;
  std::map<const CLI::App*, Finish> finish;
  std::map<const CLI::App*, std::string> details;  // paragraphs of the help
  std::map<const CLI::App*, std::vector<std::string>> examples;
  std::string group;  // see beginGroup()
};

enum class WithProject : std::uint8_t { Yes, No };

// A command with the options that all have. `description` is one sentence without its dot.
CLI::App* addCommand(Parser& parser, CLI::App& group, const std::string& name, const std::string& description,
                     WithProject withProject);
CLI::App* addCommand(Parser& parser, const std::string& name, const std::string& description, WithProject withProject);
// A command that has commands of its own, such as bench, and must be given one.
CLI::App* addCommandGroup(Parser& parser, const std::string& name, const std::string& description);
// The heading of the program's help under which the commands added from now on stand.
void beginGroup(Parser& parser, std::string heading);
void explain(Parser& parser, const CLI::App* command, std::string details, std::initializer_list<const char*> examples);

[[nodiscard]] Result<RecordReference> candidateReference(const std::string& text);
[[nodiscard]] Result<RecordReference> runReference(const std::string& text);  // the r may be left out

void addTarget(CLI::App* command, std::string& target);
// --sandbox, of a command that compiles.
void addSandbox(CLI::App* command, Raw& raw);
// --set, --inputs and --eval; what --set named is taken over when all is parsed.
void addTaskOptions(CLI::App* command, Raw& raw, std::string& inputs, bool& eval);
[[nodiscard]] Result<> takeOverrides(const Raw& raw, std::vector<std::pair<std::string, std::string>>& into);

void addInitCommand(Parser& parser);      // init
void addRecordCommands(Parser& parser);   // what was found
void addDbCommands(Parser& parser);       // db
void addMachineCommands(Parser& parser);  // devices, doctor
void addModelCommands(Parser& parser);    // models
void addKeyCommands(Parser& parser);      // keys
void addPatternCommands(Parser& parser);  // patterns
void addMcpCommand(Parser& parser);       // mcp
void addBenchCommands(Parser& parser);    // bench
void addBenchKernelBench(Parser& parser, CLI::App& group);
void addBenchReport(Parser& parser, CLI::App& group);
void addProgramCommands(Parser& parser);  // settings, completion, manual

[[nodiscard]] CommandFact factsOf(const Parser& parser);

}  // namespace swage::cli
