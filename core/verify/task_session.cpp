// SPDX-License-Identifier: Apache-2.0
#include "core/verify/task_session.h"

#include <sys/resource.h>

#include <chrono>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/domain/checks.h"
#include "core/measure/paired.h"
#include "core/verify/admission.h"
#include "core/verify/evaluation_run.h"
#include "core/verify/memory_plan.h"
#include "core/verify/profile_run.h"
#include "core/verify/session_state.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

std::uint64_t randomKey() {
  std::random_device source;
  return (static_cast<std::uint64_t>(source()) << 32U) | source();
}

c10::Device torchDevice(const device::Device& device) {
  const domain::DeviceInfo& info = device.info();
  return info.kind == domain::DeviceKind::Cuda ? c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(info.ordinal))
                                               : c10::Device(c10::kCPU);
}

std::int64_t peakBytes(const device::Device& device) {
  if (device.info().kind == domain::DeviceKind::Cuda) {
    return device.info().memoryBytes - device.freeBytes();
  }
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::int64_t>(usage.ru_maxrss) * 1024 : 0;
}

Error refusal(const TorchFailure& failure) {
  if (failure.outOfMemory) {
    return Error(ErrorKind::InvalidInput, fmt::format("the task does not fit into memory: {}", failure.message),
                 "Make its sizes smaller, for example with --set NAME=VALUE.");
  }
  return Error(ErrorKind::InvalidInput, fmt::format("PyTorch cannot run the task: {}", failure.message));
}

std::string findDefect(const domain::Task& task) {
  std::string defect = domain::findDefect(task.graph);
  return defect.empty() ? domain::findDefect(task.inputGenerator) : defect;
}

std::vector<domain::OutputError> eagerErrors(const Reference& reference) {
  std::vector<domain::OutputError> errors;
  for (const auto& scale : reference.scales(InputClass::Task)) {
    domain::OutputError error;
    error.output = static_cast<int>(errors.size());
    error.relativeL2 = error.eagerRelativeL2 = scale.eagerRelativeL2;
    error.maxAbsolute = error.eagerMaxAbsolute = scale.eagerMaxAbsolute;
    errors.push_back(error);
  }
  return errors;
}

Result<domain::Timing> timeEager(SessionState& state, double budgetSeconds) {
  state.warmStreams();
  measure::TimingOptions options;
  options.budgetSeconds = budgetSeconds;
  options.maxSamples = 100;
  options.clock = state.device.clock();
  options.conditions = [&] { return state.device.conditions(); };
  const auto timed = measure::timeAlone([&] { return state.timeEager(0); }, options);
  if (!timed) {
    return Error(ErrorKind::InvalidInput, fmt::format("PyTorch cannot run the task: {}", timed.error().detail));
  }
  return *timed;
}

}  // namespace

// What the public header must not know: tensors.
struct TaskSession::State : SessionState {
  using SessionState::SessionState;
};

TaskSession::TaskSession(std::unique_ptr<State> state) : m_state(std::move(state)) {}
TaskSession::~TaskSession() = default;

Result<std::unique_ptr<TaskSession>> TaskSession::load(const wire::LoadTask& request, device::Device& device,
                                                       const StageObserver& onStage) {
  onStage("reference");
  if (const std::string defect = findDefect(request.task); !defect.empty()) {
    return Error(ErrorKind::InvalidInput, fmt::format("the task's graph is broken: {}", defect), "Import it again.");
  }
  if (request.checkSeeds < 1) {
    return Error(ErrorKind::InvalidInput, "a task needs at least one check seed");
  }
  const domain::Graph& graph = request.task.graph;
  const auto checks = static_cast<int>(planChecks(request).size());
  SWAGE_TRY_ASSIGN(const MemoryPlan plan, planMemory(graph, checks, device.freeBytes()));
  const c10::Device where = torchDevice(device);
  SWAGE_TRY_ASSIGN(TaskInputs inputs, TaskInputs::load(request.task, request.weightsPath, where));
  const Reference::Options options{where, plan.referenceInFloat64 ? at::kDouble : at::kFloat, randomKey()};
  SWAGE_TRY_ASSIGN(Reference reference, Reference::bind(graph, options));
  auto state = std::make_unique<State>(request, device, where, std::move(inputs), std::move(reference));
  if (const auto failed = attempt([&] { state->admitChecks(plan); })) {
    return refusal(*failed);
  }
  state->openStreams(plan);
  state->ready.referenceType = plan.referenceInFloat64 ? "float64" : "float32";
  state->ready.eagerErrors = eagerErrors(state->reference);
  if (request.adversarial) {
    if (const auto failed = attempt([&] { state->ready.doubts = findDoubts(*state); })) {
      return refusal(*failed);
    }
  }
  if (request.timeEager) {
    onStage("time");
    SWAGE_TRY_ASSIGN(state->ready.eager, timeEager(*state, request.timingBudgetSeconds));
  }
  state->ready.peakBytes = peakBytes(device);
  return std::unique_ptr<TaskSession>(new TaskSession(std::move(state)));
}

const wire::TaskReady& TaskSession::ready() const {
  return m_state->ready;
}

wire::Evaluated TaskSession::evaluate(const wire::Evaluate& request, const StageObserver& onStage,
                                      const AwaitedProbe& isAwaited) {
  {
    EvaluationRun first(*m_state, request, onStage, isAwaited);
    wire::Evaluated result = first.run();
    if (!first.ranOutOfMemory()) {
      return result;
    }
  }
  // Perhaps another program had the memory, or libtorch kept it: once more with all that can be had.
  makeRoom();
  return EvaluationRun(*m_state, request, onStage, isAwaited).run();
}

void TaskSession::makeRoom() {
  m_state->makeRoom();
}

wire::Profiled TaskSession::profile(const wire::ProfileRequest& request, const StageObserver& onStage) {
  return ProfileRun(*m_state, request, onStage).run();
}

}  // namespace swage::verify
