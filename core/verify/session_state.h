// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/verify/memory_plan.h"
#include "core/verify/reference.h"
#include "core/verify/task_inputs.h"
#include "core/wire/messages.h"

namespace swage::verify {

// Everything of a loaded task that evaluations share.
struct SessionState {
  SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice, TaskInputs taskInputs,
               Reference taskReference);

  // Draws the inputs of all check seeds, runs eager and the reference on them. May throw c10::Error.
  void admitSeeds(const MemoryPlan& plan);
  // Inputs of a check seed as they were drawn. May throw c10::Error.
  [[nodiscard]] std::vector<at::Tensor> pristine(int seed);
  // Whether what is kept for later candidates is still what it was when the task was loaded. May throw c10::Error.
  [[nodiscard]] bool isIntact() const;
  // The working set that check `seed` uses, filled with that seed's inputs. May throw c10::Error.
  WorkingInputs& fillWorking(int seed, std::span<const at::Tensor> inputs);
  // Eager on what the working set holds, with cold caches.
  [[nodiscard]] device::DeviceResult<double> timeEager(std::size_t workingSet);

  device::Device& device;
  c10::Device where;
  std::uint64_t baseSeed = 0;
  int checkSeeds = 1;
  std::set<std::string> operators;  // of the task's graph
  TaskInputs inputs;
  Reference reference;
  std::vector<WorkingInputs> working;
  std::vector<std::vector<at::Tensor>> kept;  // pristine inputs of the first seeds: as many as fit
  wire::TaskReady ready;

 private:
  [[nodiscard]] std::int64_t fingerprint() const;

  std::int64_t m_fingerprint = 0;
};

}  // namespace swage::verify
