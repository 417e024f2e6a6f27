// SPDX-License-Identifier: Apache-2.0
#include "core/verify/session_state.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "core/verify/hard_inputs.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"
#include "core/verify/torch_runtime.h"

namespace swage::verify {
namespace {

// Of loading a task: a run waits for it.
constexpr double kHardInputSeconds = 20.0;
// Streams differ by 0.1 us for each launch: what takes longer than this does not feel it, and has the larger tensors.
// The same as in the bridge (timing.py).
constexpr double kLongestOnStreamsNs = 0.5e6;
constexpr int kShortAttempts = 3;

}  // namespace

SessionState::SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice,
                           TaskInputs taskInputs, Reference taskReference)
    : device(onDevice),
      where(torchDevice),
      baseSeed(request.baseSeed),
      checks(planChecks(request)),
      inputs(std::move(taskInputs)),
      reference(std::move(taskReference)),
      streams(onDevice) {
  for (const domain::Node& node : request.task.graph.nodes) {
    operators.insert(node.op);
  }
}

void SessionState::admitChecks(const MemoryPlan& plan) {
  for (int set = 0; set < plan.workingSets; ++set) {
    working.emplace_back(inputs.graph(), device, where);
    const auto outputs = static_cast<std::int64_t>(inputs.graph().outputs.size());
    sumsOnHost.push_back(at::zeros({outputs}, at::TensorOptions().dtype(at::kLong).pinned_memory(where.is_cuda())));
  }
  const auto start = std::chrono::steady_clock::now();
  for (const Check& check : std::exchange(checks, {})) {
    if (!isHard(check.inputs)) {
      admit(check, inputs.draw(check.seed), plan);
      continue;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spent.count() > kHardInputSeconds) {
      log::info("no time to check with {} inputs: the reference of this task is slow", name(check.inputs));
    } else {
      admitHard(check, plan);
    }
  }
  m_fingerprint = fingerprint();
}

// What PyTorch cannot do on such inputs, or not in this memory, says nothing about a candidate.
void SessionState::admitHard(const Check& check, const MemoryPlan& plan) {
  const auto failed = attempt([&] {
    std::vector<at::Tensor> drawn = inputs.draw(check.seed);
    if (appliesTo(inputs.graph(), check, drawn)) {
      admit(check, harden(inputs.graph(), check, std::move(drawn)), plan);
    }
  });
  if (failed && failed->poisoned) {
    TORCH_CHECK(false, failed->message);
  }
  if (failed) {
    log::info("no check with {} inputs: {}", name(check.inputs), failed->message);
  }
}

void SessionState::admit(const Check& check, std::vector<at::Tensor> made, const MemoryPlan& plan) {
  // The first ones, without a gap: `kept` has the index of `checks`.
  const bool isKept = kept.size() == checks.size() && static_cast<int>(kept.size()) < plan.keptChecks;
  // Eager gets the declared strides and may write to its inputs by mistake as little as a candidate.
  reference.admit(check, fillWorking(checks.size(), made).tensors(),
                  isKept ? Reference::Keep::Yes : Reference::Keep::No);
  checks.push_back(check);
  if (isKept) {
    kept.push_back(std::move(made));
  }
}

std::size_t SessionState::taskChecks() const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [](const Check& check) { return check.inputs == InputClass::Task; }));
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

std::vector<at::Tensor> SessionState::pristine(std::size_t check) {
  if (check < kept.size()) {
    return kept[check];
  }
  return harden(inputs.graph(), checks[check], inputs.draw(checks[check].seed));
}

WorkingInputs& SessionState::fillWorking(std::size_t check, std::span<const at::Tensor> made) {
  WorkingInputs& set = workingFor(check);
  set.fill(made, check);
  return set;
}

// One call may have waited for the host.
bool SessionState::isShort() {
  for (int attempts = 0; attempts < kShortAttempts; ++attempts) {
    const auto eager = timeEager(0);
    if (!eager || eager->ns <= kLongestOnStreamsNs) {
      return eager.has_value();
    }
  }
  return false;
}

void SessionState::openStreams(const MemoryPlan& plan) {
  if (!where.is_cuda() || plan.streams < 2 || !isShort()) {
    return;
  }
  if (const auto failed = attempt([&] { streams.open(where, static_cast<std::size_t>(plan.streams)); })) {
    keepToOneStream(failed->message);
  }
}

void SessionState::warmStreams() {
  if (std::exchange(m_streamsAreWarm, true)) {
    return;
  }
  // For eager, and as much again for what a candidate has not freed by then.
  const auto failed = attempt([this] {
    streams.forEach([this] {
      const auto first = reference.runEager(working.front().tensors());
      const auto second = reference.runEager(working.front().tensors());
    });
  });
  if (failed) {
    keepToOneStream(failed->message);
  }
}

void SessionState::keepToOneStream(std::string_view why) {
  log::info("timed calls are all on one stream: {}", why);
  streams.close();
}

void SessionState::makeRoom() {
  releaseCachedMemory(device.info().kind);
  m_streamsAreWarm = false;
}

device::DeviceResult<device::CallTime> SessionState::timeEager(std::size_t workingSet) {
  WipedTensors results;
  const auto call = [&]() -> device::DeviceStatus {
    const auto failed = attempt([&] { results = reference.runEager(working[workingSet].tensors()); });
    return failed ? device::DeviceStatus(device::DeviceFailure{failed->message, failed->poisoned, failed->outOfMemory})
                  : std::nullopt;
  };
  const auto scrub = [this]() -> device::DeviceStatus {
    device.scrub();
    return {};
  };
  return streams.time(m_eagerCalls++, 1, scrub, call, [&results] { results.clear(); });
}

}  // namespace swage::verify
