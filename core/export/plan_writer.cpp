// SPDX-License-Identifier: Apache-2.0
#include "core/export/plan_writer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/domain/aten.h"
#include "core/export/python_text.h"

namespace swage::exporting {

namespace {

using domain::GraphInput;
using domain::InputKind;
using domain::OutputKind;
using domain::ValueId;

constexpr std::int64_t kHugePageBytes = std::int64_t{4} << 20U;
constexpr std::size_t kLargestConstants = std::size_t{1} << 20U;

std::string variable(ValueId id) {
  return fmt::format("v{}", id.value());
}

// `bn.weight` to `self._modules["bn"]._parameters` and `"weight"`.
StateTensor stateTensor(const GraphInput& input, std::string_view registry) {
  std::string text = "self";
  std::string_view path = input.name;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    text += fmt::format("._modules[{}]", pythonString(path.substr(0, dot)));
    path.remove_prefix(dot + 1);
  }
  return {fmt::format("{}.{}", text, registry), pythonString(path)};
}

// As a module in training mode calls it, which is how it was verified; the saved values are for gradients.
constexpr std::string_view kBatchNormText = R"(
def _swage_batch_norm(x, weight, bias, mean, variance, training, momentum, epsilon):
    mean, variance = mean.clone(), variance.clone()
    result = torch.batch_norm(x, weight, bias, mean, variance, training, momentum, epsilon, True)
    return result, None, None, mean, variance


)";

class PlanWriter {
 public:
  explicit PlanWriter(const PlanInput& input) : m_in(input), m_plan(input.program.plan) {}

  Result<PlanText> run() {
    SWAGE_TRY(checkShape());
    SWAGE_TRY(writeInputs());
    findLastUses();
    for (std::size_t i = 0; i < m_plan.steps.size(); ++i) {
      SWAGE_TRY(writeStep(i));
    }
    SWAGE_TRY(writeReturn());
    SWAGE_TRY_ASSIGN(m_text.call, writeCall({m_in.call, m_userInputs, m_userOutputs}));
    return std::move(m_text);
  }

 private:
  [[nodiscard]] Result<> checkShape() const {
    if (const std::string defect = findDefect(m_plan); !defect.empty()) {
      return malformedPlan(defect);
    }
    if (m_plan.inputs.size() != m_in.task.graph.inputs.size() ||
        m_plan.outputs.size() != m_in.task.graph.outputs.size()) {
      return malformedPlan(fmt::format("it has {} inputs and {} outputs, the task's graph {} and {}",
                                       m_plan.inputs.size(), m_plan.outputs.size(), m_in.task.graph.inputs.size(),
                                       m_in.task.graph.outputs.size()));
    }
    return {};
  }

  [[nodiscard]] const domain::TensorType& type(ValueId id) const {
    return m_plan.buffers[static_cast<std::size_t>(id.value())];
  }

  [[nodiscard]] std::string specification(ValueId id) const {
    const domain::TensorType& tensor = type(id);
    return fmt::format("{}, {}, {}", pythonTuple(tensor.shape), pythonTuple(tensor.strides), pythonDtype(tensor.dtype));
  }

  // The arguments of forward come first: everything else that looks at tensors[0] or counts users relies on it.
  Result<> writeInputs() {
    for (const InputKind kind : {InputKind::User, InputKind::Parameter, InputKind::Buffer}) {
      for (std::size_t i = 0; i < m_plan.inputs.size(); ++i) {
        if (m_in.task.graph.inputs[i].kind == kind) {
          m_userInputs += kind == InputKind::User ? 1 : 0;
          addInput(i);
        }
      }
    }
    if (m_inputCount == 0) {
      return Error(ErrorKind::Unsupported, "cannot export a task that reads neither arguments nor parameters",
                   "Give the module an input.");
    }
    m_text.userCount = std::to_string(m_userInputs);
    return writeConstants();
  }

