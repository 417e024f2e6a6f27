// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/process/compiler_pool.h"
#include "core/process/worker_supervisor.h"
#include "core/run/proposer_pool.h"
#include "core/store/record.h"

namespace swage::run {

// The way of a candidate: offer, duplicate?, compile, duplicate?, cell, verify and time, record, report.
// Every step is in the record before the next one starts, so a kill at any moment leaves a candidate without an
// evaluation at worst, and restore() takes it up again. Each candidate goes to the next idle worker: each has a device
// of its own, all of one model. Borrows everything it works with. One thread only.
class CandidatePipeline : public QObject {
  Q_OBJECT

 public:
  struct Parts {
    store::Record& record;
    ProposerPool& proposers;
    process::CompilerPool& compilers;
    process::WorkerSupervisor& worker;
  };
  struct Options {
    domain::RunId run;
    domain::DeviceInfo device;
    // On a GPU compilers work while the worker times; on a CPU they would steal the cores that are being timed, so
    // batches are compiled first and evaluated after.
    bool overlap = false;
    int batch = 4;
    double timingBudgetSeconds = 0.5;
    int maxSamples = 50;
    double checkSeconds = 0.0;  // see wire::Evaluate: the best are checked on the rest when they are measured again
    double limitSeconds = 20.0;
    double floorNs = 0.0;  // faster than this is impossible; 0: not known
    double eagerNs = 0.0;  // as the worker measured it when it loaded the task; 0: no racing
    int islands = 1;       // on which candidates may be
    std::function<double()> elapsedSeconds;
    std::function<domain::Speedup(const domain::Cell&)> eliteSpeedup{};  // what to race against; empty: no racing
    std::function<domain::Speedup()> bestSpeedup{};  // of all cells; empty: everybody is a contender
    std::function<bool(std::int64_t inFlight)> mayPropose;
  };

  CandidatePipeline(Parts parts, Options options, QObject* parent = nullptr);

  // Before anything else: what earlier sittings of the run did. Candidates without an evaluation are taken up again.
  [[nodiscard]] Result<> restore(std::vector<store::CandidateRecord> history);
  // The graph as it is, every node an ATen step. Only in a new run.
  void addIdentity(domain::Program program);
  void run();
  // One more worker that has the task, on a device of the same model; `device` is its UUID.
  void addWorker(process::WorkerSupervisor& worker, std::string device);
  // Its device is given up. What it was evaluating is evaluated again by another; there must be one.
  void removeWorker(process::WorkerSupervisor& worker);
  // Starts nothing new; halted() follows when no evaluation is in progress. run() goes on.
  void halt();

  [[nodiscard]] std::int64_t evaluations() const { return m_evaluations; }
  [[nodiscard]] std::int64_t correct() const { return m_correct; }
  [[nodiscard]] bool isEvaluating() const { return inWorkers() > 0; }
  [[nodiscard]] std::string stage() const;
  [[nodiscard]] domain::CandidateId identity() const { return m_identity; }
  // What a worker is evaluating; invalid: nothing.
  [[nodiscard]] domain::CandidateId candidateOf(const process::WorkerSupervisor& worker) const;

 Q_SIGNALS:
  void proposed(const swage::store::CandidateRecord& candidate);
  // Of an earlier sitting, with its end if it had one.
  void restored(const swage::store::CandidateRecord& candidate);
  // With what compilers and workers were busy with it, in seconds.
  void ended(const swage::store::CandidateRecord& candidate, double trialSeconds);
  void halted();
  // Nothing is in flight and nothing new may or can be proposed.
  void drained();
  void failed(const swage::Error& error);

 private:
  struct Item {
    store::CandidateRecord record;
    std::string binary;
    std::optional<domain::ProposerName> proposer = {};  // none: of an earlier sitting, or nobody's
    std::optional<store::StageSeconds> stages = {};
    std::optional<domain::CompileOutcome> compiled = {};  // by its proposer
  };
  // A worker, what it is evaluating, and what it has been given to go on with.
  struct Lane {
    process::WorkerSupervisor* worker = nullptr;
    std::string device;  // empty: the run's own
    std::deque<Item> items;
  };

  void pump();
  void pumpLater();
  [[nodiscard]] bool mayCompile() const;
  [[nodiscard]] bool mayEvaluate() const;
  [[nodiscard]] std::int64_t inFlight() const;
  [[nodiscard]] std::int64_t inWorkers() const;
  [[nodiscard]] Lane* freeLane() const;
  Lane& addLane(process::WorkerSupervisor& worker);
  bool takeOne();
  [[nodiscard]] Result<> take(ProposerPool::Taken taken);
  [[nodiscard]] Result<> enter(store::CandidateRecord& record);
  [[nodiscard]] Result<> addUnwritten(Item item, domain::Evaluation why, const Offer& offer);
  // `offer` is null for what nobody offered in this sitting.
  [[nodiscard]] Result<> admit(Item item, const Offer* offer = nullptr);
  [[nodiscard]] Result<> build(Item item);
  void handleCompiled(std::uint64_t token, const domain::CompileOutcome& outcome);
  void settleBatch();
  void settle(std::uint64_t token, const domain::CompileOutcome& outcome);
  [[nodiscard]] Result<> accept(Item item, const domain::CompiledBinary& binary);
  void evaluateReady();
  [[nodiscard]] double screeningNs(const store::CandidateRecord& record) const;
  [[nodiscard]] double contenderNs(const store::CandidateRecord& record) const;
  void evaluateNext(Lane& lane);
  void handleEvaluated(Lane& lane, const process::EvaluationResult& result);
  [[nodiscard]] Result<> requeue(Item item);
  [[nodiscard]] domain::Evaluation checkFloor(domain::Evaluation evaluation) const;
  [[nodiscard]] Result<> finish(Item item, domain::Evaluation evaluation);
  void tell(const Item& item);
  void remember(const store::CandidateRecord& record);
  void count(const domain::Evaluation& evaluation);
  void check(const Result<>& result);

  Parts m_parts;
  Options m_options;
  enum class Flow : std::uint8_t { Halted, Running, Broken } m_flow = Flow::Halted;
  bool m_evaluatingBatch = false;  // without overlap: which half of the cycle
  bool m_pumpQueued = false;
  std::map<std::uint64_t, Item> m_compiling;
  std::map<std::uint64_t, domain::CompileOutcome> m_compiled;  // without overlap: until the whole batch is
  std::deque<Item> m_waiting;                                  // restored ones, before they are built
  std::deque<Item> m_ready;                                    // to be evaluated
  std::vector<std::unique_ptr<Lane>> m_lanes;
  std::unordered_map<std::string, domain::CandidateId> m_bySource;
  std::unordered_map<std::string, domain::CandidateId> m_byBinary;  // binary and plan
  domain::CandidateId m_identity;
  std::int64_t m_evaluations = 0;
  std::int64_t m_correct = 0;
};

}  // namespace swage::run
