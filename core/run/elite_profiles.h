// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/run/profiling.h"
#include "core/run/winner_choice.h"
#include "core/store/record.h"

namespace swage::run {

// Profiles the candidates that a finishing pass measured and that have no profile yet, the winner first and then by
// time, and keeps the profiles in the record. To be started when nothing else runs on the device, whose lease the
// caller has. What it cannot profile is told and is no error: a run is not worse for it. Emits finished() exactly once
// after start(), when every process it started is gone. One thread only; nothing here waits.
class EliteProfiles : public QObject {
  Q_OBJECT

 public:
  struct Options {
    process::LaunchCommand worker;
    std::chrono::milliseconds stopGrace{2000};
    std::size_t candidates = 8;
    std::chrono::milliseconds startWithin{10000};  // after start() no profile begins later
    std::chrono::milliseconds endWithin{30000};    // after start(); one that still runs is given up
  };

  // Candidates without a value are left out. `record` outlives this.
  EliteProfiles(store::Record& record, const RemeasuredCandidates& measured, Options options,
                QObject* parent = nullptr);

  void start(domain::CandidateId winner);
  // The profile in progress is given up.
  void cancel();
  [[nodiscard]] bool isRunning() const { return m_running; }

 Q_SIGNALS:
  // Why candidates have no profile, in a sentence; empty: all have one.
  void finished(const std::string& missing);

 private:
  struct Subject {
    domain::CandidateId id;
    double timeNs = 0.0;
  };

  void profileNext();
  [[nodiscard]] bool begin(domain::CandidateId id);
  void handleProfile(domain::CandidateId id, const Result<domain::Profile>& profile);
  void giveUp(const std::string& why);
  void note(std::string why);
  void conclude();

  store::Record& m_record;
  Options m_options;
  std::deque<Subject> m_waiting;
  std::unique_ptr<Profiling> m_profiling;
  QElapsedTimer m_clock;
  QTimer m_deadline{this};
  std::size_t m_tried = 0;
  std::size_t m_done = 0;
  std::string m_why;  // the first reason that something has no profile
  bool m_running = false;
  bool m_over = false;  // nothing more is to begin
};

}  // namespace swage::run
