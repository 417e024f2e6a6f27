// SPDX-License-Identifier: Apache-2.0
#include "core/export/modelnew.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/domain/baseline.h"
#include "core/export/launchers.h"
#include "core/export/plan_writer.h"
#include "core/export/python_source.h"
#include "core/export/python_text.h"
#include "core/export/template_text.h"
#include "core/export/templates.h"

namespace swage::exporting {

namespace {

std::string provenanceText(const ModelNewInput& input) {
  std::string text;
  for (const auto& [label, value] : provenanceLines(input.provenance, input.task, input.device)) {
    text += fmt::format("{}{:<14}{}", text.empty() ? "" : "\n", label, plainProse(value));
  }
  return text;
}

// Body of _swage_verified_constructor().
Result<std::string> constructorBody(const ModelNewInput& input, const OriginalModule& original) {
  if (!input.init.empty()) {
    const nlohmann::json init = nlohmann::json::parse(input.init, nullptr, false);
    if (init.is_discarded()) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("cannot export: the constructor arguments '{}' are not JSON", input.init),
                   "Import the task again.");
    }
    if (init.is_object()) {
      return fmt::format("    return [[], {}]\n", pythonLiteral(init));
    }
    return fmt::format("    return [{}, {{}}]\n",
                       pythonLiteral(init.is_array() ? init : nlohmann::json::array({init})));
  }
  if (!original.hasInitInputs) {
    return std::string("    return [[], {}]\n");
  }
  return fmt::format(
      "    values = list({}())\n"
      "    if len(values) == 2 and isinstance(values[0], list) and isinstance(values[1], dict):\n"
      "        return [values[0], values[1]]\n"
      "    return [values, {{}}]\n",
      kOriginalInitInputs);
}

// The flags that the kernels were verified with, and the candidate's own.
std::string cpuFlags(const domain::Program& program) {
  std::vector<std::string> flags = {
      "-std=c++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-fno-exceptions"};
  flags.insert(flags.end(), program.compileFlags.begin(), program.compileFlags.end());
  flags.insert(flags.end(), {"-shared", "-fPIC"});
  return pythonLiteral(flags);
}

std::string cpuRuntime(const ModelNewInput& input) {
  return filled(cpuTemplate(), {{"STEPS", cpuStepTable(input.program.plan)}, {"FLAGS", cpuFlags(input.program)}});
}

std::string mapsText(const PlanText& plan) {
  return plan.maps.empty() ? std::string() : fmt::format("{}{}\n\n", cudaMapsTemplate(), plan.maps);
}

Result<std::string> cudaRuntime(const ModelNewInput& input, const PlanText& text) {
  const domain::LaunchPlan& plan = input.program.plan;
  if (plan.hasKernels() && input.binary.empty()) {
    return Error(ErrorKind::InvalidInput, "cannot export a CUDA candidate without its compiled kernels",
                 "Verify the candidate again on its device.");
  }
  const int capability = input.device.computeCapability;
  return filled(cudaTemplate(),
                {{"STEPS", cudaStepTable(plan)},
                 {"FLAGS", pythonLiteral(input.program.compileFlags)},
                 {"CAPABILITY", fmt::format("({}, {})", capability / 10, capability % 10)},
                 {"LAYOUT", text.maps.empty() ? "step.types" : "_swage_packing(driver, function, step)"},
                 {"MAPS", mapsText(text)}});
}

// The end of the file, where it is in nobody's way: the verified machine code, on one line.
Result<std::string> carriedBinary(const ModelNewInput& input) {
  SWAGE_TRY_ASSIGN(const std::string text, packedText(input.binary, Packing::Zlib));
  return fmt::format(
      "\n\n# The verified machine code, so that nothing is compiled where it fits.\n_SWAGE_BINARY = \"{}\"\n", text);
}

std::string constantsText(const PlanText& plan) {
  return plan.constants.empty()
             ? ""
             : fmt::format(
                   "# Shape, strides, dtype and compressed bytes of tensors that are neither arguments nor "
                   "state.\n_SWAGE_CONSTANTS = (\n{})\n",
                   plan.constants);
}

