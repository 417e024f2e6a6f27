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
#include "core/domain/cubins.h"
#include "core/export/launchers.h"
#include "core/export/plan_writer.h"
#include "core/export/python_source.h"
#include "core/export/python_text.h"
#include "core/export/template_text.h"
#include "core/export/templates.h"

namespace swage::exporting {

namespace {

constexpr std::size_t kTextColumns = 118;
constexpr std::size_t kCodeColumns = 120;

// A line whose ends go on below its value.
std::string wrapped(std::string line) {
  constexpr std::size_t kIndent = 14;
  std::string text;
  while (line.size() > kTextColumns) {
    const std::size_t space = line.rfind(' ', kTextColumns);
    if (space == std::string::npos || space <= kIndent) {
      break;
    }
    text += line.substr(0, space) + "\n";
    line = std::string(kIndent, ' ') + line.substr(space + 1);
  }
  return text + line;
}

// One fact after another, as many to a line as fit; what several facts in a row are about is said once.
std::string provenanceText(const ModelNewInput& input) {
  std::vector<std::string> lines;
  std::string previous;
  for (const auto& [label, value] : provenanceLines(input.provenance, input.task, input.device)) {
    const std::string prose = plainProse(value);
    const std::string more = fmt::format("; {}{}", label == previous ? "" : label + " ", prose);
    const bool standsOut = label == "warning";
    if (!standsOut && !lines.empty() && lines.back().size() + more.size() <= kTextColumns) {
      lines.back() += more;
    } else {
      lines.push_back(fmt::format("{:<14}{}", label, prose));
    }
    previous = label;
  }
  std::transform(lines.begin(), lines.end(), lines.begin(), wrapped);
  return fmt::format("{}", fmt::join(lines, "\n"));
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
      "    is_pair = len(values) == 2 and isinstance(values[0], list) and isinstance(values[1], dict)\n"
      "    return values if is_pair else [values, {{}}]\n",
      kOriginalInitInputs);
}

// The flags that the kernels were verified with, and the candidate's own.
std::string cpuFlags(const domain::Program& program) {
  std::string flags =
      R"("-std=c++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
                "-fno-exceptions", "-shared", "-fPIC")";
  for (const std::string& flag : program.compileFlags) {
    flags += ", " + pythonString(flag);
  }
  return flags;
}

std::string withoutKernels() {
  return "\n\ndef _swage_steps(_):\n    \"\"\"The plan has operators only.\"\"\"\n    return ()\n";
}

std::string cpuRuntime(const ModelNewInput& input) {
  if (!input.program.plan.hasKernels()) {
    return withoutKernels();
  }
  return filled(cpuTemplate(), {{"STEPS", cpuStepTable(input.program.plan)}, {"FLAGS", cpuFlags(input.program)}});
}

std::string mapsText(const PlanText& plan) {
  return plan.maps.empty() ? std::string() : fmt::format("{}{}\n\n", cudaMapsTemplate(), plan.maps);
}

// A kernel runs in the context of PyTorch's current device.
constexpr std::string_view kCurrentDevice =
    "_swage_current_device = getattr(torch._C, \"_cuda_getDevice\", torch.cuda.current_device)  # the faster one\n";

// Launch attributes are made once, and configurations point to them.
TemplateValues attributeValues(const domain::LaunchPlan& plan) {
  if (!hasLaunchAttributes(plan)) {
    return {{"ATTRIBUTES", ""}, {"LAUNCH_ATTRIBUTES", "0, 0"}};
  }
  return {
      {"ATTRIBUTES",
       "    attributes = _ctypes.create_string_buffer(b\"\".join(_struct.pack(\"5I52x\", *a) for a in "
       "step[\"attributes\"]))\n"},
      {"LAUNCH_ATTRIBUTES", "\n                            _ctypes.addressof(attributes), len(step[\"attributes\"])"}};
}

