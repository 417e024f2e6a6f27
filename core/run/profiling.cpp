// SPDX-License-Identifier: Apache-2.0
#include "core/run/profiling.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/domain/source_map.h"

namespace swage::run {
namespace {

constexpr std::chrono::milliseconds kLoadLimit{600000};
constexpr std::chrono::milliseconds kOverdue{30000};  // a last pass may take long when a limit is met in it
constexpr const char* kHint = "run `swage doctor`";

}  // namespace

domain::Profile withCompilerFacts(domain::Profile profile, const std::vector<domain::KernelFacts>& kernels) {
  for (const domain::KernelFacts& facts : kernels) {
    auto known = std::find_if(profile.kernels.begin(), profile.kernels.end(),
                              [&facts](const domain::KernelProfile& kernel) { return kernel.entry == facts.entry; });
    if (known == profile.kernels.end()) {
      if (profile.source != domain::ProfileSource::Compiler) {
        continue;  // no step launches it
      }
      known = profile.kernels.emplace(profile.kernels.end());
      known->entry = facts.entry;
    }
    for (; known != profile.kernels.end(); ++known) {
      if (known->entry == facts.entry) {
        known->registers = known->registers > 0 ? known->registers : facts.registers;
        known->sharedBytes = known->sharedBytes > 0 ? known->sharedBytes : facts.staticSharedBytes;
        known->spillBytes = static_cast<int>(facts.spillBytes);  // the device only knows all local memory
        for (domain::InstructionSamples& at : known->instructions) {
          at.line = domain::programLine(facts.lines, at.line);
        }
      }
    }
  }
  return profile;
}

domain::Profile withListing(domain::Profile profile, std::string_view assembly) {
  const auto listed = domain::listedInstructions(assembly);
  for (domain::KernelProfile& kernel : profile.kernels) {
    for (domain::InstructionSamples& at : kernel.instructions) {
      const auto found = listed.find(at.offset);
      if (at.text.empty() && found != listed.end()) {
        at.text = found->second.text;
        at.line = found->second.line;
      }
    }
  }
  return profile;
}

Profiling::Profiling(Options options, trust::RecordedCandidate candidate, QObject* parent)
    : QObject(parent), m_options(std::move(options)), m_candidate(std::move(candidate)) {}

void Profiling::start() {
  m_channel = std::make_unique<process::ProcessChannel>(
      process::ChannelOptions{.command = m_options.worker,
                              .name = "profiler",
                              .handshake = process::ChannelOptions::Handshake::HelloThenWorkerReady,
                              .startLimit = std::chrono::milliseconds(120000),
                              .stopGrace = m_options.stopGrace});
  connect(m_channel.get(), &process::ProcessChannel::ready, this, &Profiling::handleReady);
  connect(m_channel.get(), &process::ProcessChannel::jobFinished, this, &Profiling::handleOutcome);
  connect(m_channel.get(), &process::ProcessChannel::died, this, &Profiling::handleDeath);
  m_channel->start();
}

// A profiler beside somebody's timing would spoil it, and be spoilt by it.
void Profiling::handleReady(const wire::Message& message) {
  const auto* ready = std::get_if<wire::WorkerReady>(&message);
  if (m_options.takesLease && ready != nullptr) {
    Result<process::DeviceLease> lease = process::DeviceLease::take(ready->device);
    if (!lease) {
      conclude(std::move(lease).error());
      return;
    }
    m_lease = std::move(*lease);
  }
  load();
}

void Profiling::load() {
  wire::LoadTask message = m_candidate.load;
  message.checkSeeds = 1;
  message.heldBackSeeds = 0;
  message.adversarial = false;
  message.timeEager = false;
  m_channel->submit(message, kLoadLimit);
  Q_EMIT stageChanged(services::ProfileProgress::Stage::LoadingTask);  // last: whoever hears it may cancel
}

void Profiling::handleOutcome(const process::JobOutcome& outcome) {
  if (m_outcome) {
    return;
  }
  if (const auto* lost = std::get_if<process::JobLost>(&outcome)) {
    handleLoss(*lost);
  } else {
    handleAnswer(std::get<wire::Message>(outcome));
  }
}

void Profiling::handleAnswer(const wire::Message& message) {
  if (const auto* refused = std::get_if<wire::TaskRefused>(&message)) {
    conclude(Error(refused->kind, refused->message, refused->hint));
  } else if (std::holds_alternative<wire::TaskReady>(message) && !m_loaded) {
    m_loaded = true;
    wire::ProfileRequest request;
    request.request = 1;
    request.plan = m_candidate.plan;
    request.binary = m_candidate.binary;
    request.limitSeconds = m_options.limitSeconds;
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(m_options.limitSeconds * 1000.0));
    m_channel->submit(request, limit + kOverdue);
    Q_EMIT stageChanged(services::ProfileProgress::Stage::Profiling);
  } else if (const auto* profiled = std::get_if<wire::Profiled>(&message)) {
    conclude(withListing(withCompilerFacts(profiled->profile, m_candidate.kernels), m_candidate.assembly));
  } else {
    conclude(Error(ErrorKind::Protocol, "the worker gave an answer that does not belong to a profile", kHint));
  }
}

// A kernel that ends the worker under a profiler still has what the compiler said of it.
void Profiling::handleLoss(const process::JobLost& lost) {
  if (m_loaded && lost.reason != process::JobLost::Reason::Stopped) {
    domain::Profile profile;
    profile.limitation = fmt::format("the worker was lost while it profiled: {}", lost.detail);
    conclude(withCompilerFacts(std::move(profile), m_candidate.kernels));
    return;
  }
  conclude(Error(ErrorKind::Environment, fmt::format("cannot profile: {}", lost.detail), kHint));
}

void Profiling::handleDeath(const process::ChannelEnd& end) {
  if (!m_outcome) {
    std::string message = fmt::format("cannot profile: {}", end.detail);
    if (!end.child.lastLines.empty()) {
      message += "\n" + end.child.lastLines;
    }
    m_outcome = Error(ErrorKind::Environment, std::move(message), kHint);
  }
  Q_EMIT finished(*m_outcome);
}

void Profiling::cancel() {
  conclude(Error(ErrorKind::Cancelled, "the profile was cancelled"));
}

void Profiling::conclude(Result<domain::Profile> outcome) {
  if (!m_outcome) {
    m_outcome = std::move(outcome);
    m_channel->stop();
  }
}

}  // namespace swage::run
