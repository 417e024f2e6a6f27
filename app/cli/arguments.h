// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/command_facts.h"
#include "app/cli/terminal.h"
#include "app/cli/text.h"
#include "core/base/result.h"
#include "core/domain/filter.h"
#include "core/engine/judge_benchmark.h"
#include "core/engine/kernelbench_problems.h"
#include "core/models/endpoint.h"
#include "core/retrieval/finder.h"
#include "core/services/export_service.h"
#include "core/services/report_service.h"
#include "core/services/settings_service.h"
#include "core/services/types.h"

namespace swage::cli {

enum class OutputForm : std::uint8_t { Text, Json, JsonLines };

// What all commands share.
struct Common {
  OutputForm form = OutputForm::Text;
  int verbosity = 0;  // -1: --quiet, 1: -v, 2: -vv
  ColorWhen color = ColorWhen::Auto;
  std::filesystem::path project;  // empty: not given
  std::string sandbox;            // of commands that compile; empty: what is set
};

struct InitArguments {
  std::filesystem::path folder;  // empty: the current one
};
struct ImportArguments {
  std::string task;
  std::string inputs;
  std::vector<std::pair<std::string, std::string>> overrides;
  bool eval = false;
  std::filesystem::path output;
};
struct TasksArguments {
  std::filesystem::path folder;  // also its tasks; empty: none
};
// Which language models take part, and what they may spend together.
struct ModelChoice {
  std::vector<std::string> names;
  double usd = 0.0;         // 0: no limit
  std::int64_t tokens = 0;  // 0: no limit
  bool alone = false;       // the search proposes nothing
};
struct OptimizeArguments {
  services::RunSpec spec;  // without the project
  bool selfTest = true;
  std::vector<std::string> devices;  // numbers or UUIDs; empty: the first GPU
  ModelChoice models;
};
struct ResumeArguments {
  std::optional<RecordReference> run;
  double timeBudgetSeconds = 0.0;
  std::int64_t maxEvaluations = 0;
  double targetSpeedup = 0.0;
  double requiredSpeedup = 0.0;
  bool selfTest = true;
  std::vector<std::string> devices;  // numbers or UUIDs; empty: the first GPU
  ModelChoice models;
};
struct StatusArguments {};
struct ListArguments {
  std::optional<RecordReference> run;
  std::string status;
  domain::Filter filter;
  std::string sort = "id";
  bool reverse = false;
  std::int64_t limit = 0;  // 0: all
};
struct ShowArguments {
  RecordReference candidate;
  bool source = false;
  bool assembly = false;
};
// A run stands for its best candidate.
struct CompareArguments {
  RecordReference left;
  RecordReference right;
  std::filesystem::path otherProject;  // of `right`; empty: the same
  bool source = false;
  bool assembly = false;
};
struct DisasmArguments {
  RecordReference candidate;
  std::string kernel;  // empty: all
  bool noDirectives = false;
  bool noAddresses = false;
};
struct ReportArguments {
  std::optional<RecordReference> run;  // none: the latest
  services::ReportFormat format = services::ReportFormat::Html;
  std::filesystem::path output;  // "-": standard output
};
struct RulesArguments {
  std::string id;  // of the one to show; empty: all
};
struct DevicesArguments {};
struct VerifyArguments {
  RecordReference candidate;
  bool noChecks = false;  // not at other sizes
};
struct EvaluateArguments {
  RecordReference candidate;
  std::filesystem::path source;  // "-": standard input
  bool selfTest = true;
};
struct ProfileArguments {
  RecordReference candidate;
};
struct ExportArguments {
  RecordReference what;
  services::ExportFormat format = services::ExportFormat::ModelNew;
  bool noChecks = false;
  bool verify = false;   // all checks, not only at other sizes
  bool preview = false;  // writes nothing
  bool force = false;    // into a folder that is not empty, too
  std::filesystem::path output;
};
struct DoctorArguments {
  bool selfTest = false;
  std::string target = "auto";
  std::filesystem::path bundle;  // archive to write; empty: none
};
struct BenchArguments {
  services::RunSpec spec;  // without the project; no task: a bundled one of about 100 MB
  int freshProcesses = 10;
};
struct BenchExportArguments {
  std::string target = "auto";
  int calls = 20000;
};
struct BenchJudgeArguments {
  std::optional<RecordReference> run;  // none: the latest
  engine::JudgeBenchmarkOptions options;
};
struct BenchSwarmArguments {
  int models = 32;
  double tokensPerSecond = 250'000.0;  // all together
  int tokensPerEvent = 4;
  double seconds = 20.0;
};
struct BenchKernelBenchArguments {
  std::filesystem::path checkout;
  std::vector<int> levels;
  engine::ProblemChoice problems;
  services::RunSpec spec;               // of each search, without task and project
  std::int64_t largestTensorBytes = 0;  // 0: problems are taken as they are
  std::filesystem::path file;
  bool selfTest = true;
  std::vector<std::string> devices;  // numbers or UUIDs; empty: the first GPU
};
struct BenchReportArguments {
  std::vector<std::filesystem::path> files;
  std::string format = "text";   // "markdown", "svg"
  std::filesystem::path output;  // empty or "-": standard output
};
struct ConfigArguments {
  enum class Action : std::uint8_t { List, Get, Set, Unset, Path } action = Action::List;
  enum class Scope : std::uint8_t { User, Project } scope = Scope::User;
  std::string key;
  std::string value;
  bool origin = false;
};
struct ModelsArguments {
  enum class Action : std::uint8_t { List, Add, Remove, Test, Conversations } action = Action::List;
  models::Endpoint endpoint;  // to add; of the others, only its name
  RecordReference run;
  std::filesystem::path output;  // empty or "-": standard output
};
struct KeysArguments {
  enum class Action : std::uint8_t { List, Set, Remove } action = Action::List;
  std::string name;            // of the model
  bool inKeychain = false;     // where its key is kept from now on; neither: where the settings say
  std::filesystem::path file;  // the same
};
struct DbArguments {
  enum class Action : std::uint8_t { Check, Backup, Vacuum } action = Action::Check;
  std::filesystem::path file;  // to write, of a backup
};
struct PatternsArguments {
  retrieval::Question question;
  std::string model;     // an endpoint that ranks what was found once more; empty: that of the settings, if any
  bool noModel = false;  // nor that of the settings
};
struct McpArguments {
  std::string what;  // a project or a task; empty: the project that every command takes
  bool allowSubmissions = false;
  services::RunSpec spec;  // of a run that may be begun, without task and project
  bool selfTest = true;
};
struct CompletionArguments {
  Shell shell = Shell::Bash;
};
struct ManArguments {
  std::string command;           // "bench engine"; empty: the program
  std::filesystem::path output;  // folder for all pages; empty: one on standard output
};
// What a shell asks at Tab.
struct CompleteArguments {
  std::vector<std::string> words;
};
struct VersionArguments {};

using CommandArguments =
    std::variant<InitArguments, TasksArguments, ImportArguments, OptimizeArguments, ResumeArguments, StatusArguments,
                 ListArguments, ShowArguments, CompareArguments, DisasmArguments, ReportArguments, VerifyArguments,
                 EvaluateArguments, ProfileArguments, RulesArguments, ExportArguments, DoctorArguments,
                 DevicesArguments, BenchArguments, BenchExportArguments, BenchJudgeArguments, BenchSwarmArguments,
                 BenchKernelBenchArguments, BenchReportArguments, ConfigArguments, ModelsArguments, KeysArguments,
                 DbArguments, PatternsArguments, McpArguments, CompletionArguments, ManArguments, CompleteArguments,
                 VersionArguments>;

struct Arguments {
  Common common;
  CommandArguments command;
};

// Text to print and leave with 0, for --help.
struct HelpText {
  std::string text;
};

// What the user has set takes the place of the defaults of `optimize`. Errors are of kind Usage.
[[nodiscard]] Result<std::variant<Arguments, HelpText>> parseArguments(const std::vector<std::string>& arguments,
                                                                       const services::Settings& settings = {});

// Of a text that is not parsed yet, for the settings that have to be known first: --project, if there is one.
[[nodiscard]] std::filesystem::path projectNamed(const std::vector<std::string>& arguments);
// Whether this command works with a configuration that is wrong: it may be there to mend it.
[[nodiscard]] bool worksWithoutSettings(const std::vector<std::string>& arguments);

// What all commands are.
[[nodiscard]] CommandFact describeProgram();

}  // namespace swage::cli
