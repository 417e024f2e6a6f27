// SPDX-License-Identifier: Apache-2.0
#include "core/run/lane_board.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::run {

LaneBoard::Entry* LaneBoard::find(const process::WorkerSupervisor& worker) {
  const auto found =
      std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) { return entry.worker == &worker; });
  return found == m_entries.end() ? nullptr : &*found;
}

void LaneBoard::add(const process::WorkerSupervisor& worker) {
  m_entries.push_back({.worker = &worker,
                       .name = fmt::format("worker {}", m_entries.size() + 1),
                       .clock = process::LaneClock(m_now),
                       .isLost = false,
                       .lastEnd = {},
                       .lentFor = {}});
  note(worker);
}

void LaneBoard::rename(const process::WorkerSupervisor& worker, const domain::DeviceInfo& device) {
  if (Entry* entry = find(worker); entry != nullptr && !device.name.empty()) {
    entry->name =
        device.kind == domain::DeviceKind::Cuda ? fmt::format("GPU {}, {}", device.ordinal, device.name) : device.name;
  }
}

// A worker that starts or loads a task is at work, too, but not for a candidate: only that counts as busy.
void LaneBoard::note(const process::WorkerSupervisor& worker) {
  Entry* entry = find(worker);
  if (entry == nullptr) {
    return;
  }
  const bool isLent = !entry->lentFor.empty();
  const bool isBusy = isLent || worker.state() == process::WorkerSupervisor::State::Evaluating;
  const std::string doing = entry->isLost ? std::string("lost") : isLent ? entry->lentFor : worker.stateText();
  entry->clock.note(doing, isBusy && !entry->isLost);
}

void LaneBoard::lend(const process::WorkerSupervisor& worker, std::string what) {
  if (Entry* entry = find(worker)) {
    entry->lentFor = std::move(what);
    note(worker);
  }
}

void LaneBoard::replace(const process::WorkerSupervisor& worker, std::string why) {
  if (Entry* entry = find(worker)) {
    entry->lastEnd = std::move(why);
    note(worker);
  }
}

void LaneBoard::lose(const process::WorkerSupervisor& worker, std::string why) {
  if (Entry* entry = find(worker)) {
    entry->isLost = true;
    entry->lastEnd = std::move(why);
    note(worker);
  }
}

std::vector<LaneBoard::Lane> LaneBoard::lanes() const {
  std::vector<Lane> lanes;
  lanes.reserve(m_entries.size());
  for (const Entry& entry : m_entries) {
    lanes.push_back({entry.worker,
                     {.kind = services::LaneStatus::Kind::Worker,
                      .name = entry.name,
                      .doing = entry.clock.doing(),
                      .isBusy = entry.clock.isBusy(),
                      .isLost = entry.isLost,
                      .lastEnd = entry.lastEnd,
                      .candidate = {},
                      .sinceSeconds = entry.clock.sinceSeconds(),
                      .busySeconds = entry.clock.busySeconds(),
                      .lifeSeconds = entry.clock.lifeSeconds(),
                      .done = entry.worker->done(),
                      .replaced = entry.worker->replacements()}});
  }
  return lanes;
}

}  // namespace swage::run
