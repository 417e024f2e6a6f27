// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/verify/plan_program.h"
#include "core/verify/session_state.h"
#include "core/verify/task_session.h"
#include "core/wire/messages.h"

namespace swage::verify {

// One profile: the plan runs on the inputs of the first check seed, again and again, with one kernel step looked at in
// each run. Steps that launch the same entry in the same way count as one kernel; the first of them is looked at.
// ATen steps run as ever. Used once.
class ProfileRun {
 public:
  ProfileRun(SessionState& state, const wire::ProfileRequest& request, const StageObserver& onStage);

  [[nodiscard]] wire::Profiled run();

 private:
  struct Kernel {
    std::size_t step = 0;    // in the plan
    double threads = 0.0;    // that it is launched with
    std::int64_t found = 0;  // samples
    domain::KernelProfile profile;
  };

  // Each gives false when there is no point in going on.
  [[nodiscard]] bool prepare();
  [[nodiscard]] bool fillInputs();
  void openProfiler();
  void findKernels();
  void describe(Kernel& kernel) const;
  // Those that seem to take longest: of them there must be something where the time is short.
  [[nodiscard]] std::vector<Kernel*> heaviestFirst();
  [[nodiscard]] domain::ProfileSource measure();
  void sample();
  [[nodiscard]] bool count();
  [[nodiscard]] bool time();

  [[nodiscard]] device::DeviceStatus runPlan(const PlanProgram::LaunchObserver& observer);
  [[nodiscard]] device::Profiler::Program programFor(std::size_t step);
  void note(const std::string& text);  // in the limitation
  void note(const device::ProfilerFailure& failure);
  void refuse(const device::DeviceFailure& failure, std::string_view doing);
  [[nodiscard]] bool isTimeOver() const;

  SessionState& m_state;
  const wire::ProfileRequest& m_request;
  const StageObserver& m_onStage;
  std::chrono::steady_clock::time_point m_start;
  std::unique_ptr<device::Profiler> m_profiler;
  std::unique_ptr<device::KernelModule> m_module;  // outlives the program
  std::optional<PlanProgram> m_program;
  const WorkingInputs* m_inputs = nullptr;
  std::vector<Kernel> m_kernels;
  wire::Profiled m_result;
  bool m_attached = false;  // the profiler stays in this process
  bool m_poisoned = false;
};

}  // namespace swage::verify
