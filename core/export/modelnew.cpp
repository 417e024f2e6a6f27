// SPDX-License-Identifier: Apache-2.0
#include "core/export/modelnew.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/export/launchers.h"
#include "core/export/plan_writer.h"
#include "core/export/python_source.h"
#include "core/export/python_text.h"
#include "core/export/templates.h"

namespace swage::exporting {

namespace {

using Values = std::vector<std::pair<std::string_view, std::string>>;

// Replaces each @NAME@ of the template; what is put in is not looked at again.
std::string filled(std::string_view text, const Values& values) {
  std::string result;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    result += text.substr(0, at);
    text.remove_prefix(at + 1);
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return text.starts_with(value.first) && text.substr(value.first.size()).starts_with('@');
    });
    if (found == values.end()) {
      result += '@';  // a decorator
    } else {
      result += found->second;
      text.remove_prefix(found->first.size() + 1);
    }
  }
  result += text;
  return result;
}

std::string provenanceText(const ModelNewInput& input) {
  const Provenance& from = input.provenance;
  std::vector<std::pair<std::string_view, std::string>> lines = {
      {"task",
       fmt::format("{} (class {} of {})", input.task.name, input.task.source.className, input.task.source.file)},
      {"task id", input.task.id},
      {"run", from.run},
      {"candidate", from.candidate},
      {"seed", std::to_string(from.seed)},
      {"cell", from.cell},
      {"measured", from.measured},
      {"device", fmt::format("{} ({})", input.device.name, input.device.architecture)},
      {"verified with", fmt::format("PyTorch {}", input.task.torchVersion)},
      {"written by", fmt::format("Swage {}", from.swageVersion)},
  };
  for (const auto& [name, value] : input.task.source.overrides) {
    lines.emplace_back("with", fmt::format("{} = {}", name, value));
  }
  for (const std::string& check : from.checked) {
    lines.emplace_back("checked", check);
  }
  for (const std::string& doubt : from.doubts) {
    lines.emplace_back("doubt", doubt);
  }
  std::string text;
  for (const auto& [label, value] : lines) {
    if (!value.empty()) {
      text += fmt::format("{}{:<14}{}", text.empty() ? "" : "\n", label, plainProse(value));
    }
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

Result<std::string> cudaRuntime(const ModelNewInput& input) {
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

Values moduleValues(const ModelNewInput& input, const OriginalModule& original, const PlanText& plan) {
  const bool isCpu = input.program.target == domain::Target::Cpu;
  const std::string source = input.program.source + (isCpu ? cpuLaunchers(input.program.plan) : "");
  return {{"TITLE", plainProse(input.task.name)},
          {"PROVENANCE", provenanceText(input)},
          {"FUTURE_IMPORTS", original.futureImports.empty() ? "" : original.futureImports + "\n"},
          {"ORIGINAL", original.text},
          {"SOURCE", pythonBlock(withoutCheckedWords(source))},
          {"INPUTS", plan.inputs},
          {"USER_COUNT", plan.userCount},
          {"MUTATED", fmt::format("({})", plan.mutated)},
          {"TRAINING", input.task.mode == domain::ModuleMode::Train ? "True" : "False"},
          {"DEVICE", isCpu ? "cpu" : "cuda"},
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
          {"MUTATION_COUNT", plan.mutationCount}};
}

}  // namespace

Result<std::string> writeModelNew(const ModelNewInput& input) {
  SWAGE_TRY_ASSIGN(const OriginalModule original,
                   extractModule(input.taskSource, input.task.source.className, input.task.source.overrides));
  SWAGE_TRY_ASSIGN(const PlanText plan, writePlan({input.task, input.program, input.call, input.constants}));
  SWAGE_TRY_ASSIGN(std::string constructor, constructorBody(input, original));
  Values values = moduleValues(input, original, plan);
  values.emplace_back("CONSTRUCTOR", std::move(constructor));
  if (input.program.target == domain::Target::Cpu) {
    values.emplace_back("TARGET", cpuRuntime(input));
  } else {
    SWAGE_TRY_ASSIGN(std::string runtime, cudaRuntime(input));
    values.emplace_back("TARGET", std::move(runtime));
  }
  return filled(moduleTemplate(), values);
}

}  // namespace swage::exporting