Result<std::string> cudaRuntime(const ModelNewInput& input, const PlanText& text) {
  const domain::LaunchPlan& plan = input.program.plan;
  if (!plan.hasKernels()) {
    return std::string(kCurrentDevice) + withoutKernels();
  }
  if (input.binary.empty()) {
    return Error(ErrorKind::InvalidInput, "cannot export a CUDA candidate without its compiled kernels",
                 "Verify the candidate again on its device.");
  }
  const int capability = input.device.computeCapability;
  std::string flags;
  for (const std::string& flag : input.program.compileFlags) {
    flags += ", " + pythonString(flag);
  }
  TemplateValues values = attributeValues(plan);
  values.insert(values.end(),
                {{"STEPS", cudaStepTable(plan)},
                 {"FLAGS", flags},
                 {"CAPABILITY", fmt::format("({}, {})", capability / 10, capability % 10)},
                 {"CURRENT_DEVICE", std::string(kCurrentDevice)},
                 {"LAYOUT", text.maps.empty() ? "step[\"types\"]" : "_swage_packing(driver, function, step)"},
                 {"PREPARE", cudaPreparation(plan)},
                 {"MAPS", mapsText(text)}});
  return filled(cudaTemplate(), values);
}

// The end of the file, where it is in nobody's way: the verified machine code, each cubin on one line.
Result<std::string> carriedBinary(const ModelNewInput& input) {
  if (!input.program.plan.hasKernels()) {
    return std::string();
  }
  std::string packed;
  for (const std::string_view cubin : domain::cubinsIn(input.binary)) {
    SWAGE_TRY_ASSIGN(const std::string text, packedText(cubin, Packing::Zlib));
    packed += fmt::format("    _zlib.decompress(_base64.b64decode(\"{}\")),\n", text);
  }
  return fmt::format(
      "\n\n# The verified machine code, so that nothing is compiled where it fits.\n_SWAGE_BINARIES = [\n{}]\n",
      packed);
}

std::string constantsText(const PlanText& plan) {
  return plan.constants.empty()
             ? ""
             : fmt::format(
                   "# Shape, strides, dtype and compressed bytes of tensors that are neither arguments nor "
                   "state.\n_SWAGE_CONSTANTS = (\n{})\n",
                   plan.constants);
}

// The functions of helpers.py.in that the text calls, and those that these call, which come after them.
std::string helpersText(std::string_view text) {
  constexpr std::string_view kMark = "#! swage:helper ";
  std::string helpers;
  std::string_view rest = helpersTemplate();
  for (std::size_t at = rest.find(kMark); at != std::string_view::npos; at = rest.find(kMark)) {
    rest.remove_prefix(at + kMark.size());
    const std::size_t lineEnd = rest.find('\n');
    const std::string name(rest.substr(0, lineEnd));
    const std::string_view body = rest.substr(lineEnd + 1, rest.find(kMark) - lineEnd - 1);
    if (text.find(name + "(") != std::string_view::npos || helpers.find(name + "(") != std::string::npos) {
      helpers += fmt::format("\n\n{}", body);
    }
  }
  return helpers;
}

// Of the modules that the text mentions by the names that they get.
std::string importsText(std::string_view text) {
  constexpr std::array<std::string_view, 15> kModules{"base64",  "collections", "contextlib", "ctypes",   "functools",
                                                      "hashlib", "os",          "pathlib",    "shlex",    "shutil",
                                                      "struct",  "subprocess",  "tempfile",   "warnings", "zlib"};
  std::string imports;
  for (const std::string_view module : kModules) {
    if (text.find(fmt::format("_{}.", module)) != std::string_view::npos) {
      imports += fmt::format("import {0} as _{0}\n", module);
    }
  }
  return text.find("_thread.") != std::string_view::npos ? imports + "import _thread\n" : imports;
}

