// SPDX-License-Identifier: Apache-2.0
#include "core/run/session_parts.h"

#include <QThread>

#include <algorithm>

#include <fmt/format.h>

namespace swage::run {

SessionParts SessionParts::standard(const process::Locations& locations) {
  SessionParts parts;
  parts.programs = process::Programs::standard(locations);
  parts.rules = locations;
  parts.knowledge = process::dataFolder() / "knowledge.sqlite";
  parts.profiledTargets = {domain::DeviceKind::Cuda};
  parts.profiledInSearch = {domain::DeviceKind::Cpu, domain::DeviceKind::Cuda};
  parts.selfTest = trust::SelfTestPolicy{
      .corpus = locations.selfTest, .verdicts = process::stateFolder() / "selftest", .skip = false};
  return parts;
}

int SessionParts::sanitizersAtOnce() const {
  constexpr int kMost = 4;  // with which it was measured
  return sanitizers > 0 ? sanitizers : std::clamp(QThread::idealThreadCount() / 2, 1, kMost);
}

void SessionParts::useDevices(const process::Locations& locations, const std::vector<int>& ordinals) {
  const auto on = [worker = locations.worker.string()](const std::string& device) {
    return process::LaunchCommand{
        .program = worker, .arguments = {"--device", device}, .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}};
  };
  programs.workerCommand = [on, first = ordinals.front()](domain::DeviceKind target) {
    return on(target == domain::DeviceKind::Cuda ? fmt::format("cuda:{}", first) : "cpu");
  };
  moreWorkers.clear();
  for (auto ordinal = ordinals.begin() + 1; ordinal != ordinals.end(); ++ordinal) {
    moreWorkers.push_back(on(fmt::format("cuda:{}", *ordinal)));
  }
}

}  // namespace swage::run
