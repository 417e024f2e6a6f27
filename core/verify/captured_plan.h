// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/device/device.h"
#include "core/domain/graph.h"
#include "core/verify/plan_program.h"
#include "core/verify/task_inputs.h"
#include "core/verify/wiped.h"

namespace swage::verify {

// The steps of a plan, captured for each working set, so that a call launches all of them at once, as an exported file
// does (LaunchPlan::isCaptured). State is read where it lies. User inputs are copied to where the graphs read them, and
// outputs out of them: that is part of the call.
//
// Memory that the graphs use and that is free between their steps belongs to the capture stream in libtorch's cache,
// and nothing else is allocated for that stream. So the cache must not be emptied while this lives.
class CapturedPlan {
 public:
  // Everything that a capture needs to know, all of which outlives the captured plan.
  struct Source {
    PlanProgram& program;
    const domain::Graph& graph;  // of the task
    device::Device& device;
    c10::Device where;
    const std::vector<WorkingInputs>& sets;
  };
  // Runs the plan once for each set before it is captured: libraries choose and load their kernels in the first call.
  // Fails where the plan does what cannot be captured, such as waiting for the device.
  [[nodiscard]] static tl::expected<std::unique_ptr<CapturedPlan>, StepFailure> capture(const Source& source);

  CapturedPlan(const CapturedPlan&) = delete;
  CapturedPlan& operator=(const CapturedPlan&) = delete;

  // A call on what a working set holds. Work may still be going on when this returns.
  [[nodiscard]] tl::expected<std::vector<at::Tensor>, StepFailure> run(std::size_t set);
  // Overwrites all that the next call on the set is to write: a call that does nothing must not find an old answer.
  [[nodiscard]] device::DeviceStatus poison(std::size_t set) const;

 private:
  struct Capture {
    std::unique_ptr<device::CapturedCall> call;
    WipedTensors outputs;
    std::vector<PlanProgram::Place> places;
  };

  explicit CapturedPlan(const Source& source) : m_source(source), m_captures(source.sets.size()) {}
  void placeUsers();
  // Of a working set, with user inputs in their place.
  [[nodiscard]] std::vector<at::Tensor> inputsOf(std::size_t set) const;
  [[nodiscard]] std::optional<StepFailure> captureSet(std::size_t set);
  void copyUsers(std::size_t set) const;

  Source m_source;
  std::vector<std::pair<std::size_t, at::Tensor>> m_users;  // graph input, and where the graphs read it
  std::vector<Capture> m_captures;                          // one for each set
};

}  // namespace swage::verify
