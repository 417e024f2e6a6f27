// SPDX-License-Identifier: Apache-2.0
#include "core/verify/plan_program.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/scope_exit.h"
#include "core/domain/aten.h"
#include "core/verify/eager_batch_norm.h"
#include "core/verify/operator_policy.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using device::DeviceFailure;
using device::DeviceStatus;
using domain::ValueId;

constexpr std::uintptr_t kKernelAlignment = 16;  // vector accesses of kernels assume it

std::size_t bufferIndex(ValueId id) {
  return static_cast<std::size_t>(id.value());
}

std::string nameOf(std::size_t index, const domain::PlanStep& step) {
  if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
    return fmt::format("step {}: {}", index, kernel->entry);
  }
  if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
    return fmt::format("step {}: {}", index, aten->node.op);
  }
  return fmt::format("step {}: zero", index);
}

}  // namespace

DeviceFailure asDeviceFailure(const StepFailure& failed) {
  return {fmt::format("{}: {}", failed.step, failed.failure.detail), failed.failure.poisoned,
          failed.failure.outOfMemory};
}

// Builds a PlanProgram step by step, keeping track of which buffers hold something.
class PlanProgram::Binder {
 public:
  Binder(PlanProgram& program, device::KernelModule* module, const std::set<std::string>& taskOperators)
      : m_program(program),
        m_module(module),
        m_taskOperators(taskOperators),
        m_defined(program.m_plan.buffers.size(), false) {}

  [[nodiscard]] std::optional<domain::Evaluation> bindAll() {
    const domain::LaunchPlan& plan = m_program.m_plan;
    for (const ValueId id : plan.inputs) {
      m_defined[bufferIndex(id)] = true;
    }
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const std::string name = nameOf(i, plan.steps[i]);
      auto failed = std::visit([&](const auto& step) { return bind(step, name); }, plan.steps[i]);
      if (failed) {
        return failed;
      }
    }
    for (const ValueId id : plan.outputs) {
      if (!m_defined[bufferIndex(id)]) {
        return domain::Rejected{"plan", fmt::format("no step writes output buffer {}", id.value())};
      }
    }
    freeAfterLastUse();
    return std::nullopt;
  }

 private:
  std::optional<domain::Evaluation> bind(const domain::KernelStep& step, const std::string& name) {
    if (m_module == nullptr) {
      return domain::LaunchFailed{name, "the candidate has no binary"};
    }
    auto kernel = m_module->bind(step);
    if (!kernel) {
      return domain::LaunchFailed{name, kernel.error().detail};
    }
    BoundKernel bound;
    bound.kernel = std::move(*kernel);
    std::vector<std::size_t> allocated;
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      bound.values.push_back(std::visit([](const auto& value) { return valueOf(value); }, step.arguments[i]));
      if (const std::optional<ValueId> id = domain::bufferOf(step.arguments[i])) {
        bound.buffers.emplace_back(i, bufferIndex(*id));
        define(bufferIndex(*id), allocated);
      }
    }
    m_program.m_steps.push_back({name, std::move(bound), false, std::move(allocated), {}});
    return std::nullopt;
  }

  std::optional<domain::Evaluation> bind(const domain::AtenStep& step, const std::string& name) {
    if (std::string reason = whyForbidden(step.node, m_taskOperators); !reason.empty()) {
      return domain::Rejected{"operator", fmt::format("{}: {}", name, reason)};
    }
    for (const ValueId id : domain::inputsOf(step.node)) {
      if (!m_defined[bufferIndex(id)]) {
        return domain::Rejected{"plan", fmt::format("{} reads buffer {} before any step writes it", name, id.value())};
      }
    }
    auto call = OperatorCall::bind(step.node, CallMode{m_program.m_torchDevice, std::nullopt});
    if (!call) {
      return domain::Rejected{"operator", fmt::format("{}: {}", name, call.error().message())};
    }
    for (const ValueId id : step.node.outputs) {
      if (id.isValid()) {
        m_defined[bufferIndex(id)] = true;
      }
    }
    m_program.m_steps.push_back({name, std::move(*call), domain::isModuleBatchNorm(step.node), {}, {}});
    return std::nullopt;
  }

  std::optional<domain::Evaluation> bind(const domain::ZeroStep& step, const std::string& name) {
    std::vector<std::size_t> allocated;
    define(bufferIndex(step.buffer), allocated);
    m_program.m_steps.push_back({name, BoundZero{bufferIndex(step.buffer)}, false, std::move(allocated), {}});
    return std::nullopt;
  }

  void define(std::size_t buffer, std::vector<std::size_t>& allocated) {
    if (!m_defined[buffer]) {
      m_defined[buffer] = true;
      allocated.push_back(buffer);
    }
  }

  static ArgumentValue valueOf(ValueId) { return {.address = nullptr}; }
  static ArgumentValue valueOf(const domain::TensorMap&) { return {.address = nullptr}; }
  static ArgumentValue valueOf(domain::Int32 value) { return {.int32 = value.value}; }
  static ArgumentValue valueOf(std::int64_t value) { return {.int64 = value}; }
  static ArgumentValue valueOf(float value) { return {.float32 = value}; }
  static ArgumentValue valueOf(double value) { return {.float64 = value}; }

  [[nodiscard]] static std::vector<ValueId> mentioned(const domain::PlanStep& step) {
    std::vector<ValueId> ids;
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      for (const auto& argument : kernel->arguments) {
        if (const std::optional<ValueId> id = domain::bufferOf(argument)) {
          ids.push_back(*id);
        }
      }
    } else if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
      ids = domain::inputsOf(aten->node);
      std::copy_if(aten->node.outputs.begin(), aten->node.outputs.end(), std::back_inserter(ids),
                   [](ValueId id) { return id.isValid(); });
    } else {
      ids.push_back(std::get<domain::ZeroStep>(step).buffer);
    }
    return ids;
  }

  void freeAfterLastUse() {
    const domain::LaunchPlan& plan = m_program.m_plan;
    std::vector<bool> done(plan.buffers.size(), false);
    for (const ValueId id : plan.outputs) {
      done[bufferIndex(id)] = true;
    }
    for (std::size_t i = plan.steps.size(); i-- > 0;) {
      for (const ValueId id : mentioned(plan.steps[i])) {
        if (!done[bufferIndex(id)]) {
          done[bufferIndex(id)] = true;
          m_program.m_steps[i].freed.push_back(bufferIndex(id));
        }
      }
    }
  }

  PlanProgram& m_program;
  device::KernelModule* m_module;
  const std::set<std::string>& m_taskOperators;
  std::vector<bool> m_defined;
};