// How the plan is run: where it is captured or forward changes buffers, by a method.
TemplateValues runValues(const PlanText& plan, bool isCaptured) {
  if (plan.store.empty() && !isCaptured) {
    const std::string call = "_swage_plan(case.steps, case.device, *tensors)";
    return {{"RUN_FOR_GRADIENTS", call}, {"RUN", call}, {"RUN_METHOD", ""}};
  }
  constexpr std::string_view kCaptured =
      "        outputs = _swage_captured(case, tensors)\n"
      "        if outputs is not None:\n"
      "            return outputs\n";
  return {{"RUN_FOR_GRADIENTS", "module._swage_run(case, tensors)"},
          {"RUN", "self._swage_run(case, tensors)"},
          {"RUN_METHOD", fmt::format("\n    def _swage_run(self, case, tensors):\n"
                                     "        \"\"\"Runs the plan{} and returns what forward returns.\"\"\"\n"
                                     "{}        outputs = _swage_plan(case.steps, case.device, *tensors)\n{}"
                                     "        return outputs[{}:]\n",
                                     plan.store.empty() ? "" : ", gives the buffers their new values",
                                     isCaptured ? kCaptured : "", plan.store, plan.written.size())}};
}

// A tuple.
std::string writtenText(const PlanText& plan) {
  return fmt::format("({}{})", fmt::join(plan.written, ", "), plan.written.size() == 1 ? "," : "");
}

// What the helper _swage_captured has to know of the plan.
std::string captureText(const PlanText& plan) {
  return fmt::format("_SWAGE_WRITTEN = {}  # the buffers whose new values are the first outputs of the plan\n",
                     writtenText(plan));
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
  return !plan.call.match.empty();
}

// Of more tensors the registries are looked up once: a model of a hundred layers has hundreds.
constexpr std::size_t kMostLookups = 16;

// Binds `tensors`: what the call brings, then what the module holds. That is looked up at each call, so that a
// parameter that was replaced is noticed.
std::string argumentsText(const PlanText& plan) {
  const std::string own = isNested(plan) ? "tensors" : "args";
  if (plan.state.empty()) {
    return fmt::format("{}        tensors = {}", plan.call.match, isNested(plan) ? "tuple(tensors)" : own);
  }
  if (plan.state.size() > kMostLookups) {
    return fmt::format("{}        tensors = (*{}, *[registry.get(key) for registry, key in self._swage_state])",
                       plan.call.match, own);
  }
  std::vector<std::string> state;
  for (const StateTensor& tensor : plan.state) {
    state.push_back(fmt::format("{}.get({})", tensor.registry, tensor.key));
  }
  const std::string line = fmt::format("        tensors = (*{}, {})", own, fmt::join(state, ", "));
  return plan.call.match + (line.size() <= kCodeColumns ? line
                                                        : fmt::format("        tensors = (*{},\n                   {})",
                                                                      own, fmt::join(state, ",\n                   ")));
}

// What the constructor does for argumentsText(): other arguments may have made other submodules.
std::string stateText(const PlanText& plan) {
  if (plan.state.size() <= kMostLookups) {
    return {};
  }
  std::string text = "        self._swage_state = [] if not self._swage_same_constructor else [\n";
  for (const StateTensor& tensor : plan.state) {
    text += fmt::format("            ({}, {}),\n", tensor.registry, tensor.key);
  }
  return text + "        ]\n";
}

// When tensors whose case is known, or has just been examined, do not get the kernels.
std::string unfitText(bool isCpu) {
  return isCpu ? "case is None or [m.training for m in self._swage_modules] != self._swage_modes"
               : "(case is None or case.index != _swage_current_device()\n"
                 "                or [m.training for m in self._swage_modules] != self._swage_modes)";
}

// What differs between calls with tensors only and those with a nest of arguments, and where forward changes buffers.
TemplateValues gradientValues(const PlanText& plan) {
  return {
      {"KEPT_NAMES", isNested(plan) ? ", ctx.args" : ""},
      {"KEPT_ARGUMENTS",
       isNested(plan) ? ", torch.utils._pytree.tree_map_only(torch.Tensor, lambda _: _SwageTensor, args)" : ""},
      {"SAVED", plan.written.empty()
                    ? "tensors"
                    : fmt::format("(t.clone() if i in {} else t for i, t in enumerate(tensors))", writtenText(plan))},
      {"SAVED_COMMENT",
       plan.written.empty() ? "" : "        # The plan overwrites buffers; backward needs what they held before.\n"},
      {"BACKWARD_STATEMENTS",
       isNested(plan)
           ? "        # Tensors were replaced by their stand-in, in the order in which they are saved.\n"
             "        users = iter(inputs[:_SWAGE_USER_INPUTS])\n"
             "        args = torch.utils._pytree.tree_map(lambda leaf: next(users) if leaf is _SwageTensor else leaf, "
             "ctx.args)\n"
           : ""},
      {"BACKWARD_ARGUMENTS", isNested(plan) ? "args" : fmt::format("tuple(inputs[:{}])", plan.userCount)}};
}

