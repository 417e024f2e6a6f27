// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/verify/checks.h"
#include "core/verify/memory_plan.h"
#include "core/verify/reference.h"
#include "core/verify/task_inputs.h"
#include "core/verify/timed_streams.h"
#include "core/wire/messages.h"

namespace swage::verify {

// Everything of a loaded task that evaluations share.
struct SessionState {
  SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice, TaskInputs taskInputs,
               Reference taskReference);

  // Makes the inputs of all checks, runs eager and the reference on them. Hard inputs that this task cannot have, or
  // that cost too much, are left out of `checks`. May throw c10::Error.
  void admitChecks(const MemoryPlan& plan);
  // Inputs of a check as they were made. May throw c10::Error.
  [[nodiscard]] std::vector<at::Tensor> pristine(std::size_t check);
  [[nodiscard]] std::size_t taskChecks() const;
  // Whether what is kept for later candidates is still what it was when the task was loaded. May throw c10::Error.
  [[nodiscard]] bool isIntact() const;
  // The working set that a check uses.
  [[nodiscard]] WorkingInputs& workingFor(std::size_t check) { return working[check % working.size()]; }
  // The same, filled with its inputs. May throw c10::Error.
  WorkingInputs& fillWorking(std::size_t check, std::span<const at::Tensor> inputs);
  // Streams for timed calls, where a launch matters and there is memory for them. After admitChecks().
  void openStreams(const MemoryPlan& plan);
  // Before a timing: sees to it that the streams have memory for what timed calls allocate. Taken from the device in a
  // timed call, it would be timed.
  void warmStreams();
  // Memory that libtorch keeps for reuse goes back to the device, that of the streams as well.
  void makeRoom();
  // Eager on what the working set holds, with cold caches, on each stream in turn.
  [[nodiscard]] device::DeviceResult<device::CallTime> timeEager(std::size_t workingSet);

  device::Device& device;
  c10::Device where;
  std::uint64_t baseSeed = 0;
  std::vector<Check> checks;        // their index names them everywhere
  std::set<std::string> operators;  // of the task's graph
  TaskInputs inputs;
  Reference reference;
  std::vector<WorkingInputs> working;
  // For the bit sums of timed outputs, one for each working set. Memory that a GPU copies to by itself can only be
  // freed while the GPU works: it belongs to the task, because a candidate may leave the device broken.
  std::vector<at::Tensor> sumsOnHost;
  TimedStreams streams;
  std::vector<std::vector<at::Tensor>> kept;  // pristine inputs of the first checks: as many as fit
  wire::TaskReady ready;

 private:
  void admit(const Check& check, std::vector<at::Tensor> made, const MemoryPlan& plan);
  void admitHard(const Check& check, const MemoryPlan& plan);
  [[nodiscard]] std::int64_t fingerprint() const;
  [[nodiscard]] bool isShort();
  void keepToOneStream(std::string_view why);

  std::int64_t m_fingerprint = 0;
  std::size_t m_eagerCalls = 0;
  bool m_streamsAreWarm = false;
};

}  // namespace swage::verify