  void addInput(std::size_t index) {
    const GraphInput& input = m_in.task.graph.inputs[index];
    const ValueId id = m_plan.inputs[index];
    const domain::Shape& shape = type(id).shape;
    m_text.inputs += fmt::format("    ({}, {}),\n", specification(id), pythonString(input.name));
    m_text.hasUnitExtents = m_text.hasUnitExtents || std::find(shape.begin(), shape.end(), 1) != shape.end();
    m_text.parameters += ", " + variable(id);
    if (input.kind != InputKind::User) {
      m_text.state.push_back(stateTensor(input, input.kind == InputKind::Parameter ? "_parameters" : "_buffers"));
    }
    if (input.kind == InputKind::Buffer) {
      m_places[input.name] = m_inputCount;
    }
    m_defined.insert(id);
    m_fixed.insert(id);
    ++m_inputCount;
  }

  Result<> writeConstants() {
    std::size_t total = 0;
    int index = 0;
    for (std::size_t i = 0; i < m_plan.inputs.size(); ++i) {
      const GraphInput& input = m_in.task.graph.inputs[i];
      if (input.kind != InputKind::Constant) {
        continue;
      }
      const auto found = m_in.constants.find(input.name);
      if (found == m_in.constants.end() ||
          found->second.size() != static_cast<std::size_t>(type(m_plan.inputs[i]).byteCount())) {
        return malformedPlan(fmt::format("the value of the constant {} is missing", input.name));
      }
      total += found->second.size();
      if (total > kLargestConstants) {
        return Error(ErrorKind::Unsupported,
                     fmt::format("cannot export: constant tensors such as {} take more than {} bytes", input.name,
                                 kLargestConstants),
                     "Register the tensor with register_buffer, so that it is part of the module's state.");
      }
      SWAGE_TRY_ASSIGN(const std::string bytes, pythonBytes(found->second, Packing::Zlib));
      m_text.constants += fmt::format("    ({}, {}),\n", specification(m_plan.inputs[i]), bytes);
      m_text.plan += fmt::format("    {} = _swage_constant({}, device)\n", variable(m_plan.inputs[i]), index++);
      m_defined.insert(m_plan.inputs[i]);
      m_fixed.insert(m_plan.inputs[i]);
    }
    return {};
  }

  void findLastUses() {
    for (std::size_t i = 0; i < m_plan.steps.size(); ++i) {
      for (const ValueId id : mentioned(m_plan.steps[i])) {
        m_lastUse[id] = i;
      }
    }
    for (const ValueId id : m_plan.outputs) {
      m_fixed.insert(id);
    }
  }

