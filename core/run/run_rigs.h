// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/process/worker_supervisor.h"
#include "core/run/lane_board.h"
#include "core/run/run_context.h"
#include "core/trust/rig.h"

namespace swage::run {

// The workers of a run: the first one, and on further GPUs of its model one each, which join a search that is on its
// way already. One that is lost is left out; where it is the first, another that has joined takes its place, and only
// where there is none the run has failed. What becomes of workers goes into the record's events. One thread only.
class RunRigs : public QObject {
  Q_OBJECT

 public:
  // `context` outlives this.
  explicit RunRigs(RunContext& context, QObject* parent = nullptr);
  ~RunRigs() override;

  // On a device of the context's kind. What it says until it is ready is for who calls this.
  trust::Rig& startFirst();
  // After startFirst(). Another one, when the first is lost.
  [[nodiscard]] trust::Rig& first() { return *m_first; }
  // The name of the first one's device, once it is known.
  void nameFirst() { m_board.rename(m_first->worker(), m_context.device); }

  // Its device is used for `what` by another process, until this is called with nothing.
  void lendFirst(const std::string& what) { m_board.lend(m_first->worker(), what); }

  // The search has begun: further GPUs load the task, and join it one by one.
  void open();
  // The search is over: nobody joins any more, and nobody takes the first one's place.
  void close() { m_open = false; }
  // The run is ending: nothing is said or recorded of them any more.
  void silence();
  void stop() { end(&trust::Rig::stop); }
  void kill() { end(&trust::Rig::kill); }
  void giveBackFirst();
  [[nodiscard]] bool areGone() const;

  [[nodiscard]] std::vector<LaneBoard::Lane> lanes() const { return m_board.lanes(); }

 Q_SIGNALS:
  void joined(swage::process::WorkerSupervisor& worker, const std::string& device);
  // Its device is given up; the search goes on.
  void left(swage::process::WorkerSupervisor& worker);
  void noticed(const swage::services::Notice& notice);
  // The first one is lost and nobody takes its place, or the record cannot be written.
  void failed(const swage::Error& error);
  // One is gone.
  void stopped();

 private:
  struct Further {
    std::unique_ptr<trust::Rig> rig;
    bool joined = false;
  };

  [[nodiscard]] trust::Rig::Options optionsOf(const process::LaunchCommand& command, std::string name) const;
  void watch(trust::Rig& rig);
  void keepEvent(domain::EventKind kind, const std::string& json);
  [[nodiscard]] Result<> admit(const Further& one, const domain::DeviceInfo& device);
  void join(Further& one);
  void drop(Further& one, const Error& error);
  [[nodiscard]] bool promote(const Error& error);
  void handleLost(trust::Rig& rig, const Error& error);
  [[nodiscard]] const domain::DeviceInfo& deviceOf(const process::WorkerSupervisor& worker) const;
  [[nodiscard]] Further* find(const process::WorkerSupervisor& worker) const;
  void end(void (trust::Rig::*how)());

  RunContext& m_context;
  LaneBoard m_board;
  std::unique_ptr<trust::Rig> m_first;
  std::vector<std::unique_ptr<Further>> m_further;
  bool m_open = false;
  bool m_silent = false;
};

}  // namespace swage::run
