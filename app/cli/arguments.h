// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/text.h"
#include "core/base/result.h"
#include "core/domain/filter.h"
#include "core/services/export_service.h"
#include "core/services/settings_service.h"
#include "core/services/types.h"

namespace swage::cli {

enum class OutputForm : std::uint8_t { Text, Json, JsonLines };

// What all commands share.
struct Common {
  OutputForm form = OutputForm::Text;
  int verbosity = 0;              // -1: --quiet
  std::filesystem::path project;  // empty: not given
};

struct ImportArguments {
  std::string task;
  std::string inputs;
  std::vector<std::pair<std::string, std::string>> overrides;
  bool eval = false;
  std::filesystem::path output;
};
struct OptimizeArguments {
  services::RunSpec spec;  // without the project
  bool selfTest = true;
  std::vector<int> devices;  // empty: the first GPU
};
struct ResumeArguments {
  std::optional<Reference> run;
  double timeBudgetSeconds = 0.0;
  std::int64_t maxEvaluations = 0;
  bool selfTest = true;
  std::vector<int> devices;  // empty: the first GPU
};
struct StatusArguments {};
struct ListArguments {
  std::optional<Reference> run;
  std::string status;
  domain::Filter filter;
  std::string sort = "id";
  std::int64_t limit = 0;  // 0: all
};
struct ShowArguments {
  Reference candidate;
  bool source = false;
  bool assembly = false;
};
struct VerifyArguments {
  Reference candidate;
  bool noChecks = false;  // not at other sizes
};
struct EvaluateArguments {
  Reference candidate;
  std::filesystem::path source;  // "-": standard input
  bool selfTest = true;
};
struct ProfileArguments {
  Reference candidate;
};
struct ExportArguments {
  Reference what;
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
};
struct BenchArguments {
  services::RunSpec spec;  // without the project; no task: a bundled one of about 100 MB
  int freshProcesses = 10;
};
struct VersionArguments {};

using CommandArguments =
    std::variant<ImportArguments, OptimizeArguments, ResumeArguments, StatusArguments, ListArguments, ShowArguments,
                 VerifyArguments, EvaluateArguments, ProfileArguments, ExportArguments, DoctorArguments, BenchArguments,
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

}  // namespace swage::cli
