// SPDX-License-Identifier: Apache-2.0
#include "core/export/modelnew.h"

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
  SWAGE_TRY_ASSIGN(std::string binary, pythonBytes(input.binary, Packing::Zlib));
  const int capability = input.device.computeCapability;
  return filled(cudaTemplate(), {{"STEPS", cudaStepTable(plan)},
                                 {"FLAGS", pythonLiteral(input.program.compileFlags)},
                                 {"CAPABILITY", fmt::format("({}, {})", capability / 10, capability % 10)},
                                 {"MAPS", mapsText(text)},
                                 {"BINARY", input.binary.empty() ? "\"\"" : std::move(binary)},
                                 {"LAUNCHERS", pythonBlock(cudaLaunchers(plan))},
                                 {"DECLARATIONS", pythonBlock(cudaLauncherDeclarations(plan))}});
}

std::string constantsText(const PlanText& plan) {
  if (plan.constants.empty()) {
    return "";
  }
  return fmt::format(
      "\n# Shape, strides, dtype and compressed bytes of tensors that are neither arguments nor state.\n"
      "_SWAGE_CONSTANTS = (\n{})\n_SWAGE_CONSTANT_CACHE = {{}}\n\n\n"
      "def _swage_constant(index, device):\n"
      "    \"\"\"A constant tensor on the device; decoded once.\"\"\"\n"
      "    if (index, device) not in _SWAGE_CONSTANT_CACHE:\n"
      "        shape, strides, dtype, packed = _SWAGE_CONSTANTS[index]\n"
      "        data = bytearray(_zlib.decompress(_base64.b64decode(packed)))\n"
      "        tensor = torch.frombuffer(data, dtype=dtype).reshape(shape)\n"
      "        fresh = torch.empty_strided(shape, strides, dtype=dtype, device=device)\n"
      "        _SWAGE_CONSTANT_CACHE[index, device] = fresh.copy_(tensor)\n"
      "    return _SWAGE_CONSTANT_CACHE[index, device]\n",
      plan.constants);
}

TemplateValues moduleValues(const ModelNewInput& input, const OriginalModule& original, const PlanText& plan) {
  const domain::LanguageFacts& language = domain::factsOf(input.program.language);
  const bool isCalled = language.launch == domain::LaunchConvention::ArgumentArray;
  const std::string source = input.program.source + (isCalled ? cpuLaunchers(input.program.plan) : "");
  return {{"TITLE", plainProse(input.task.name)},
          {"PROVENANCE", provenanceText(input)},
          {"FUTURE_IMPORTS", original.futureImports.empty() ? "" : original.futureImports + "\n"},
          {"ORIGINAL", original.text},
          {"SOURCE", pythonBlock(withoutCheckedWords(source))},
          {"INPUTS", plan.inputs},
          {"USER_COUNT", plan.userCount},
          {"MUTATED", fmt::format("({})", plan.mutated)},
          {"TRAINING", input.task.mode == domain::ModuleMode::Train ? "True" : "False"},
          {"DEVICE", std::string(domain::name(language.device))},
          {"CONSTANTS", constantsText(plan)},
          {"OPERATORS", plan.operators},
          {"PARAMETERS", plan.parameters},
          {"PLAN", plan.plan},
          {"CLASS_SUMMARY", plainProse(fmt::format("{} with verified kernels.", input.task.source.className))},
          {"STATE_NAMES", fmt::format("({})", plan.stateNames)},
          {"RESULT", plan.result},
          {"ARGUMENTS", plan.arguments},
          {"STATE", plan.state},
          {"STORE", plan.store},
          {"USER_OUTPUTS", plan.mutationCount == "0" ? "outputs" : fmt::format("outputs[{}:]", plan.mutationCount)}};
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
  } else {
    SWAGE_TRY_ASSIGN(std::string runtime, cudaRuntime(input, plan));
    values.emplace_back("TARGET", std::move(runtime));
  }
  return filled(moduleTemplate(), values);
}

}  // namespace swage::exporting
