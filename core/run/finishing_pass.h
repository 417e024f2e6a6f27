// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/monotonic_now.h"
#include "core/base/result.h"
#include "core/process/worker_supervisor.h"
#include "core/run/winner_choice.h"
#include "core/search/contenders.h"
#include "core/store/record.h"

namespace swage::trust {
class Verification;
}

namespace swage::run {

// Measures the best candidates of a search once more, for longer, because the best of hundreds of short measurements is
// partly luck. Goes on until the best known candidate is one of those measured again, or until its time is over. Each
// new evaluation replaces the old one in the record. Where a contender turns out wrong, the fastest candidates
// that are still correct become contenders too, elites or not: until one is correct again, or very many are wrong. One
// whose measurement stays uncertain is measured again, each time for twice as long. Whoever would win by more than ten
// times the baseline must show it in another process first. PyTorch's own operators are not timed again: they are the
// yardstick. Emits finished() exactly once.
class FinishingPass : public QObject {
  Q_OBJECT

 public:
  struct Options {
    domain::RunId run;
    domain::CandidateId identity;  // every node an ATen step
    double timingBudgetSeconds = 1.5;
    int maxSamples = 200;
    double checkSeconds = 0.0;  // see wire::Evaluate
    double limitSeconds = 30.0;
    // For all of it: once somebody is measured no other one is begun after this. 0: as long as it takes.
    double budgetSeconds = 0.0;
    MonotonicNow now = [] { return std::chrono::steady_clock::now(); };
    int contenders = 3;
    int maxContenders = 24;
    domain::Speedup eagerSpeedup;         // of eager against the fastest baseline
    bool lostElites = false;              // some were found wrong since the search
    std::set<domain::CandidateId> known;  // whose recorded measurement was as long as one of these, and stands
    std::function<double()> elapsedSeconds;
    // Evaluates a candidate in a process of its own. Empty: cannot be done, and nobody wins by more than ten times.
    std::function<std::unique_ptr<trust::Verification>(domain::CandidateId)> freshProcess;
  };

  FinishingPass(store::Record& record, process::WorkerSupervisor& worker, const search::Archive& archive,
                Options options, QObject* parent = nullptr);
  ~FinishingPass() override;

  void start();
  // Ends after the evaluation in progress.
  void cancel();
  // Ends now, without finished(): the record is about to be closed. Not from one of its signals.
  void abandon();
  // What was measured so far; no value: it was not correct this time.
  [[nodiscard]] const RemeasuredCandidates& measured() const { return m_measured; }

 Q_SIGNALS:
  void remeasured(const swage::store::CandidateRecord& candidate);
  // Somebody was so fast that it needed another process's word, and did not get it.
  void doubted(swage::domain::CandidateId candidate, const std::string& why);
  // Invalid id: nothing is correct.
  void finished(const swage::Result<swage::domain::CandidateId>& winner);

 private:
  void measureNext();
  [[nodiscard]] Result<> takeKnown();
  [[nodiscard]] Result<> addFastest();
  [[nodiscard]] Result<> send(domain::CandidateId id);
  void handleEvaluated(const process::EvaluationResult& result);
  [[nodiscard]] Result<> keep(const store::CandidateRecord& candidate);
  [[nodiscard]] bool hasOurs() const;  // a kernel that was correct again
  [[nodiscard]] bool isTimeOver() const;
  [[nodiscard]] std::optional<domain::CandidateId> nextContender() const;
  [[nodiscard]] std::optional<domain::CandidateId> nextUncertain() const;
  [[nodiscard]] domain::Speedup speedupOf(const Remeasured& result) const;
  void conclude();
  [[nodiscard]] bool mustBeConfirmed(domain::CandidateId candidate) const;
  void confirm(domain::CandidateId candidate);
  void handleConfirmation(domain::CandidateId candidate, const Result<domain::Evaluation>& fresh);
  [[nodiscard]] domain::Assurance judge(domain::CandidateId candidate, const Result<domain::Evaluation>& fresh) const;
  [[nodiscard]] Result<> store(domain::CandidateId winner);
  void fail(Error error);

  store::Record& m_record;
  process::WorkerSupervisor& m_worker;
  Options m_options;
  std::vector<search::Contender> m_contenders;  // best first
  RemeasuredCandidates m_measured;
  std::map<domain::CandidateId, int> m_repeats;  // of uncertain ones
  std::optional<store::CandidateRecord> m_current;
  std::set<domain::CandidateId> m_confirmed;
  std::set<domain::CandidateId> m_doubted;
  std::unique_ptr<trust::Verification> m_fresh;
  std::chrono::steady_clock::time_point m_start;
  bool m_cancelled = false;
};

}  // namespace swage::run
