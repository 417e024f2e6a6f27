// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <variant>

#include "core/base/result.h"
#include "core/device/device.h"
#include "core/wire/messages.h"

namespace swage::verify {

// Told when another stage of a request begins: "reference", "verify", "time", "profile". Must not throw.
using StageObserver = std::function<void(std::string_view stage)>;

// Whether somebody waits for the device to be free: see measure::TimingOptions. Must not throw.
using AwaitedProbe = std::function<bool()>;

// One task on one device: its inputs, reference and eager, ready to evaluate candidates. All tensors live and die here.
// Use from the thread that called startTorch(). Free of libtorch's headers.
class TaskSession {
 public:
  // `device` must outlive the session. Fails with InvalidInput when the task is too large or PyTorch cannot run it.
  [[nodiscard]] static Result<std::unique_ptr<TaskSession>> load(const wire::LoadTask& request, device::Device& device,
                                                                 const StageObserver& onStage);
  ~TaskSession();
  TaskSession(const TaskSession&) = delete;
  TaskSession& operator=(const TaskSession&) = delete;

  [[nodiscard]] const wire::TaskReady& ready() const;

  // Verifies and times one candidate. Whatever the candidate does short of ending the process becomes an evaluation;
  // when `workerExits` is set the device is lost and nothing more may be called.
  [[nodiscard]] wire::Evaluated evaluate(const wire::Evaluate& request, const StageObserver& onStage,
                                         const AwaitedProbe& isAwaited = {});

  // Memory that libtorch keeps for reuse goes back to the device.
  void makeRoom();

  // Looks into each kernel of a candidate: with counters, else by the time it takes, else by what the compiler says.
  // After counters `workerExits` is set: nothing may be timed in this process any more.
  [[nodiscard]] wire::Profiled profile(const wire::ProfileRequest& request, const StageObserver& onStage);

 private:
  struct State;
  explicit TaskSession(std::unique_ptr<State> state);

  std::unique_ptr<State> m_state;
};

}  // namespace swage::verify
