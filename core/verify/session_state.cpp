// SPDX-License-Identifier: Apache-2.0
#include "core/verify/session_state.h"

#include <utility>

#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {

SessionState::SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice,
                           TaskInputs taskInputs, Reference taskReference)
    : device(onDevice),
      where(torchDevice),
      baseSeed(request.baseSeed),
      checkSeeds(request.checkSeeds),
      inputs(std::move(taskInputs)),
      reference(std::move(taskReference)) {
  for (const domain::Node& node : request.task.graph.nodes) {
    operators.insert(node.op);
  }
}

void SessionState::admitSeeds(const MemoryPlan& plan) {
  for (int set = 0; set < plan.workingSets; ++set) {
    working.emplace_back(inputs.graph(), where);
  }
  for (int seed = 0; seed < checkSeeds; ++seed) {
    std::vector<at::Tensor> drawn = inputs.draw(baseSeed + static_cast<std::uint64_t>(seed));
    // Eager gets the declared strides and may write to its inputs by mistake as little as a candidate.
    reference.admit(fillWorking(seed, drawn).tensors());
    if (seed < plan.keptSeeds) {
      kept.push_back(std::move(drawn));
    }
  }
  m_fingerprint = fingerprint();
}

bool SessionState::isIntact() const {
  return fingerprint() == m_fingerprint;
}

std::int64_t SessionState::fingerprint() const {
  std::vector<at::Tensor> all = inputs.weights();
  for (const std::vector<at::Tensor>& drawn : kept) {
    all.insert(all.end(), drawn.begin(), drawn.end());
  }
  return bitSum(all) ^ reference.fingerprint();
}

std::vector<at::Tensor> SessionState::pristine(int seed) {
  const auto index = static_cast<std::size_t>(seed);
  return index < kept.size() ? kept[index] : inputs.draw(baseSeed + static_cast<std::uint64_t>(seed));
}

WorkingInputs& SessionState::fillWorking(int seed, std::span<const at::Tensor> drawn) {
  WorkingInputs& set = working[static_cast<std::size_t>(seed) % working.size()];
  set.fill(drawn, seed);
  return set;
}

device::DeviceResult<double> SessionState::timeEager(std::size_t workingSet) {
  std::vector<at::Tensor> results;
  return device.timeCold([&]() -> device::DeviceStatus {
    const auto failed = attempt([&] { results = reference.runEager(working[workingSet].tensors()); });
    return failed ? device::DeviceStatus(device::DeviceFailure{failed->message, failed->poisoned}) : std::nullopt;
  });
}

}  // namespace swage::verify
