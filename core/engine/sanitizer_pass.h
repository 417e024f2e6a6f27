// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/engine/finishing_pass.h"
#include "core/engine/sanitizer_check.h"
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
    SanitizerCheck::Options check;  // no sanitizer: it is not installed
    double budgetSeconds = 60.0;
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
  void handleFound(const domain::Assurance& assurance);
  void handleChecked();
  [[nodiscard]] Result<> reject(const domain::Assurance& assurance);
  void conclude(const Result<>& done);

  store::Record& m_record;
  search::Searcher& m_searcher;
  Options m_options;
  std::vector<FinishingPass::Contender> m_elites;
  std::size_t m_nextElite = 0;
  std::optional<store::CandidateRecord> m_current;
  std::unique_ptr<SanitizerCheck> m_check;  // of it
  Result<> m_settled;                       // what the check found is in the record
  QElapsedTimer m_elapsed;
  int m_checked = 0;
  bool m_cancelled = false;
  bool m_finished = false;
};

}  // namespace swage::engine
