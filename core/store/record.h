// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/assurance.h"
#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/profile.h"
#include "core/domain/record/event.h"
#include "core/domain/record/query.h"
#include "core/domain/record/rows.h"
#include "core/domain/record/status.h"
#include "core/domain/speedup.h"
#include "core/domain/task.h"

// The record of a project: `<project>/runs.sqlite`. Everything that was tried and what became of it.
namespace swage::store {

using domain::CandidateColumn;
using domain::CandidateQuery;
using domain::CandidateRow;
using domain::RunStatus;

struct NewRun {
  domain::Task task;
  std::string bundlePath;
  domain::DeviceInfo device;
  std::uint64_t seed = 1;
  double timeBudgetSeconds = 0.0;
  std::int64_t maxEvaluations = 0;
  std::string optionsJson;  // the whole specification, for resume
  std::string swageVersion;
};

// With what going on with it takes.
struct RunRow : domain::RunSummary {
  std::string taskId;
  std::string bundlePath;
  domain::DeviceInfo device;
  std::string optionsJson;
  domain::Speedup eagerSpeedup;  // of eager against the fastest of PyTorch's ways
};

struct NewCandidate {
  domain::RunId run;
  int island = 0;
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  std::vector<domain::CandidateId> parents;
  std::optional<domain::Genome> genome;  // of a program that was synthesised
  domain::Program program;
  std::string sourceHash;     // of source and plan
  std::int64_t proposal = 0;  // ProposalId of the search, for resume
};

// How long the worker was busy with a candidate, in seconds.
struct StageSeconds {
  double verify = 0.0;
  double timing = 0.0;
};

// Sums over the candidates of a run that its search made.
struct StageTotals {
  std::int64_t compiled = 0;
  double compileSeconds = 0.0;  // of all compilers together
  std::int64_t evaluated = 0;   // that reached the worker
  double verifySeconds = 0.0;
  double timingSeconds = 0.0;
};

// A candidate with its whole evaluation. Absent evaluation: interrupted before it ended.
struct CandidateRecord {
  domain::CandidateId id;
  domain::RunId run;
  std::int64_t proposal = 0;
  int island = 0;
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  std::vector<domain::CandidateId> parents;
  std::optional<domain::Genome> genome;  // of a program that was synthesised
  domain::Program program;
  std::string sourceHash;
  std::string binaryHash;
  std::string assembly;
  std::string compileLog;
  double compileSeconds = 0.0;
  std::vector<domain::KernelFacts> kernels;
  std::optional<domain::Cell> cell;
  std::optional<domain::Evaluation> evaluation;
  std::int64_t createdAtMs = 0;
  double elapsedSeconds = 0.0;  // search time of the run when it was evaluated
};

// What one operator, or another proposer, has proposed on one island.
struct ProposerLine {
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  int island = 0;
  std::int64_t proposed = 0;
  std::int64_t correct = 0;
  int elites = 0;  // cells of which it has the best
  domain::CandidateId last;
  std::string lastStatus;
};

// The record, on the thread that opened it. One process writes a project: opening for writing takes an flock on
// `<project>/runs.lock` and fails with ErrorKind::Locked (naming the holder's pid) when another holds it.
// Every write is one transaction that is durable against SIGKILL when the call returns.
// Storage failures are ErrorKind::Storage; after one, what was committed before is still there.
class Record {
 public:
  enum class Mode : std::uint8_t { ReadOnly, ReadWrite };
  // Creates the project directory and schema when writing; migrates an older schema after a backup; refuses a newer
  // one. Runs whose writer was killed become Interrupted when writing.
  [[nodiscard]] static Result<Record> open(const std::filesystem::path& project, Mode mode);
  // Brings a record of an earlier version up to date, after a backup, so that it can be opened for reading. Nothing
  // happens to one that needs nothing, that is not there, or that is of a newer version.
  [[nodiscard]] static Result<> bringUpToDate(const std::filesystem::path& project);
  ~Record();
  Record(Record&&) noexcept;
  Record& operator=(Record&&) noexcept;

