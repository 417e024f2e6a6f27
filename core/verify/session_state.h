// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
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
#include "core/verify/verdict.h"
#include "core/wire/messages.h"

namespace swage::verify {

// Everything of a loaded task that evaluations share.
struct SessionState {
  SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice, TaskInputs taskInputs,
               Reference taskReference);

  // Admits the first checks: those that every candidate needs before it is timed, and of a task whose reference takes
  // long no more than that. May throw c10::Error.
  void admitChecks(const MemoryPlan& plan);
  // Makes the inputs of the next planned check, runs eager and the reference on them. Hard inputs that this task cannot
  // have, or that cost too much, are left out of `checks`. False: there is no other one. May throw c10::Error; then the
  // check is left out. Never while a candidate runs.
  bool admitNext();
  // Whether a check takes longer than to time a call: then only those come before the timing that it needs.
  [[nodiscard]] bool isLarge() const { return m_isLarge; }
  // Inputs of a check as they were made. May throw c10::Error.
  [[nodiscard]] std::vector<at::Tensor> pristine(std::size_t check);
  // The task's own seeds, also those that are not admitted yet.
  [[nodiscard]] std::size_t taskChecks() const { return m_taskChecks; }
  [[nodiscard]] std::size_t admittedTaskChecks() const { return std::min(m_taskChecks, checks.size()); }
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
  Verdict::Nearness nearness;
  std::vector<Check> checks;        // those admitted; their index names them everywhere
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
  void admit(const Check& check, std::vector<at::Tensor> made);
  void admitHard(const Check& check);
  [[nodiscard]] bool hasRoomToKeep() const;
  [[nodiscard]] std::uint64_t fingerprint(std::size_t check) const;
  [[nodiscard]] bool isShort();
  void keepToOneStream(std::string_view why);

  std::deque<Check> m_planned;  // not admitted yet
  bool m_isLarge = false;
  std::size_t m_taskChecks = 0;
  std::size_t m_keptChecks = 0;     // at most
  double m_hardSeconds = 0.0;       // that hard inputs have taken
  std::uint64_t m_fingerprint = 0;  // of weights, and of each check when it was admitted
  std::size_t m_eagerCalls = 0;
  bool m_streamsAreWarm = false;
};

}  // namespace swage::verify
