// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/process/worker_supervisor.h"
#include "core/search/contenders.h"
#include "core/search/searcher.h"
#include "core/store/record.h"
#include "core/trust/sanitizer_check.h"

namespace swage::trust {

// Runs the kernels of a search's elites under compute-sanitizer, fastest first and some beside each other: memcheck,
// racecheck (of a kernel of 100 us and more on its first blocks alone), initcheck. It is done after the search and not
// at each new elite, because the tool takes seconds and the device is being timed on; the winner is chosen after it.
// What fails is no longer correct in the record, and leaves the archive. Where the tool is missing, does not work, or
// the time is over, that is recorded as Unavailable with the reason, and the candidate stays what it was. The worker of
// the device makes room for it first. Nothing may be timed meanwhile. Emits finished() exactly once. One thread only;
// nothing here waits.
class SanitizerPass : public QObject {
  Q_OBJECT

 public:
  struct Options {
    SanitizerCheck::Options check;  // no sanitizer: it is not installed
    double budgetSeconds = 60.0;
    int atOnce = 1;  // candidates, and fewer where their buffers are large; the tool is mostly busy on the host
  };

  // `worker` evaluates nothing now.
  SanitizerPass(store::Record& record, search::Searcher& searcher, process::WorkerSupervisor& worker, Options options,
                QObject* parent = nullptr);

  void start();
  // finished() follows soon.
  void cancel();

  [[nodiscard]] int checked() const { return m_checked; }

 Q_SIGNALS:
  // With its new evaluation.
  void rejected(const swage::store::CandidateRecord& candidate);
  void finished(const swage::Result<>& done);

 private:
  struct Job {
    store::CandidateRecord candidate;
    std::unique_ptr<SanitizerCheck> check;
  };

  void handleRoom(std::int64_t freeBytes);
  void next();
  // Whether the candidate is dealt with; false: it has to wait for room.
  [[nodiscard]] Result<bool> begin(domain::CandidateId id);
  [[nodiscard]] std::chrono::milliseconds remaining() const;
  [[nodiscard]] bool hasRoomFor(const store::CandidateRecord& candidate) const;
  [[nodiscard]] Result<> excuse(domain::CandidateId id, const std::string& why);
  void handleFound(Job& job, const domain::Assurance& assurance);
  void handleChecked(Job& job);
  [[nodiscard]] Result<> reject(Job& job, const domain::Assurance& assurance);

  store::Record& m_record;
  search::Searcher& m_searcher;
  process::WorkerSupervisor& m_worker;
  Options m_options;
  std::int64_t m_freeBytes = 0;  // of the device when no check runs
  std::vector<search::Contender> m_elites;
  std::size_t m_nextElite = 0;
  std::vector<std::unique_ptr<Job>> m_jobs;  // that run now
  Result<> m_settled;                        // what the checks found is in the record
  QElapsedTimer m_elapsed;
  int m_checked = 0;
  bool m_stopped = false;
  bool m_finished = false;
};

}  // namespace swage::trust
