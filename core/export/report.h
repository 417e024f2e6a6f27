// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/domain/assurance.h"
#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/speedup.h"

// A run written up for people who do not have Swage: one text that needs nothing from outside. Pure.
namespace swage::exporting {

struct ReportCandidate {
  domain::CandidateId id;
  std::string madeBy;
  std::string cell;  // "A1B0C1"; empty: none
  double timeNs = 0.0;
  double lowNs = 0.0;
  double highNs = 0.0;
  domain::Speedup speedup;
  double relativeError = 0.0;
  double roofShare = 0.0;  // 0: not known
  int registers = 0;
  bool isPyTorch = false;  // its own operators
};

struct ReportCell {
  enum class State : std::uint8_t { Unavailable, Empty, FailedOnly, Filled };
  domain::Cell cell;
  State state = State::Empty;
  std::int64_t tried = 0;
  domain::CandidateId best;
  double timeNs = 0.0;
  domain::Speedup speedup;
};

struct ReportPoint {
  double seconds = 0.0;  // of the search
  domain::Speedup speedup;
  domain::CandidateId candidate;
};

struct RunReport {
  // The task.
  std::string taskName;
  std::string taskSource;  // "class Model of softmax_rows.py"
  std::string inputs;      // "float32[4096, 1024]"
  std::string outputs;
  std::vector<std::pair<std::string, std::string>> overrides;
  std::int64_t operators = 0;
  // The run.
  domain::RunId run;
  std::string status;
  std::string startedAt;  // "2026-01-31 12:05 UTC"
  double elapsedSeconds = 0.0;
  double budgetSeconds = 0.0;  // 0: none
  std::int64_t maxEvaluations = 0;
  std::uint64_t seed = 0;
  std::int64_t evaluations = 0;
  std::int64_t correct = 0;
  std::string swageVersion;
  std::string torchVersion;
  domain::DeviceInfo device;
  // What was found.
  std::vector<domain::Baseline> baselines;
  std::string baselineMode;  // the fastest that counts; empty: none
  double baselineNs = 0.0;
  std::optional<ReportCandidate> best;  // never PyTorch's own operators
  bool bestWins = false;                // it is surely faster than that baseline
  std::vector<ReportCell> cells;        // all 36, in index order
  std::vector<ReportPoint> history;
  std::vector<ReportCandidate> top;                            // the best first
  std::vector<std::pair<std::string, std::int64_t>> failures;  // by reason, the most frequent first
  // Whether to believe it.
  std::vector<domain::Assurance> assurances;  // of the best
  std::vector<domain::OutputError> errors;    // of the best, the largest of each output
  std::string accuracy;                       // of the best
  std::vector<std::string> rewrites;          // of the task's graph in the best, for people
  std::vector<std::string> doubts;            // about the task
  domain::Timing timing;                      // of the best
  std::string source;                         // of the best
  std::vector<std::string> commands;          // that make this again
};

[[nodiscard]] std::string reportHtml(const RunReport& report);
[[nodiscard]] std::string reportMarkdown(const RunReport& report);

// What both say first, without markup.
[[nodiscard]] std::string reportHeadline(const RunReport& report);
[[nodiscard]] std::string reportTime(double nanoseconds);               // "27.4 µs"
[[nodiscard]] std::string speedupText(const domain::Speedup& speedup);  // "2.21× (2.10 to 2.30)"
[[nodiscard]] std::vector<std::pair<std::string, std::string>> reportFacts(
    const RunReport& report);  // task, run, device

}  // namespace swage::exporting
