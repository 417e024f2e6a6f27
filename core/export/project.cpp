// SPDX-License-Identifier: Apache-2.0
#include "core/export/project.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/sha256.h"
#include "core/export/python_source.h"
#include "core/export/python_text.h"
#include "core/export/template_text.h"
#include "core/export/templates.h"

namespace swage::exporting {
namespace {

constexpr std::string_view kTest = "test_modelnew.py";
constexpr std::string_view kBenchmark = "benchmark.py";
constexpr double kExactL2 = 1e-5;  // between the relative errors of float32 and of TF32: 1e-6 and 3e-4

std::string kernelFileName(const ModelNewInput& input) {
  return fmt::format("kernels{}", domain::factsOf(input.program.language).sourceSuffix);
}

std::string jsonText(const domain::Json& json) {
  return json.dump(2, ' ', false, domain::Json::error_handler_t::replace) + '\n';
}

// What belongs into one line of a comment or one cell of a table.
std::string oneLine(std::string_view text) {
  std::string line;
  for (const char character : text) {
    line += character == '\n' || character == '\r' ? ' ' : character;
  }
  return line;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char character : oneLine(text)) {
    escaped += character == '|' ? std::string("\\|") : std::string(1, character);
  }
  return escaped;
}

std::string kernelText(const ModelNewInput& input) {
  const std::vector<std::string>& flags = input.program.compileFlags;
  return fmt::format(
      "// SPDX-License-Identifier: MIT-0\n"
      "// Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.\n"
      "//\n"
      "// The kernels of {} (candidate {} of run {}), as they were verified for {}{}{}.\n"
      "// launch_plan.json says how they are launched. modelnew.py carries a copy of its own and does not read this "
      "file.\n"
      "\n{}{}",
      oneLine(input.task.name), input.provenance.candidate.value(), input.provenance.run.value(),
      oneLine(input.device.architecture), flags.empty() ? "" : ", compiled with ", fmt::join(flags, " "),
      input.program.source, input.program.source.ends_with('\n') ? "" : "\n");
}

std::string planText(const ModelNewInput& input) {
  return jsonText({{"schema", 1},
                   {"target", domain::name(domain::factsOf(input.program.language).device)},
                   {"language", domain::name(input.program.language)},
                   {"architecture", input.device.architecture},
                   {"entries", input.program.entries()},
                   {"flags", input.program.compileFlags},
                   {"plan", domain::toJson(input.program.plan)}});
}

// Where PyTorch itself rounds to TF32, results that are more exact are as far from its own as it is from them.
bool isNearPyTorch(const domain::Correct& evaluation) {
  return evaluation.accuracy == domain::AccuracyClass::Fp32 &&
         std::all_of(evaluation.errors.begin(), evaluation.errors.end(),
                     [](const domain::OutputError& error) { return error.eagerRelativeL2 <= kExactL2; });
}

std::string testText(const ModelNewInput& input) {
  const bool isExact = isNearPyTorch(input.provenance.evaluation);
  return filled(testTemplate(), {{"TEST", std::string(kTest)},
                                 {"TOLERANCE", isExact ? "1e-4" : "1e-2"},
                                 {"CLASS", std::string(domain::name(input.provenance.evaluation.accuracy))},
                                 {"MODULE_CLASS", input.task.source.className}});
}

std::string fileTable(const ModelNewInput& input) {
  std::string text =
      "| `modelnew.py` | all that your program needs: the original module, the kernels and `ModelNew` |\n";
  if (input.program.plan.hasKernels()) {
    text += fmt::format("| `{}` | the kernels as a file of their own, to read, profile and change |\n",
                        kernelFileName(input));
  }
  text += "| `launch_plan.json` | buffers and steps: which kernel or operator runs on what, with which geometry |\n";
  text += "| `original.py` | the module as it was given, with the constants that it was searched with |\n";
  text += fmt::format("| `{0}` | compares the two: `python {0}` |\n", kTest);
  text +=
      fmt::format("| `{0}` | times `ModelNew`, the module and torch.compile in turns: `python {0}` |\n", kBenchmark);
  text += "| `provenance.json` | everything known of the candidate: task, lineage, device, versions, measurements |\n";
  return text;
}

std::string measuredTable(const Provenance& from, const domain::DeviceInfo& device) {
  const domain::PairedTiming& timing = from.evaluation.timing;
  std::string text = fmt::format("On {} ({} samples, 95 % interval of the median):\n\n| | time |\n|---|---|\n",
                                 cell(device.name), timing.candidate.samples);
  text += fmt::format("| `ModelNew` | {} |\n", timingText(timing.candidate));
  text += fmt::format("| eager PyTorch (interleaved) | {} |\n", timingText(timing.eager));
  for (const domain::Baseline& baseline : from.baselines) {
    text += fmt::format("| {}, class {} | {} |\n", cell(baseline.mode), domain::name(baseline.accuracy),
                        baseline.failure.empty()       ? timingText(baseline.timing)
                        : domain::isRejected(baseline) ? timingText(baseline.timing) + ", rejected by KernelBench"
                                                       : "failed");
  }
  return text;
}

std::string resultText(const ModelNewInput& input) {
  const Provenance& from = input.provenance;
  std::string text = speedupLine(from);
  text += text.empty() ? "" : ".";
  if (from.speedup.low <= 1.0) {
    text += text.empty() ? "" : " ";
    text += "No significant difference from PyTorch.";
  }
  if (const std::string error = errorText(from.evaluation.errors); !error.empty()) {
    text += fmt::format(" Against float64: {}, class {}.", error, domain::name(from.evaluation.accuracy));
  }
  for (const domain::Rewrite& rewrite : from.genome.value_or(domain::Genome()).rewrites) {
    text += fmt::format(" {}.", domain::describe(rewrite));
  }
  if (input.program.plan.isCaptured) {
    text += " All steps are launched as one CUDA graph; the time includes the copies of arguments and results.";
  }
  return text + "\n";
}

std::string checkedText(const Provenance& from) {
  std::string text;
  for (const domain::InputErrors& inputs : from.evaluation.byInputs) {
    const std::string error = errorText(inputs.errors);
    text += fmt::format("- inputs of the kind \"{}\": {} {}{}{}\n", domain::inputsTitle(inputs.inputs), inputs.checks,
                        inputs.checks == 1 ? "check" : "checks", error.empty() ? "" : ", ", error);
  }
  for (const domain::Assurance& assurance : from.assurances) {
    text += fmt::format("- {}\n", oneLine(describe(assurance)));
  }
  for (const std::string& doubt : from.doubts) {
    text += fmt::format("- warning: {}\n", oneLine(describeDoubt(doubt)));
  }
  return text.empty() ? std::string("Correct on the seeds of the task.\n") : text;
}

std::string provenanceTable(const ModelNewInput& input) {
  std::string text;
  for (const auto& [label, value] : provenanceLines(input.provenance, input.task, input.device)) {
    if (label != "checked" && label != "warning" && label != "baseline") {  // they stand above
      text += fmt::format("| {} | {} |\n", label, cell(value));
    }
  }
  return text;
}

// Where PyTorch's own way wins there is little to say, and nothing to compare.
std::string pytorchReadme(const ModelNewInput& input) {
  const std::string way = domain::pytorchWay(input.pytorchMode);
  return fmt::format(
      "<!-- SPDX-License-Identifier: MIT-0 -->\n# {}\n\n"
      "No kernel that was found is significantly faster than PyTorch's own way, {}, so `ModelNew` in `modelnew.py` is "
      "that "
      "way itself: `{}`{}. Nothing stands in between.\n\n"
      "| file | |\n|---|---|\n"
      "| `modelnew.py` | the module, and `ModelNew` |\n"
      "| `original.py` | the module as it was given, with the constants that it was searched with |\n"
      "| `provenance.json` | everything known of the search: task, device, versions, measurements |\n\n"
      "## Where it comes from\n\n| | |\n|---|---|\n{}",
      oneLine(input.task.name), way, input.task.source.className,
      input.pytorchMode == "eager" ? "" : ", compiled where it is made", provenanceTable(input));
}

std::string readmeText(const ModelNewInput& input) {
  return filled(readmeTemplate(), {{"TITLE", oneLine(input.task.name)},
                                   {"MODULE_CLASS", input.task.source.className},
                                   {"WHAT", std::string(whatRuns(input.program.plan))},
                                   {"RUNS", input.program.plan.hasKernels() ? "The kernels run" : "The graph runs"},
                                   {"FILES", fileTable(input)},
                                   {"MEASURED", measuredTable(input.provenance, input.device)},
                                   {"RESULTS", resultText(input)},
                                   {"CHECKED", checkedText(input.provenance)},
                                   {"PROVENANCE", provenanceTable(input)}});
}

// With the hash of every other file, so that a change can be told from what was verified.
std::string provenanceText(const ModelNewInput& input, const std::vector<ExportedFile>& files) {
  domain::Json json = provenanceJson(input.provenance, input.task, input.device);
  json["files"] = domain::Json::object();
  for (const ExportedFile& file : files) {
    json["files"][file.name] = sha256Hex(file.content);
  }
  return jsonText(json);
}

}  // namespace

Result<std::vector<ExportedFile>> writeProject(const ModelNewInput& input) {
  std::vector<ExportedFile> files;
  const bool isPytorch = !input.pytorchMode.empty();
  SWAGE_TRY_ASSIGN(std::string module, writeModelNew(input));
  files.push_back({"README.md", isPytorch ? pytorchReadme(input) : readmeText(input)});
  files.push_back({"modelnew.py", std::move(module)});
  if (isPytorch) {
    files.push_back({"original.py", input.taskSource});
    files.push_back({"provenance.json", provenanceText(input, files)});
    return files;
  }
  if (input.program.plan.hasKernels()) {
    files.push_back({kernelFileName(input), kernelText(input)});
  }
  files.push_back({"launch_plan.json", planText(input)});
  files.push_back({"original.py", input.taskSource});
  files.push_back({std::string(kTest), testText(input)});
  files.push_back({std::string(kBenchmark), std::string(benchmarkTemplate())});
  files.push_back({"provenance.json", provenanceText(input, files)});
  return files;
}

}  // namespace swage::exporting
