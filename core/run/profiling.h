// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/process/device_lease.h"
#include "core/process/process_channel.h"
#include "core/services/profile_service.h"
#include "core/trust/recorded_candidate.h"

namespace swage::run {

// Profiles one candidate in a worker of its own, because nothing may be timed where a profiler has been. What the
// worker cannot tell, up to everything, comes from what the compiler said. Emits finished() exactly once, when the
// worker is gone. One thread only; nothing here waits.
class Profiling : public QObject {
  Q_OBJECT

 public:
  struct Options {
    process::LaunchCommand worker;
    std::chrono::milliseconds stopGrace{2000};
    double limitSeconds = 120.0;  // of the profile itself, after the task is loaded
    bool takesLease = true;       // false: the caller has the device's
  };

  Profiling(Options options, trust::RecordedCandidate candidate, QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void stageChanged(swage::services::ProfileProgress::Stage stage);
  // An error: no worker, the task could not be loaded, or it was cancelled.
  void finished(const swage::Result<swage::domain::Profile>& profile);

 private:
  void handleReady(const wire::Message& message);
  void load();
  void handleOutcome(const process::JobOutcome& outcome);
  void handleAnswer(const wire::Message& message);
  void handleLoss(const process::JobLost& lost);
  void handleDeath(const process::ChannelEnd& end);
  void conclude(Result<domain::Profile> outcome);

  Options m_options;
  trust::RecordedCandidate m_candidate;
  std::unique_ptr<process::ProcessChannel> m_channel;
  std::optional<process::DeviceLease> m_lease;
  bool m_loaded = false;
  std::optional<Result<domain::Profile>> m_outcome;
};

// The profile with what the compiler said of each kernel, where nothing better is known.
[[nodiscard]] domain::Profile withCompilerFacts(domain::Profile profile,
                                                const std::vector<domain::KernelFacts>& kernels);
// The profile with text and source line of sampled instructions that have none, out of the listing of `objdump`.
[[nodiscard]] domain::Profile withListing(domain::Profile profile, std::string_view assembly);

}  // namespace swage::run
