// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/engine/worker_supervisor.h"
#include "core/search/archive.h"
#include "core/store/record.h"

namespace swage::engine {

// Measures the fastest candidates of a search once more, for longer, beside the task's own operators, because the
// minimum of hundreds of short measurements is partly luck. Goes on until the fastest known candidate is one of those
// measured again. Each new evaluation replaces the old one in the record. Emits finished() exactly once.
class FinishingPass : public QObject {
  Q_OBJECT

 public:
  struct Options {
    domain::RunId run;
    domain::CandidateId identity;  // every node an ATen step
    double timingBudgetSeconds = 1.5;
    int maxSamples = 200;
    double limitSeconds = 30.0;
    int contenders = 3;
    int maxContenders = 24;
    std::function<double()> elapsedSeconds;
  };
  struct Contender {
    domain::CandidateId id;
    double timeNs = 0.0;  // of the search
  };

  FinishingPass(store::Record& record, WorkerSupervisor& worker, const search::Archive& archive, Options options,
                QObject* parent = nullptr);

  void start();
  // Ends after the evaluation in progress.
  void cancel() { m_cancelled = true; }

 Q_SIGNALS:
  void remeasured(const swage::store::CandidateRecord& candidate);
  // Invalid id: nothing is correct.
  void finished(const swage::Result<swage::domain::CandidateId>& winner);

 private:
  void measureNext();
  [[nodiscard]] Result<> send(domain::CandidateId id);
  void handleEvaluated(const EvaluationResult& result);
  [[nodiscard]] std::optional<domain::CandidateId> nextContender() const;
  void conclude();
  void fail(Error error);

  store::Record& m_record;
  WorkerSupervisor& m_worker;
  Options m_options;
  std::vector<Contender> m_contenders;  // fastest first
  std::map<domain::CandidateId, std::optional<domain::PairedTiming>> m_measured;
  std::optional<store::CandidateRecord> m_current;
  bool m_cancelled = false;
};

// The fastest, if the interval of its speedup over eager lies above 1; else the task's own operators.
[[nodiscard]] domain::CandidateId chooseWinner(
    const std::map<domain::CandidateId, std::optional<domain::PairedTiming>>& measured, domain::CandidateId identity);

}  // namespace swage::engine