PlanProgram::Bound PlanProgram::bind(const domain::LaunchPlan& plan, device::Device& device,
                                     device::KernelModule* module, const std::set<std::string>& taskOperators,
                                     c10::Device torchDevice) {
  PlanProgram program(plan, device, torchDevice);
  if (auto failed = Binder(program, module, taskOperators).bindAll()) {
    return tl::make_unexpected(std::move(*failed));
  }
  return program;
}

std::vector<ValueId> PlanProgram::ownBuffers() const {
  std::set<ValueId> own(m_plan.outputs.begin(), m_plan.outputs.end());
  for (const Step& step : m_steps) {
    for (const std::size_t buffer : step.allocated) {
      own.insert(ValueId(static_cast<std::int32_t>(buffer)));
    }
  }
  return {own.begin(), own.end()};
}

tl::expected<std::vector<at::Tensor>, StepFailure> PlanProgram::run(std::span<const at::Tensor> inputs) {
  if (auto failed = runSteps(inputs, nullptr, 0)) {
    return tl::make_unexpected(std::move(*failed));
  }
  return takeOutputs();
}

tl::expected<std::vector<at::Tensor>, StepFailure> PlanProgram::runObserved(std::span<const at::Tensor> inputs,
                                                                            LaunchObserver observer) {
  m_observer = std::move(observer);
  const ScopeExit cleanup([this] { m_observer = nullptr; });
  return run(inputs);
}

std::optional<device::KernelResources> PlanProgram::resourcesOf(std::size_t step) const {
  const auto* kernel = std::get_if<BoundKernel>(&m_steps[step].action);
  return kernel != nullptr ? kernel->kernel->resources() : std::nullopt;
}

tl::expected<PlanProgram::GuardedRun, StepFailure> PlanProgram::beginGuarded(std::span<const at::Tensor> inputs,
                                                                             std::uint8_t poison) {
  GuardedRun result;
  if (auto failed = runSteps(inputs, &result.buffers, poison)) {
    return tl::make_unexpected(std::move(*failed));
  }
  result.outputs = takeOutputs();
  return result;
}

tl::expected<PlanProgram::GuardedRun, StepFailure> PlanProgram::runGuarded(std::span<const at::Tensor> inputs,
                                                                           std::uint8_t poison,
                                                                           LaunchObserver observer) {
  m_observer = std::move(observer);
  const ScopeExit cleanup([this] { m_observer = nullptr; });
  auto result = beginGuarded(inputs, poison);
  if (!result) {
    return result;
  }
  if (DeviceStatus failed = m_device->synchronize()) {
    return tl::make_unexpected(StepFailure{std::string(kWaiting), std::move(*failed)});
  }
  return result;
}

tl::expected<std::vector<at::Tensor>, StepFailure> PlanProgram::beginOnLeftovers(std::span<const at::Tensor> inputs,
                                                                                 GuardedRun& before) {
  before.outputs.clear();
  if (auto failed = runSteps(inputs, &before.buffers, 0)) {
    return tl::make_unexpected(std::move(*failed));
  }
  return takeOutputs();
}

