// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/device/device.h"
#include "core/domain/evaluation.h"
#include "core/verify/guarded.h"
#include "core/verify/operator_call.h"

namespace swage::verify {

// What stopped a plan, and at which of its steps.
struct StepFailure {
  std::string step;
  device::DeviceFailure failure;
};
// The same in one sentence.
[[nodiscard]] device::DeviceFailure asDeviceFailure(const StepFailure& failed);
// The step in which kernels fail that could be launched.
inline constexpr std::string_view kWaiting = "waiting for the kernels";

// A launch plan, bound to a loaded module and to operators. One run at a time.
class PlanProgram {
 public:
  // `module` may be null when the plan has no kernels; it must outlive the program. The plan has no defect
  // (domain::findDefect). The other value says what is wrong with the candidate.
  using Bound = tl::expected<PlanProgram, domain::Evaluation>;
  [[nodiscard]] static Bound bind(const domain::LaunchPlan& plan, device::Device& device, device::KernelModule* module,
                                  const std::set<std::string>& taskOperators, c10::Device torchDevice);

  // Outputs and scratch: what a run allocates, and every output whoever makes it.
  [[nodiscard]] std::vector<domain::ValueId> ownBuffers() const;

  // As a user would run it: buffers are allocated when they are first needed and freed after their last use. Work on a
  // GPU may still be going on when this returns.
  [[nodiscard]] tl::expected<std::vector<at::Tensor>, StepFailure> run(std::span<const at::Tensor> inputs);

  // Where a buffer was that the latest run() allocated for kernels, also if it was freed since.
  struct Place {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  [[nodiscard]] const std::vector<Place>& places() const { return m_places; }

  // Wraps the launch of a kernel step. `step` counts all steps of the plan.
  using LaunchObserver = std::function<device::DeviceStatus(std::size_t step, const device::Device::Call& launch)>;
  // As run(), with each kernel's launch given to the observer, which must call it.
  [[nodiscard]] tl::expected<std::vector<at::Tensor>, StepFailure> runObserved(std::span<const at::Tensor> inputs,
                                                                               LaunchObserver observer);
  // No value: the step launches no kernel, or the device does not know.
  [[nodiscard]] std::optional<device::KernelResources> resourcesOf(std::size_t step) const;

  // For verification: every buffer poisoned and between red zones, all of them alive until the end.
  struct GuardedRun {
    std::vector<Guarded> buffers;
    std::vector<at::Tensor> outputs;  // end before the buffers, which are wiped
  };
  // Work on a GPU may still be going on when this returns.
  [[nodiscard]] tl::expected<GuardedRun, StepFailure> beginGuarded(std::span<const at::Tensor> inputs,
                                                                   std::uint8_t poison);
  // As beginGuarded, but waits for the device. Each kernel's launch is given to the observer where there is one.
  [[nodiscard]] tl::expected<GuardedRun, StepFailure> runGuarded(std::span<const at::Tensor> inputs,
                                                                 std::uint8_t poison, LaunchObserver observer = {});
  // As beginGuarded, but in the buffers of another run and with what that run left in them.
  [[nodiscard]] tl::expected<std::vector<at::Tensor>, StepFailure> beginOnLeftovers(std::span<const at::Tensor> inputs,
                                                                                    GuardedRun& before);

 private:
  // The value of a kernel argument, which device::Kernel reads through a pointer: of a buffer and of a tensor map the
  // address of the buffer.
  union ArgumentValue {
    void* address;
    std::int32_t int32;
    std::int64_t int64;
    float float32;
    double float64;
  };
  struct BoundKernel {
    std::unique_ptr<device::Kernel> kernel;
    std::vector<ArgumentValue> values;
    std::vector<ArgumentValue> passed;  // a copy: a kernel on a CPU could keep something in them for its next call
    std::vector<void*> pointers;
    std::vector<std::pair<std::size_t, std::size_t>> buffers;  // argument, buffer
  };
  struct BoundZero {
    std::size_t buffer;
  };
  struct Step {
    std::string name;
    std::variant<BoundKernel, OperatorCall, BoundZero> action;
    bool isModuleBatchNorm = false;      // see eager_batch_norm.h
    std::vector<std::size_t> allocated;  // before this step
    std::vector<std::size_t> freed;      // after it
  };
  class Binder;

  PlanProgram(const domain::LaunchPlan& plan, device::Device& device, c10::Device torchDevice)
      : m_plan(plan), m_device(&device), m_torchDevice(torchDevice) {}
  [[nodiscard]] std::optional<StepFailure> runSteps(std::span<const at::Tensor> inputs, std::vector<Guarded>* guarded,
                                                    std::uint8_t poison);
  void placeGuarded(std::vector<Guarded>& guarded, std::uint8_t poison);
  void allocateFor(const Step& step);
  [[nodiscard]] device::DeviceStatus runStep(Step& step);
  void runOperator(const Step& step);
  [[nodiscard]] device::DeviceStatus launch(BoundKernel& kernel);
  void makeAddressable(std::size_t buffer);
  [[nodiscard]] std::vector<at::Tensor> takeOutputs();

  domain::LaunchPlan m_plan;
  device::Device* m_device;
  c10::Device m_torchDevice;
  std::vector<Step> m_steps;
  Slots m_slots;
  std::vector<Place> m_places;
  LaunchObserver m_observer;  // of the run that goes on, if it has one
};

}  // namespace swage::verify