  [[nodiscard]] static std::vector<ValueId> mentioned(const domain::PlanStep& step) {
    std::vector<ValueId> ids;
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      for (const domain::KernelArgument& argument : kernel->arguments) {
        if (const std::optional<ValueId> id = domain::bufferOf(argument)) {
          ids.push_back(*id);
        }
      }
    } else if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
      ids = inputsOf(aten->node);
      std::copy_if(aten->node.outputs.begin(), aten->node.outputs.end(), std::back_inserter(ids),
                   [](ValueId id) { return id.isValid(); });
    } else {
      ids.push_back(std::get<domain::ZeroStep>(step).buffer);
    }
    return ids;
  }

  Result<> writeStep(std::size_t index) {
    const domain::PlanStep& step = m_plan.steps[index];
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      SWAGE_TRY(writeKernel(*kernel));
    } else if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
      SWAGE_TRY(writeAten(*aten));
    } else {
      const ValueId buffer = std::get<domain::ZeroStep>(step).buffer;
      allocate(buffer);
      m_text.plan += fmt::format("    {}.zero_()\n", variable(buffer));
    }
    dropUnused(index);
    return {};
  }

  // A tensor that no step will use any more gives its memory back, as it would in eager execution.
  void dropUnused(std::size_t index) {
    std::vector<std::string> dead;
    for (const ValueId id : mentioned(m_plan.steps[index])) {
      if (m_lastUse[id] == index && !m_fixed.contains(id) && m_defined.erase(id) > 0) {
        dead.push_back(variable(id));
      }
    }
    if (!dead.empty()) {
      m_text.plan += fmt::format("    del {}\n", fmt::join(dead, ", "));
    }
  }

  void allocate(ValueId id) {
    if (!m_defined.insert(id).second) {
      return;
    }
    const domain::TensorType& tensor = type(id);
    std::string text = fmt::format("torch.empty_strided({}, {}, dtype={}, device=device)", pythonTuple(tensor.shape),
                                   pythonTuple(tensor.strides), pythonDtype(tensor.dtype));
    if (domain::factsOf(m_in.program.language).device == domain::DeviceKind::Cpu &&
        tensor.byteCount() >= kHugePageBytes) {
      text = fmt::format("_swage_huge_pages({})", text);
    }
    m_text.plan += fmt::format("    {} = {}\n", variable(id), text);
  }

  struct ArgumentText {
    PlanWriter& writer;
    std::string operator()(ValueId id) const { return variable(id) + ".data_ptr()"; }
    std::string operator()(const domain::TensorMap& map) const {
      return fmt::format("{}[{}.data_ptr()]", writer.mapName(map), variable(map.buffer));
    }
    std::string operator()(domain::Int32 value) const { return std::to_string(value.value); }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(float value) const { return pythonFloat(static_cast<double>(value)); }
    std::string operator()(double value) const { return pythonFloat(value); }
  };

  // Maps that agree in all but their buffer are one, whose addresses tell the buffers apart.
  std::string mapName(const domain::TensorMap& map) {
    const std::string text = fmt::format(
        "_SwageTensorMap(\n    element={}, offset={}, sizes={}, strides={}, box={}, steps={},\n    swizzle={}, "
        "promotion={}, fill={})\n",
        static_cast<int>(map.element), map.offset * domain::byteSize(map.element), pythonTuple(map.sizes),
        pythonTuple(map.strides), pythonTuple(map.box), pythonTuple(map.elementStrides), static_cast<int>(map.swizzle),
        static_cast<int>(map.promotion), static_cast<int>(map.fill));
    auto [found, isNew] = m_maps.try_emplace(text, fmt::format("_swage_map{}", m_maps.size()));
    if (isNew) {
      m_text.maps += fmt::format("{} = {}", found->second, text);
    }
    return found->second;
  }

  Result<> writeKernel(const domain::KernelStep& step) {
    std::vector<std::string> arguments;
    for (const domain::KernelArgument& argument : step.arguments) {
      if (std::holds_alternative<domain::TensorMap>(argument) &&
          domain::factsOf(m_in.program.language).launch == domain::LaunchConvention::ArgumentArray) {
        return malformedPlan(fmt::format("'{}' takes a tensor map, which no kernel on a CPU does", step.entry));
      }
      if (const std::optional<ValueId> id = domain::bufferOf(argument)) {
        allocate(*id);
        relayout(*id);
      }
      arguments.push_back(std::visit(ArgumentText{*this}, argument));
    }
    m_text.plan += fmt::format("    steps[{}]({})  # {}\n", m_kernelCount++, fmt::join(arguments, ", "), step.entry);
    return {};
  }

  // An operator chooses the layout of its result itself; a kernel was verified with one.
  void relayout(ValueId id) {
    if (m_fromOperator.erase(id) > 0) {
      const domain::TensorType& tensor = type(id);
      m_text.plan += fmt::format("    {} = _swage_layout({}, {}, {})\n", variable(id), variable(id),
                                 pythonTuple(tensor.shape), pythonTuple(tensor.strides));
    }
  }

  Result<> writeAten(const domain::AtenStep& step) {
    std::vector<std::string> arguments;
    for (const ValueId id : inputsOf(step.node)) {
      if (!m_defined.contains(id)) {
        return malformedPlan(fmt::format("{} reads value {}, which no earlier step writes", step.node.op, id.value()));
      }
    }
    for (const domain::Argument& argument : step.node.args) {
      arguments.push_back(pythonArgument(argument));
    }
    for (const auto& [name, argument] : step.node.kwargs) {
      arguments.push_back(fmt::format("{}={}", name, pythonArgument(argument)));
    }
    const std::string call = fmt::format("{}({})", operatorName(step.node), fmt::join(arguments, ", "));
    m_text.plan += fmt::format("    {}{}\n", targets(step.node), call);
    return {};
  }

  std::string targets(const domain::Node& node) {
    std::vector<std::string> names;
    for (const ValueId id : node.outputs) {
      names.push_back(id.isValid() ? variable(id) : "_");
      if (id.isValid()) {
        m_defined.insert(id);
        m_fromOperator.insert(id);
      }
    }
    if (names.empty()) {
      return "";
    }
    return fmt::format("{}{} = ", fmt::join(names, ", "), names.size() == 1 && domain::returnsList(node.op) ? "," : "");
  }

  std::string operatorName(const domain::Node& node) {
    if (domain::isModuleBatchNorm(node)) {
      m_text.operators += std::exchange(m_hasBatchNorm, true) ? "" : kBatchNormText;
      return "_swage_batch_norm";
    }
    auto [found, isNew] = m_operators.try_emplace(node.op);
    if (isNew) {
      std::string name = node.op;
      std::replace(name.begin(), name.end(), '.', '_');
      found->second = "_swage_" + name;
      m_text.operators += fmt::format("{} = torch.ops.{}\n", found->second, node.op);
    }
    return found->second;
  }

  Result<> writeReturn() {
    std::vector<std::string> mutations;
    std::vector<std::string> users;
    for (std::size_t i = 0; i < m_plan.outputs.size(); ++i) {
      const ValueId id = m_plan.outputs[i];
      const domain::GraphOutput& output = m_in.task.graph.outputs[i];
      if (!m_defined.contains(id)) {
        return malformedPlan(fmt::format("its output {} is value {}, which no step writes", i, id.value()));
      }
      if (output.kind == OutputKind::User) {
        users.push_back(variable(id));
        continue;
      }
      const GraphInput buffer{.value = id, .kind = InputKind::Buffer, .name = output.name};
      const StateTensor place = stateTensor(buffer, "_buffers");
      m_text.store +=
          fmt::format("        {}.get({}).copy_(outputs[{}])\n", place.registry, place.key, mutations.size());
      m_text.written.push_back(m_places[output.name]);
      mutations.push_back(variable(id));
    }
    m_userOutputs = users.size();
    mutations.insert(mutations.end(), users.begin(), users.end());
    m_text.plan += fmt::format("    return ({},)\n", fmt::join(mutations, ", "));
    return {};
  }

  PlanInput m_in;
  const domain::LaunchPlan& m_plan;
  PlanText m_text;
  std::set<ValueId> m_defined;
  std::set<ValueId> m_fixed;         // inputs and outputs: never dropped
  std::set<ValueId> m_fromOperator;  // whose layout has not been checked yet
  std::map<ValueId, std::size_t> m_lastUse;
  std::map<std::string, std::string> m_operators;
  bool m_hasBatchNorm = false;
  std::map<std::string, std::string> m_maps;    // by what makes them
  std::map<std::string, std::size_t> m_places;  // of buffers in _SWAGE_INPUTS
  std::size_t m_inputCount = 0;
  std::size_t m_userInputs = 0;
  std::size_t m_kernelCount = 0;
  std::size_t m_userOutputs = 0;
};

}  // namespace

Result<PlanText> writePlan(const PlanInput& input) {
  return PlanWriter(input).run();
}

}  // namespace swage::exporting