  [[nodiscard]] Result<domain::RunId> createRun(const NewRun& run);
  // A run that goes on has no winner yet: Running and Paused forget it. What a run that has ended did not evaluate is
  // "not evaluated", until it goes on.
  [[nodiscard]] Result<> setRunStatus(domain::RunId run, RunStatus status, double elapsedSeconds);
  // The candidate that the last measurement of a run chose; from then on it is the run's best.
  [[nodiscard]] Result<> setWinner(domain::RunId run, domain::CandidateId winner);
  [[nodiscard]] Result<> addBaseline(domain::RunId run, const domain::Baseline& baseline);
  [[nodiscard]] Result<domain::CandidateId> addCandidate(const NewCandidate& candidate);
  // No cell: nothing of it was compiled, it is PyTorch's own operators.
  [[nodiscard]] Result<> setCompiled(domain::CandidateId id, const domain::CompiledBinary& binary,
                                     const std::optional<domain::Cell>& cell);
  // Absent `stages` leave what is known of them: a measurement that is made again does not belong to the search.
  [[nodiscard]] Result<> setEvaluation(domain::CandidateId id, const domain::Evaluation& evaluation,
                                       double elapsedSeconds, std::optional<StageSeconds> stages = std::nullopt);
  // Another process contradicted a speedup that was hard to believe, or could not be asked. Whoever is more than so
  // many times as fast as the fastest baseline, and was not confirmed, ranks nowhere until it is evaluated again.
  [[nodiscard]] Result<> withdrawUnconfirmed(domain::RunId run, double aboveSpeedup);
  // Replaces what was known of the same kind.
  [[nodiscard]] Result<> setAssurance(domain::CandidateId id, const domain::Assurance& assurance);
  [[nodiscard]] Result<> setProfile(domain::CandidateId id, const domain::Profile& profile);
  // Keeps a text beside the rows, once for equal ones, and gives what it is found again by.
  [[nodiscard]] Result<std::int64_t> addText(std::string_view text);
  [[nodiscard]] Result<> addEvent(domain::RunId run, domain::EventKind kind, std::string_view json);

  [[nodiscard]] Result<std::vector<RunRow>> runs() const;
  [[nodiscard]] Result<RunRow> run(domain::RunId id) const;
  [[nodiscard]] Result<domain::Task> task(std::string_view taskId) const;
  [[nodiscard]] Result<std::vector<domain::Baseline>> baselines(domain::RunId run) const;
  // What earlier runs measured of the same task on the same device with the same PyTorch: of each mode the newest.
  struct KnownBaseline {
    domain::Baseline baseline;
    domain::RunId run;             // that measured it, not one that used it again
    std::int64_t startedAtMs = 0;  // of that run, UTC
  };
  [[nodiscard]] Result<std::vector<KnownBaseline>> knownBaselines(std::string_view taskId, std::string_view deviceUuid,
                                                                  std::string_view torchVersion) const;
  [[nodiscard]] Result<StageTotals> stageTotals(domain::RunId run) const;
  [[nodiscard]] Result<std::vector<domain::Assurance>> assurances(domain::CandidateId id) const;
  [[nodiscard]] Result<std::optional<domain::Profile>> profile(domain::CandidateId id) const;
  [[nodiscard]] Result<std::vector<CandidateRow>> candidates(const CandidateQuery& query) const;
  [[nodiscard]] Result<std::int64_t> candidateCount(const CandidateQuery& query) const;
  // All that match, in order, whatever limit and offset say. `isCancelled` is asked every few milliseconds; when it
  // says so, the query ends with ErrorKind::Cancelled.
  [[nodiscard]] Result<std::vector<domain::CandidateId>> candidateIds(const CandidateQuery& query,
                                                                      const std::function<bool()>& isCancelled) const;
  // One row for each id, in their order.
  [[nodiscard]] Result<std::vector<CandidateRow>> candidates(std::span<const domain::CandidateId> ids) const;
  // A candidate with its ancestors and descendants, near ones first.
  [[nodiscard]] Result<domain::Lineage> lineage(domain::CandidateId id, const domain::LineageReach& reach) const;
  [[nodiscard]] Result<CandidateRecord> candidate(domain::CandidateId id) const;
  // The youngest candidate that both descend from, themselves included; the one with the largest id.
  [[nodiscard]] Result<std::optional<domain::CandidateId>> commonAncestor(domain::CandidateId first,
                                                                          domain::CandidateId second) const;
  // The bytes that ran, as stored by content hash.
  [[nodiscard]] Result<std::string> binary(std::string_view binaryHash) const;
  [[nodiscard]] Result<std::string> text(std::int64_t id) const;
  // All candidates of a run in proposal order, without assembly and binary: what resume replays.
  [[nodiscard]] Result<std::vector<CandidateRecord>> history(domain::RunId run) const;
  [[nodiscard]] Result<std::vector<domain::CellSummary>> cells(domain::RunId run, std::optional<int> island) const;
  // As they were so many seconds into the run: its archive can be replayed. Reads every candidate of the run.
  [[nodiscard]] Result<std::vector<domain::CellSummary>> cellsAt(domain::RunId run, std::optional<int> island,
                                                                 double seconds) const;
  // The islands that have seen a candidate: 0 up to one less than this.
  [[nodiscard]] Result<int> islandCount(domain::RunId run) const;
  // By operator and island. Reads every candidate of the run.
  [[nodiscard]] Result<std::vector<ProposerLine>> proposers(domain::RunId run) const;
  // When each cell that has a correct candidate got its first, in seconds of the search, ascending.
  [[nodiscard]] Result<std::vector<double>> cellsFilledAt(domain::RunId run) const;
  [[nodiscard]] Result<std::vector<domain::HistoryPoint>> improvements(domain::RunId run) const;
  [[nodiscard]] Result<std::vector<domain::RunEvent>> events(domain::RunId run) const;

 private:
  struct Impl;
  explicit Record(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

}  // namespace swage::store