// The functions of helpers.py.in that the text calls.
std::string helpersText(std::string_view text) {
  constexpr std::string_view kMark = "#! swage:helper ";
  std::string helpers;
  std::string_view rest = helpersTemplate();
  for (std::size_t at = rest.find(kMark); at != std::string_view::npos; at = rest.find(kMark)) {
    rest.remove_prefix(at + kMark.size());
    const std::size_t lineEnd = rest.find('\n');
    const std::string name(rest.substr(0, lineEnd));
    const std::string_view body = rest.substr(lineEnd + 1, rest.find(kMark) - lineEnd - 1);
    if (text.find(name + "(") != std::string_view::npos) {
      helpers += fmt::format("\n\n{}", body);
    }
  }
  return helpers;
}

std::string importsText(bool isCpu, bool hasConstants) {
  std::set<std::string_view> modules{"collections", "contextlib", "ctypes",     "hashlib",  "os",
                                     "pathlib",     "shutil",     "subprocess", "tempfile", "warnings"};
  if (isCpu) {
    modules.insert({"functools", "shlex"});
  } else {
    modules.insert("struct");
  }
  if (!isCpu || hasConstants) {
    modules.insert({"base64", "zlib"});
  }
  std::string text;
  for (const std::string_view module : modules) {
    text += fmt::format("import {0} as _{0}\n", module);
  }
  return text;
}

// How the plan is run: where forward changes buffers, by a method that gives them their new values.
TemplateValues runValues(const PlanText& plan) {
  if (plan.store.empty()) {
    const std::string call = "_swage_plan(case.steps, case.device, *tensors)";
    return {{"RUN_FOR_GRADIENTS", call}, {"RUN", call}, {"RUN_METHOD", ""}};
  }
  return {{"RUN_FOR_GRADIENTS", "module._swage_run(case, tensors)"},
          {"RUN", "self._swage_run(case, tensors)"},
          {"RUN_METHOD",
           fmt::format("\n    def _swage_run(self, case, tensors):\n"
                       "        \"\"\"Runs the plan, gives the buffers their new values and returns what forward "
                       "returns.\"\"\"\n"
                       "        outputs = _swage_plan(case.steps, case.device, *tensors)\n{}"
                       "        return outputs[{}:]\n",
                       plan.store, plan.mutationCount)}};
}

bool isRecurrent(const domain::Node& node) {
  constexpr std::array<std::string_view, 4> kNames{"aten.lstm.", "aten.gru.", "aten.rnn_tanh.", "aten.rnn_relu."};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return node.op.starts_with(name); });
}

// Bytes to which kernels take tensors to be aligned. On a GPU, PyTorch keeps the weights of a recurrent layer in one
// piece of memory, in which they lie as they come, and candidates were checked with weights that lie so.
std::string alignmentOf(const ModelNewInput& input) {
  const bool isCpu = domain::factsOf(input.program.language).launch == domain::LaunchConvention::ArgumentArray;
  const std::vector<domain::Node>& nodes = input.task.graph.nodes;
  return !isCpu && std::any_of(nodes.begin(), nodes.end(), isRecurrent) ? "16" : "64";
}

bool isNested(const PlanText& plan) {
  return plan.arguments.find("_swage_match(") != std::string::npos;
}

std::string argumentsText(const PlanText& plan) {
  return fmt::format("{}\n        tensors = (*{},{})", plan.arguments, isNested(plan) ? "tensors" : "args", plan.state);
}

// What differs between calls with tensors only and those with a nest of arguments, and where forward changes buffers.
TemplateValues gradientValues(const PlanText& plan) {
  return {
      {"KEPT_NAMES", isNested(plan) ? ", ctx.args" : ""},
      {"KEPT_ARGUMENTS", isNested(plan) ? ", _pytree.tree_map_only(torch.Tensor, lambda _: _SwageTensor, args)" : ""},
      {"SAVED", plan.mutated.empty()
                    ? "tensors"
                    : fmt::format("(t.clone() if i in ({}) else t for i, t in enumerate(tensors))", plan.mutated)},
      {"SAVED_COMMENT",
       plan.mutated.empty() ? "" : "        # The plan overwrites buffers; backward needs what they held before.\n"},
      {"BACKWARD_ARGUMENTS",
       isNested(plan) ? "        users = iter(inputs[:_SWAGE_USER_INPUTS])\n"
                        "        # Tensors were replaced by their stand-in, in the order in which they are saved.\n"
                        "        args = _pytree.tree_map(lambda leaf: next(users) if leaf is _SwageTensor else leaf, "
                        "ctx.args)"
                      : "        args = tuple(inputs[:_SWAGE_USER_INPUTS])"}};
}

