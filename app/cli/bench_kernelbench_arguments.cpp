// SPDX-License-Identifier: Apache-2.0
// The arguments of `swage bench kernelbench` and of the report of what it wrote.
#include <cmath>

#include "app/cli/command_tree.h"
#include "app/cli/default_arguments.h"
#include "core/base/duration.h"
#include "core/services/devices_service.h"

namespace swage::cli {
namespace {

constexpr double kBytesPerMib = 1024.0 * 1024.0;
constexpr double kSmallMib = 1.0;

constexpr const char* kDetails =
    "Imports each problem, searches it, exports the winner and has KernelBench's own checker (src/kernelbench/eval.py "
    "of the checkout, in a process of its own) compare the export with the problem. Where no kernel beats the fastest "
    "of PyTorch's ways, that way is what is exported; where KernelBench rejects it, a kernel that beats eager is. A "
    "problem that fails is a row with its reason.\n"
    "The file is written after each problem. With the same file and settings the command goes on where it was stopped "
    "or killed; more levels and problems may be added. Problems that failed because of their surroundings (no "
    "compiler, a process killed from outside) are done again. Ctrl-C stops after the evaluation in progress; the "
    "problem in progress is not kept.\n"
    "Without a GPU, KernelBench's comparison runs on the CPU, which the file notes. On a GPU, weights and "
    "inputs are drawn there first; an export that is not accepted so is compared again with all of them "
    "drawn on the CPU, as KernelBench does it.\n"
    "The file is one JSON object: swage_kernelbench (1), settings, device, torch_version, swage_version, tasks and "
    "summary. Each of tasks has level, problem, name, run (in the project), device, constants (made smaller), "
    "operators "
    "(of its graph), baselines [{mode, time_ns {median, low, high}, accuracy, failure}], baseline (the mode that "
    "speedups are over), baseline_accuracy, kernel (the best one, whether or not it beats PyTorch: candidate, time_ns, "
    "speedup {value, low, high}, accuracy, patterns, relative_error and eager_relative_error against float64, "
    "roof_share, cell, aten (the operators that it leaves to PyTorch), algebraic, captured (its steps are launched as "
    "one CUDA graph)), aten_in_every_candidate, "
    "candidates, "
    "correct, search_seconds, seconds, exported (kernel; CUDA graph, of PyTorch's operators alone; or a mode of "
    "PyTorch), export_file, kernelbench {verdict: "
    "accepted, rejected, reference failed or not run; trials, problem, note, rejected_way (why PyTorch's faster way "
    "is not exported)}, doubts, degenerate, and failure {stage, kind, message} or null.\n"
    "Each of summary has title, tasks, kernels (tasks with a kernel at least as exact as the baseline), accepted, "
    "geometric_mean and median of these kernels' speedups, strict_geometric_mean (over PyTorch's fastest way, those "
    "that KernelBench rejects counted), exports_geometric_mean (1 where PyTorch's way is exported), "
    "fast_1, fast_1.5, fast_2 (shares of all tasks), and losses [{level, problem, name, speedup, why}].";

// What names a file here is a flag elsewhere.
void addFile(CLI::App* command, std::string& file) {
  command->remove_option(command->get_option("--json"));
  command->add_option("--json", file, "Document to write, and to go on with if it is there")
      ->required()
      ->type_name("FILE.json");
}

void addProblems(CLI::App* command, Raw& raw) {
  command->add_option("--checkout", raw.kernelBenchCheckout, "Checkout of KernelBench")->required()->type_name("DIR");
  command->add_option("--levels", raw.kernelBenchLevels, "Levels, in this order")
      ->type_name("LIST")
      ->capture_default_str();
  command->add_option("--problems", raw.kernelBenchProblems, "odd, even, all, or numbers: 1,5,7")
      ->type_name("LIST")
      ->capture_default_str();
  auto* small = command->add_flag("--small", raw.kernelBenchSmall,
                                  "Make the sizes of each problem smaller until no tensor is larger than 1 MiB");
  command
      ->add_option("--largest-tensor", raw.kernelBenchLargestMib,
                   "The same for another size, in MiB: for devices with little memory or time")
      ->type_name("MIB")
      ->check(CLI::PositiveNumber)
      ->excludes(small);
}

void addSearch(CLI::App* command, Raw& raw) {
  services::RunSpec& spec = raw.kernelBench.spec;
  addTarget(command, spec.target);
  command->add_option("--devices", raw.devices, "GPUs of the same model to use at once, by number or UUID: 0,1")
      ->type_name("LIST");
  command->add_option("--time-budget", raw.timeBudget, "Search time of each problem, such as 60s or 2m (default: 60s)")
      ->type_name("TIME");
  command->add_option("--max-evaluations", spec.maxEvaluations, "Stop each search after this many candidates")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", spec.seed, "Seed of each search")->type_name("S")->capture_default_str();
  command
      ->add_option("--baselines", spec.baselines,
                   "Modes of PyTorch to compare with: eager, compile, max-autotune; max-autotune is included by "
                   "default from a time budget of 5 minutes")
      ->delimiter(',')
      ->check(CLI::IsMember({"eager", "compile", "max-autotune"}))
      ->type_name("MODES");
  command->add_flag("--no-self-test", raw.noSelfTest, "Search without the self-test of this device");
}

Result<CommandArguments> kernelBenchArguments(Raw& filled) {
  BenchKernelBenchArguments& result = filled.kernelBench;
  result.checkout = filled.kernelBenchCheckout;
  result.file = filled.output;
  SWAGE_TRY_ASSIGN(result.levels, engine::parseLevels(filled.kernelBenchLevels));
  SWAGE_TRY_ASSIGN(result.problems, engine::parseProblemChoice(filled.kernelBenchProblems));
  const double mebibytes = filled.kernelBenchSmall ? kSmallMib : filled.kernelBenchLargestMib;
  result.largestTensorBytes = static_cast<std::int64_t>(std::llround(mebibytes * kBytesPerMib));
  services::RunSpec& spec = result.spec;
  spec.timeBudgetSeconds = kDefaultBudgetSeconds;
  if (!filled.timeBudget.empty()) {
    SWAGE_TRY_ASSIGN(spec.timeBudgetSeconds, parseDuration(filled.timeBudget));
  } else if (spec.maxEvaluations > 0) {
    spec.timeBudgetSeconds = 0.0;  // the other limit was chosen
  }
  result.selfTest = !filled.noSelfTest;
  if (!filled.devices.empty()) {
    SWAGE_TRY_ASSIGN(result.devices, services::parseDevices(filled.devices));
  }
  return CommandArguments(result);
}

}  // namespace

void addBenchKernelBench(Parser& parser, CLI::App& group) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, group, "kernelbench", "Search KernelBench's problems and compare with PyTorch",
                                 WithProject::Yes);
  addFile(command, raw.output);
  addProblems(command, raw);
  addSearch(command, raw);
  command->get_option("--project")
      ->description(
          "Project folder with the record of all searches; beside the file by "
          "default");
  explain(parser, command, kDetails,
          {"swage bench kernelbench --checkout ~/KernelBench --problems odd --json odd.json",
           "swage bench kernelbench --checkout ~/KernelBench --problems 1,5 --small --json small.json"});
  parser.finish[command] = kernelBenchArguments;
}

void addBenchReport(Parser& parser, CLI::App& group) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, group, "report", "Show what `swage bench kernelbench` wrote", WithProject::No);
  command->add_option("files", raw.benchReport.files, "Documents of the benchmark, of the same settings and device")
      ->required()
      ->type_name("FILE.json");
  command
      ->add_option("--format", raw.benchReport.format,
                   "text or markdown: summary, tasks, losses, operators that still run as ATen; svg: a chart of the "
                   "speedups")
      ->check(CLI::IsMember({"text", "markdown", "svg"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", raw.output, "File to write; standard output by default")->type_name("FILE");
  explain(
      parser, command,
      "A benchmark that still runs can be shown, too. Several files are shown as one, such as those of "
      "problems that several GPUs shared. With --json it is the document itself.",
      {"swage bench report kernelbench.json", "swage bench report kernelbench.json --format svg -o kernelbench.svg"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    filled.benchReport.output = filled.output;
    return CommandArguments(filled.benchReport);
  };
}

}  // namespace swage::cli
