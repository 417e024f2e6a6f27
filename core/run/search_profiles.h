// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QMetaObject>
#include <QObject>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/run/profile_schedule.h"
#include "core/run/profiling.h"
#include "core/run/run_context.h"
#include "core/run/run_rigs.h"
#include "core/search/archive.h"

namespace swage::run {

// Profiles candidates while a search is on its way, so that rules and models know more than times: what pairs and
// models work at, each once, in workers of their own. Whoever has this lets nothing be timed from start() to
// finished(); the device's lease is the search's, and its worker, which keeps the task, does nothing meanwhile. What
// cannot be profiled does a search no harm: that is told once, and nothing more is profiled. Profiles go into the
// record. One thread only; nothing here waits.
class SearchProfiles : public QObject {
  Q_OBJECT

 public:
  // Before the clock of this sitting runs. Both outlive this; the context has a searcher, a record and a device.
  SearchProfiles(RunContext& context, RunRigs& rigs, QObject* parent = nullptr);

  // It is time for one, and there is something to profile. `evaluations`: of the run, until now.
  [[nodiscard]] bool isDue(std::int64_t evaluations);
  // False: there is nothing to profile. True: finished() follows, when the profiler is gone.
  [[nodiscard]] bool start();
  // The one in progress is given up; its candidate may have its turn again. finished() follows also then, unless the
  // rigs are stopped.
  void cancel();

  [[nodiscard]] bool isRunning() const { return m_running; }  // from start() to finished()
  [[nodiscard]] bool isGone() const { return !m_profiling; }  // nothing that it started runs
  // Whose turn it is, or was last.
  [[nodiscard]] domain::CandidateId candidate() const { return m_candidate; }

 Q_SIGNALS:
  // It is in the record.
  void profiled(swage::domain::CandidateId candidate);
  // Nothing is profiled in this sitting. At most once, and not where one has been.
  void givenUp(const swage::Error& why);
  void finished();

 private:
  [[nodiscard]] double elapsedSeconds() const;
  [[nodiscard]] std::optional<domain::CandidateId> next();
  [[nodiscard]] bool isKnown(domain::CandidateId id);
  void makeRoom();
  void begin();
  void handleProfile(const Result<domain::Profile>& profile);
  void keep(const domain::Profile& profile);
  void giveUp(const Error& why);
  void giveUpLate();
  void conclude();

  RunContext& m_context;
  RunRigs& m_rigs;
  double m_earlierSeconds = 0.0;  // of search, before this sitting
  ProfileSchedule m_schedule;
  std::set<domain::CandidateId> m_known;  // that have a profile
  std::unique_ptr<Profiling> m_profiling;
  QMetaObject::Connection m_room;                     // while the search's worker makes room
  const process::WorkerSupervisor* m_host = nullptr;  // that one
  QTimer m_deadline{this};
  domain::CandidateId m_candidate;
  double m_begunAt = 0.0;
  double m_limitSeconds = 0.0;
  bool m_running = false;
  bool m_cancelled = false;
  bool m_isLate = false;
  bool m_isGivenUp = false;
  bool m_hasOne = false;  // with counters or samples, made in this sitting
};

// What is worth a profile, in this order: the best of each island, at which its pairs work, and then what models may
// begin with; the best first, and nothing that is much slower.
[[nodiscard]] std::vector<domain::CandidateId> profileOrder(const search::Archive& archive);

}  // namespace swage::run
