// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/monotonic_now.h"
#include "core/domain/device_kind.h"
#include "core/process/programs.h"
#include "core/run/proposer.h"
#include "core/trust/self_test_gate.h"

namespace swage::run {

// What a session is made of; tests replace parts.
struct SessionParts {
  process::Programs programs;
  std::vector<process::LaunchCommand> moreWorkers;  // one for each further GPU; all of one model
  MonotonicNow now = [] { return std::chrono::steady_clock::now(); };
  int sanitizers = 0;                                  // 0: as many as sanitizersAtOnce()
  std::optional<trust::SelfTestPolicy> selfTest;       // none: nobody asks whether the device can be trusted
  double minLimitSeconds = 20.0;                       // the least that an evaluation may take
  std::vector<domain::DeviceKind> profiledTargets{};   // where the candidates measured again at the end are profiled
  std::vector<domain::DeviceKind> profiledInSearch{};  // where some are profiled for pairs and models meanwhile
  std::vector<ProposerFactory> proposers{};            // beside the search; a run has one of each
  bool searches = true;                                // false: the search keeps the archive and proposes nothing
  // Of the judge; none: it has none of its own. A project's rules come from process::ruleFolders().
  std::optional<process::Locations> rules{};
  std::filesystem::path knowledge{};  // what earlier runs of this user taught about advice; empty: it is not asked

  [[nodiscard]] static SessionParts standard(const process::Locations& locations);
  // How many candidates compute-sanitizer checks at once: one for two cores, and few.
  [[nodiscard]] int sanitizersAtOnce() const;
  // The GPUs to use, by their numbers in the order of the PCI bus. Not empty.
  void useDevices(const process::Locations& locations, const std::vector<int>& ordinals);
};

}  // namespace swage::run
