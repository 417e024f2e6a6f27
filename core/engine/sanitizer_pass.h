// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/engine/child_process.h"
#include "core/engine/finishing_pass.h"
#include "core/engine/sanitizer_report.h"
#include "core/search/searcher.h"
#include "core/store/record.h"

namespace swage::engine {

// Runs the kernels of a search's elites under compute-sanitizer, fastest first: memcheck, racecheck, initcheck. It is
// done after the search and not at each new elite, because the tool takes seconds and the device is being timed on; no
// candidate wins or is exported unsanitised all the same. What fails is no longer correct in the record, and leaves the
// archive. Where the tool is missing, does not work, or the time is over, that is recorded as Unavailable with the
// reason. Nothing may be timed meanwhile. Emits finished() exactly once. One thread only; nothing here waits.
class SanitizerPass : public QObject {
  Q_OBJECT

 public:
  struct Options {
    std::string sanitizer;  // empty: not installed
    std::string replay;     // swage-replay
    int ordinal = 0;        // of the device
    double budgetSeconds = 60.0;
    std::chrono::milliseconds toolLimit{30000};
  };

  SanitizerPass(store::Record& record, search::Searcher& searcher, Options options, QObject* parent = nullptr);

  void start();
  // finished() follows soon.
  void cancel();

  [[nodiscard]] int checked() const { return m_checked; }

 Q_SIGNALS:
  // With its new evaluation.
  void rejected(const swage::store::CandidateRecord& candidate);
  void finished(const swage::Result<>& done);

 private:
  void next();
  [[nodiscard]] Result<> prepare(domain::CandidateId id);
  [[nodiscard]] Result<> excuse(domain::CandidateId id, const std::string& why);
  void runTool();
  void handleEnd(const ChildEnd& end);
  [[nodiscard]] Result<> settle(const domain::Assurance& assurance);
  [[nodiscard]] Result<> reject(const domain::Assurance& assurance);
  void conclude(const Result<>& done);

  store::Record& m_record;
  search::Searcher& m_searcher;
  Options m_options;
  std::vector<FinishingPass::Contender> m_elites;
  std::size_t m_nextElite = 0;
  std::optional<store::CandidateRecord> m_current;
  std::vector<domain::AssuranceKind> m_tools;  // that are still to run for it
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<ChildProcess> m_child;
  SanitizerRun m_run;
  QTimer m_limit;
  QElapsedTimer m_elapsed;
  QElapsedTimer m_toolElapsed;
  int m_checked = 0;
  bool m_cancelled = false;
  bool m_finished = false;
};

}  // namespace swage::engine