TemplateValues moduleValues(const ModelNewInput& input, const OriginalModule& original, const PlanText& plan) {
  const domain::LanguageFacts& language = domain::factsOf(input.program.language);
  const bool isCpu = language.launch == domain::LaunchConvention::ArgumentArray;
  const std::string source = input.program.source + (isCpu ? cpuLaunchers(input.program.plan) : "");
  TemplateValues values{
      {"TITLE", plainProse(input.task.name)},
      {"PROVENANCE", provenanceText(input)},
      {"FUTURE_IMPORTS", original.futureImports.empty() ? "" : original.futureImports + "\n"},
      {"IMPORTS", importsText(isCpu, !plan.constants.empty())},
      {"ORIGINAL", original.text},
      {"SOURCE", pythonBlock(withoutCheckedWords(source))},
      {"INPUTS", plan.inputs},
      {"USER_COUNT", plan.userCount},
      {"TRAINING", input.task.mode == domain::ModuleMode::Train ? "True" : "False"},
      {"DEVICE", std::string(domain::name(language.device))},
      {"OTHER_DEVICE", isCpu ? "" : " or case.index != _swage_current_device()"},
      {"ALIGNMENT", alignmentOf(input)},
      {"CONSTANTS", constantsText(plan)},
      {"OPERATORS", plan.operators},
      {"HELPERS", helpersText(plan.plan + plan.arguments)},
      {"PARAMETERS", plan.parameters},
      {"PLAN", plan.plan},
      {"CLASS_SUMMARY", plainProse(fmt::format("{} with verified kernels.", input.task.source.className))},
      {"STATE_NAMES", fmt::format("({})", plan.stateNames)},
      {"RESULT", plan.result},
      {"ARGUMENTS", argumentsText(plan)}};
  for (const TemplateValues& more : {gradientValues(plan), runValues(plan)}) {
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

// The module itself. Compiling in place keeps the names in state_dict, which a wrapper would change.
std::string pytorchModule(const ModelNewInput& input, const OriginalModule& original) {
  const bool isEager = input.pytorchMode == "eager";
  const std::string mode = input.pytorchMode == "compile" ? "" : "mode=" + pythonString(input.pytorchMode);
  const std::string compile = fmt::format(
      "\n    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n        "
      "self.compile({})\n",
      mode);
  return filled(pytorchTemplate(),
                {{"TITLE", plainProse(input.task.name)},
                 {"WAY", domain::pytorchWay(input.pytorchMode)},
                 {"PROVENANCE", provenanceText(input)},
                 {"FUTURE_IMPORTS", original.futureImports.empty() ? "" : original.futureImports + "\n"},
                 {"ORIGINAL", original.text},
                 {"CLASS_SUMMARY", plainProse(fmt::format("{} in PyTorch's own way, {}.", input.task.source.className,
                                                          domain::pytorchWay(input.pytorchMode)))},
                 {"COMPILE", isEager ? std::string() : compile}});
}

}  // namespace

Result<std::string> writeModelNew(const ModelNewInput& input) {
  SWAGE_TRY_ASSIGN(const OriginalModule original, extractModule(input.taskSource, input.task.source.className));
  if (!input.pytorchMode.empty()) {
    return pytorchModule(input, original);
  }
  SWAGE_TRY_ASSIGN(const PlanText plan, writePlan({input.task, input.program, input.call, input.constants}));
  SWAGE_TRY_ASSIGN(std::string constructor, constructorBody(input, original));
  TemplateValues values = moduleValues(input, original, plan);
  values.emplace_back("CONSTRUCTOR", std::move(constructor));
  if (domain::factsOf(input.program.language).launch == domain::LaunchConvention::ArgumentArray) {
    values.emplace_back("TARGET", cpuRuntime(input));
    values.emplace_back("BINARY", "");
  } else {
    SWAGE_TRY_ASSIGN(std::string runtime, cudaRuntime(input, plan));
    SWAGE_TRY_ASSIGN(std::string binary, carriedBinary(input));
    values.emplace_back("TARGET", std::move(runtime));
    values.emplace_back("BINARY", std::move(binary));
  }
  return filled(moduleTemplate(), values);
}

}  // namespace swage::exporting
