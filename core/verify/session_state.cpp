// SPDX-License-Identifier: Apache-2.0
#include "core/verify/session_state.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "core/verify/graph_program.h"
#include "core/verify/hard_inputs.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"
#include "core/verify/torch_runtime.h"

namespace swage::verify {
namespace {

// For all hard inputs of a task together.
constexpr double kHardInputSeconds = 20.0;
// Of loading a task: a run waits for it. What is not admitted by then is when somebody gets so far.
constexpr double kLoadSeconds = 1.0;
// Of a result that is the same for every draw two are needed to say so.
constexpr std::size_t kFewestDraws = 2;
// Streams differ by 0.1 us for each launch: what takes longer than this does not feel it, and has the larger tensors.
// The same as in the bridge (timing.py).
constexpr double kLongestOnStreamsNs = 0.5e6;
constexpr int kShortAttempts = 3;

// Of inputs and outputs: what a device reads in a tenth of a millisecond and in a millisecond.
constexpr std::int64_t kLargeOnCuda = std::int64_t{256} << 20U;
constexpr std::int64_t kLargeOnCpu = std::int64_t{16} << 20U;
constexpr std::int64_t kLargeBetween = 4;  // times as much between steps takes as long

std::int64_t bytesInAndOut(const domain::Graph& graph) {
  std::int64_t bytes = 0;
  for (const domain::GraphInput& input : graph.inputs) {
    bytes += graph.type(input.value).byteCount();
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    bytes += graph.type(output.value).byteCount();
  }
  return bytes;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

SessionState::SessionState(const wire::LoadTask& request, device::Device& onDevice, c10::Device torchDevice,
                           TaskInputs taskInputs, Reference taskReference)
    : device(onDevice),
      where(torchDevice),
      baseSeed(request.baseSeed),
      nearness(request.task.source.mustBeNearEager() ? Verdict::Nearness::Eager : Verdict::Nearness::EagerOrReference),
      inputs(std::move(taskInputs)),
      reference(std::move(taskReference)),
      streams(onDevice) {
  for (const domain::Node& node : request.task.graph.nodes) {
    operators.insert(node.op);
  }
  const std::vector<Check> planned = planChecks(request);
  m_planned.assign(planned.begin(), planned.end());
  m_taskChecks = static_cast<std::size_t>(request.checkSeeds);
  const std::int64_t large = where.is_cuda() ? kLargeOnCuda : kLargeOnCpu;
  m_isLarge =
      bytesInAndOut(request.task.graph) >= large || peakIntermediateBytes(request.task.graph) >= kLargeBetween * large;
}

void SessionState::admitChecks(const MemoryPlan& plan) {
  const std::vector<WeightChunk> chunks = weightChunks(inputs.graph(), where);
  for (int set = 0; set < plan.workingSets; ++set) {
    working.emplace_back(inputs.graph(), device, where, chunks);
    const auto outputs = static_cast<std::int64_t>(inputs.graph().outputs.size());
    sumsOnHost.push_back(at::zeros({outputs}, at::TensorOptions().dtype(at::kLong).pinned_memory(where.is_cuda())));
  }
  m_keptChecks = static_cast<std::size_t>(plan.keptChecks);
  m_fingerprint = static_cast<std::uint64_t>(bitSum(inputs.weights()));
  const auto start = std::chrono::steady_clock::now();
  const std::size_t needed = std::min(m_taskChecks, std::max(kFewestDraws, working.size()));
  const auto isQuickly = [&] { return hasRoomToKeep() && secondsSince(start) < kLoadSeconds; };
  bool isMore = true;
  while (isMore && (checks.size() < needed || isQuickly())) {
    isMore = admitNext();
  }
}

// The first ones, without a gap: `kept` has the index of `checks`.
bool SessionState::hasRoomToKeep() const {
  return kept.size() == checks.size() && kept.size() < m_keptChecks;
}

bool SessionState::admitNext() {
  if (m_planned.empty()) {
    return false;
  }
  const Check check = m_planned.front();
  m_planned.pop_front();
  if (!isHard(check.inputs)) {
    admit(check, inputs.draw(check.seed));
  } else if (m_hardSeconds > kHardInputSeconds) {
    log::info("no time to check with {} inputs: the reference of this task is slow", name(check.inputs));
  } else {
    const auto start = std::chrono::steady_clock::now();
    admitHard(check);
    m_hardSeconds += secondsSince(start);
  }
  return true;
}

// What PyTorch cannot do on such inputs, or not in this memory, says nothing about a candidate.
void SessionState::admitHard(const Check& check) {
  const auto failed = attempt([&] {
    std::vector<at::Tensor> drawn = inputs.draw(check.seed);
    // Of products that are summed up in another order there may be inf - inf, or not.
    const bool isOrdered = check.inputs != InputClass::Infinite || !reference.hasProducts();
    const bool isTried = !where.is_cuda() || !isForCpusOnly(check.inputs);
    if (isOrdered && isTried && appliesTo(inputs.graph(), check, drawn)) {
      admit(check, harden(inputs.graph(), check, std::move(drawn)));
    }
  });
  if (failed && failed->poisoned) {
    TORCH_CHECK(false, failed->message);
  }
  if (failed) {
    log::info("no check with {} inputs: {}", name(check.inputs), failed->message);
  }
}

void SessionState::admit(const Check& check, std::vector<at::Tensor> made) {
  const bool isKept = hasRoomToKeep();
  // Eager gets the declared strides and may write to its inputs by mistake as little as a candidate.
  const Reference::Keep ifKept = m_isLarge ? Reference::Keep::Both : Reference::Keep::Results;
  reference.admit(check, fillWorking(checks.size(), made).tensors(), isKept ? ifKept : Reference::Keep::Digests);
  checks.push_back(check);
  if (isKept) {
    kept.push_back(std::move(made));
  }
  m_fingerprint += fingerprint(checks.size() - 1);
}

bool SessionState::isIntact() const {
  auto now = static_cast<std::uint64_t>(bitSum(inputs.weights()));
  for (std::size_t check = 0; check < checks.size(); ++check) {
    now += fingerprint(check);
  }
  return now == m_fingerprint;
}

std::uint64_t SessionState::fingerprint(std::size_t check) const {
  const std::int64_t ofInputs = check < kept.size() ? bitSum(kept[check]) : 0;
  return static_cast<std::uint64_t>(ofInputs) + static_cast<std::uint64_t>(reference.fingerprint(check));
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
    return failed ? device::DeviceStatus(asDeviceFailure(*failed)) : std::nullopt;
  };
  const auto scrub = [this]() -> device::DeviceStatus {
    device.scrub();
    return {};
  };
  return streams.time(m_eagerCalls++, 1, scrub, call, [&results] { results.clear(); });
}

}  // namespace swage::verify