std::optional<StepFailure> PlanProgram::runSteps(std::span<const at::Tensor> inputs, std::vector<Guarded>* guarded,
                                                 std::uint8_t poison) {
  const at::NoGradGuard noGrad;
  std::string current = "allocating buffers";
  DeviceStatus status;
  const auto thrown = attempt([&] {
    m_slots.assign(m_plan.buffers.size(), {});
    m_places.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      m_slots[bufferIndex(m_plan.inputs[i])] = inputs[i];
    }
    if (guarded != nullptr) {
      placeGuarded(*guarded, poison);
    }
    for (Step& step : m_steps) {
      current = step.name;
      if (guarded == nullptr) {
        allocateFor(step);
      } else {
        m_device->scrub();
      }
      if (status = runStep(step); status) {
        return;
      }
      for (const std::size_t buffer : step.freed) {
        m_slots[buffer].reset();
      }
    }
    if (guarded != nullptr) {
      m_device->scrub();
    }
  });
  if (thrown) {
    m_slots.clear();
    // libtorch may only be the first to hear of a kernel that failed before.
    if (DeviceStatus lost = m_device->synchronize()) {
      return StepFailure{std::string(kWaiting), std::move(*lost)};
    }
    return StepFailure{current, asDeviceFailure(*thrown)};
  }
  return status ? std::optional(StepFailure{current, std::move(*status)}) : std::nullopt;
}

// Buffers of an earlier run come back in the same order.
void PlanProgram::placeGuarded(std::vector<Guarded>& guarded, std::uint8_t poison) {
  const bool areThere = !guarded.empty();
  std::size_t next = 0;
  for (const Step& step : m_steps) {
    for (const std::size_t buffer : step.allocated) {
      m_slots[buffer] = areThere
                            ? guarded[next++].tensor()
                            : guarded.emplace_back(m_plan.buffers[buffer], *m_device, m_torchDevice, poison).tensor();
    }
  }
}

void PlanProgram::allocateFor(const Step& step) {
  for (const std::size_t buffer : step.allocated) {
    m_slots[buffer] = emptyTensor(m_plan.buffers[buffer], m_torchDevice);
    adviseHugePages(m_slots[buffer]);
    m_places.push_back({m_slots[buffer].data_ptr(), static_cast<std::size_t>(extentBytes(m_plan.buffers[buffer]))});
  }
}

DeviceStatus PlanProgram::runStep(Step& step) {
  if (auto* kernel = std::get_if<BoundKernel>(&step.action)) {
    const auto index = static_cast<std::size_t>(&step - m_steps.data());
    return m_observer ? m_observer(index, [&] { return launch(*kernel); }) : launch(*kernel);
  }
  if (const auto* zero = std::get_if<BoundZero>(&step.action)) {
    const at::Tensor& buffer = m_slots[zero->buffer];
    return m_device->fill(buffer.data_ptr(), 0, static_cast<std::size_t>(extentBytes(m_plan.buffers[zero->buffer])));
  }
  runOperator(step);
  return {};
}

void PlanProgram::runOperator(const Step& step) {
  const auto& call = std::get<OperatorCall>(step.action);
  if (!step.isModuleBatchNorm) {
    call.run(m_slots);
    return;
  }
  const torch::jit::Stack arguments = call.arguments(m_slots);
  torch::jit::Stack results =
      runTrainingBatchNorm(arguments, arguments[3].toTensor().clone(), arguments[4].toTensor().clone());
  call.store(results, m_slots);
}

DeviceStatus PlanProgram::launch(BoundKernel& kernel) {
  kernel.pointers.resize(kernel.values.size());
  for (const auto& [argument, buffer] : kernel.buffers) {
    makeAddressable(buffer);
    kernel.values[argument].address = m_slots[buffer].data_ptr();
  }
  kernel.passed = kernel.values;
  for (std::size_t i = 0; i < kernel.passed.size(); ++i) {
    kernel.pointers[i] = &kernel.passed[i];
  }
  return kernel.kernel->launch(kernel.pointers.data());
}

// The result of an ATen call may be laid out in another way than the plan declares, or start in the middle of its
// storage. Kernels rely on the declaration, so it is copied into place.
void PlanProgram::makeAddressable(std::size_t buffer) {
  at::Tensor& tensor = m_slots[buffer];
  const domain::TensorType& type = m_plan.buffers[buffer];
  TORCH_CHECK(hasShapeAndType(tensor, type) && tensor.device() == m_torchDevice, "buffer ", buffer,
              " is not of the shape, type and device that the plan declares");
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  if (!hasStrides(tensor, type) || address % kKernelAlignment != 0) {
    at::Tensor placed = emptyTensor(type, m_torchDevice);
    copyInto(placed, tensor);
    tensor = std::move(placed);
  }
}

std::vector<at::Tensor> PlanProgram::takeOutputs() {
  std::vector<at::Tensor> outputs;
  outputs.reserve(m_plan.outputs.size());
  for (const ValueId id : m_plan.outputs) {
    outputs.push_back(m_slots[bufferIndex(id)]);
  }
  m_slots.clear();
  return outputs;
}

}  // namespace swage::verify