// The module as it was given most often brings this in.
std::string torchImport(const OriginalModule& original) {
  return original.text.starts_with("import torch\n") || original.text.find("\nimport torch\n") != std::string::npos
             ? ""
             : "import torch\n\n";
}

constexpr std::string_view kCaptureNote =
    "\nThe steps of the plan are launched as one CUDA graph. It keeps their memory and a copy of the arguments.\n";

constexpr std::string_view kByName =
    "        if kwargs and kwargs.keys() == set(_SWAGE_NAMES[len(args):]):\n"
    "            args, kwargs = (*args, *(kwargs[name] for name in _SWAGE_NAMES[len(args):])), {}\n";

TemplateValues moduleValues(const ModelNewInput& input, const OriginalModule& original, const PlanText& plan) {
  const domain::LanguageFacts& language = domain::factsOf(input.program.language);
  const bool isCpu = language.launch == domain::LaunchConvention::ArgumentArray;
  const bool isCaptured = input.program.plan.isCaptured && !isCpu;
  const std::string source = input.program.source + (isCpu ? cpuLaunchers(input.program.plan) : "");
  TemplateValues values{
      {"TITLE", plainProse(input.task.name)},
      {"PROVENANCE", provenanceText(input)},
      {"FUTURE_IMPORTS", original.futureImports.empty() ? "" : original.futureImports + "\n"},
      {"IMPORT_TORCH", torchImport(original)},
      {"ORIGINAL", original.text},
      {"SOURCE", pythonBlock(withoutCheckedWords(source))},
      {"INPUTS", plan.inputs},
      {"USER_COUNT", plan.userCount},
      {"TRAINING", input.task.mode == domain::ModuleMode::Train ? "True" : "False"},
      {"DEVICE", std::string(domain::name(language.device))},
      {"UNFIT", unfitText(isCpu)},
      {"OTHER_COUNT", plan.call.otherCount},
      {"BY_NAME", plan.call.names.empty() ? "" : std::string(kByName)},
      {"OTHER_STRIDES",
       plan.hasUnitExtents ? "not _swage_same_strides(tensor, strides)" : "tensor.stride() != strides"},
      {"ALIGNMENT", alignmentOf(input)},
      {"CONSTANTS",
       plan.call.names + plan.call.classes + (isCaptured ? captureText(plan) : std::string()) + constantsText(plan)},
      {"OPERATORS", plan.operators},
      {"HELPERS", helpersText(plan.plan + plan.call.match + (plan.hasUnitExtents ? "_swage_same_strides(" : "") +
                              (isCaptured ? "_swage_captured(" : ""))},
      {"CAPTURE_NOTE", std::string(isCaptured ? kCaptureNote : "")},
      {"PARAMETERS", plan.parameters},
      {"PLAN", plan.plan},
      {"WHAT", std::string(whatRuns(input.program.plan))},
      {"CLASS_SUMMARY",
       plainProse(fmt::format(
           "{} {}.", input.task.source.className,
           input.program.plan.hasKernels() ? "with verified kernels" : "as one CUDA graph of PyTorch's operators"))},
      {"RESULT", plan.call.result},
      {"STATE", stateText(plan)},
      {"ARGUMENTS", argumentsText(plan)}};
  for (const TemplateValues& more : {gradientValues(plan), runValues(plan, isCaptured)}) {
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

std::string_view whatRuns(const domain::LaunchPlan& plan) {
  return plan.hasKernels() ? "kernels that were verified against PyTorch" : "PyTorch's own operators as one CUDA graph";
}

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
  values.emplace_back("IMPORTS", importsText(filled(moduleTemplate(), values)));
  return filled(moduleTemplate(), values);
}

}  // namespace swage::exporting
