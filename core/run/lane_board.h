// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/process/lane_clock.h"
#include "core/process/worker_supervisor.h"
#include "core/services/activity.h"

namespace swage::run {

// Keeps count of what the workers of a run do. Workers are only names here: nothing is owned, and each outlives this.
class LaneBoard {
 public:
  explicit LaneBoard(MonotonicNow now) : m_now(std::move(now)) {}

  void add(const process::WorkerSupervisor& worker);
  // As soon as its device is known.
  void rename(const process::WorkerSupervisor& worker, const domain::DeviceInfo& device);
  // After anything about it has changed.
  void note(const process::WorkerSupervisor& worker);
  void replace(const process::WorkerSupervisor& worker, std::string why);
  void lose(const process::WorkerSupervisor& worker, std::string why);
  // Another process has its device meanwhile, for `what`; empty: no longer.
  void lend(const process::WorkerSupervisor& worker, std::string what);

  // In the order in which they were added, without the candidates they work on.
  struct Lane {
    const process::WorkerSupervisor* worker = nullptr;
    services::LaneStatus status;
  };
  [[nodiscard]] std::vector<Lane> lanes() const;

 private:
  struct Entry {
    const process::WorkerSupervisor* worker = nullptr;
    std::string name;
    process::LaneClock clock;
    bool isLost = false;
    std::string lastEnd;
    std::string lentFor;  // empty: it is its own
  };
  [[nodiscard]] Entry* find(const process::WorkerSupervisor& worker);

  MonotonicNow m_now;
  std::vector<Entry> m_entries;
};

}  // namespace swage::run
