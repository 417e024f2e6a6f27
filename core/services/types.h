// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/record/rows.h"
#include "core/domain/record/status.h"
#include "core/domain/speedup.h"

// Immutable snapshots that the UI and the command line receive.
namespace swage::services {

inline constexpr int kMostPairs = 1024;

struct RunSpec {
  std::string task;                                            // FILE.py, FILE.py:Class or a bundle directory
  std::string inputs;                                          // --inputs, for a plain module
  std::vector<std::pair<std::string, std::string>> overrides;  // --set
  bool eval = false;
  std::string target = "auto";  // "cpu", "cuda", "auto"
  double timeBudgetSeconds = 60.0;
  std::int64_t maxEvaluations = 0;  // 0: no limit
  std::uint64_t seed = 1;
  std::filesystem::path project;
  bool compileBaselines = true;         // also measure torch.compile
  std::vector<std::string> baselines;   // which modes of PyTorch to measure; empty: eager, torch.compile if asked for
                                        // above, and max-autotune where the time budget is five minutes or more
  bool remeasureBaselines = false;      // also where an earlier run has measured them
  double targetSpeedup = 0.0;           // the search ends once a candidate surely reaches it; 0: none
  double requiredSpeedup = 0.0;         // what the winner has to reach; 0: nothing
  int pairs = 32;                       // of coder and judge, spread over the islands
  bool judge = true;                    // false: pairs have no judge, and the search goes its own way
  double budgetUsd = 0.0;               // what makers of candidates may cost; 0: no limit
  std::int64_t budgetTokens = 0;        // of language models; 0: no limit
  std::optional<domain::RunId> resume;  // go on with this run instead of starting one
};

enum class RunState : std::uint8_t {
  Idle,
  Importing,
  Preparing,
  Running,
  Paused,
  Stopping,
  Finished,
  Interrupted,
  Failed
};
// Finished, Interrupted or Failed.
[[nodiscard]] bool hasEnded(RunState state);
[[nodiscard]] std::string_view name(RunState state);
// In a person's words: "not started", "stopped".
[[nodiscard]] std::string_view title(RunState state);
struct Progress {
  RunState state = RunState::Idle;
  std::string stage;       // "compiling 3, verifying 1"
  int step = 0;            // of the self-test of the device, while that runs
  int steps = 0;           // 0: nothing of the kind
  bool finishing = false;  // the search is over; its best are checked and measured once more
  double elapsedSeconds = 0.0;
  double budgetSeconds = 0.0;
  std::int64_t evaluations = 0;  // candidates that reached an end
  std::int64_t maxEvaluations = 0;
  std::int64_t correct = 0;
  double perSecond = 0.0;
  domain::Speedup bestSpeedup;  // against the fastest baseline known so far
  domain::CandidateId best;
  int filledCells = 0;
};

using domain::CandidateRow;
using domain::CandidateStatus;
using domain::CellSummary;
using domain::HistoryPoint;
using domain::Lineage;
using domain::RunStatus;
using domain::RunSummary;

struct CandidateDetail {
  CandidateRow row;
  std::optional<domain::Genome> genome;  // of a program that was synthesised
  domain::Program program;
  std::string assembly;
  std::string compileLog;
  std::vector<domain::KernelFacts> kernels;
  std::optional<domain::Evaluation> evaluation;
};

struct Notice {
  enum class Severity : std::uint8_t { Info, Warning, Error };
  // What it is about, for those who offer a way out, or tell the user elsewhere, too.
  enum class Subject : std::uint8_t { Other, GpuLost, WorkerKilled, DiskFull, RecordLocked };
  Severity severity = Severity::Info;
  std::string text;
  std::string hint;
  Subject subject = Subject::Other;
};

// How a run ended.
struct RunOutcome {
  domain::RunId run;
  RunState state = RunState::Finished;
  std::optional<Error> error;                      // absent when it ran to the end of its budget or was stopped
  Notice::Subject cause = Notice::Subject::Other;  // of the error
  bool interrupted = false;                        // stopped by the user or a signal: the state is Interrupted
  domain::CandidateId best;                        // never PyTorch's own operators
  domain::Speedup bestSpeedup;
  domain::CandidateId winner;  // as in RunSummary; invalid: nothing is correct, or the run ended before its last
                               // measurement
  std::string baselineMode;
  bool targetMissed = false;  // the lower end of the winner's speedup is below what was asked for
};

// What the winner of such a run has to reach at the lower end of its speedup; 0: nothing.
[[nodiscard]] double wantedSpeedup(const RunSpec& spec);
}  // namespace swage::services
