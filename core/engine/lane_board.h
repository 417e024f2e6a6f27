// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/engine/lane_clock.h"
#include "core/engine/worker_supervisor.h"
#include "core/services/activity.h"

namespace swage::engine {

// Keeps count of what the workers of a run do. Workers are only names here: nothing is owned, and each outlives this.
class LaneBoard {
 public:
  explicit LaneBoard(MonotonicNow now) : m_now(std::move(now)) {}

  void add(const WorkerSupervisor& worker);
  // As soon as its device is known.
  void rename(const WorkerSupervisor& worker, const domain::DeviceInfo& device);
  // After anything about it has changed.
  void note(const WorkerSupervisor& worker);
  void replace(const WorkerSupervisor& worker, std::string why);
  void lose(const WorkerSupervisor& worker, std::string why);

  // In the order in which they were added, without the candidates they work on.
  struct Lane {
    const WorkerSupervisor* worker = nullptr;
    services::LaneStatus status;
  };
  [[nodiscard]] std::vector<Lane> lanes() const;

 private:
  struct Entry {
    const WorkerSupervisor* worker = nullptr;
    std::string name;
    LaneClock clock;
    bool isLost = false;
    std::string lastEnd;
  };
  [[nodiscard]] Entry* find(const WorkerSupervisor& worker);

  MonotonicNow m_now;
  std::vector<Entry> m_entries;
};

}  // namespace swage::engine
