// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/domain/annotation.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/record/status.h"
#include "core/domain/speedup.h"

// The record's rows as everybody sees them: the store reads them, services hand them on, the window and the command
// line show them. Shares of the roof are of what the hardware allows (stats::Roofline), at most 1, and are filled in by
// who knows the device's roof; 0: not known.
namespace swage::domain {

// One line of the table of candidates; cheap to read a million of.
struct CandidateRow {
  CandidateId id;
  RunId run;
  int island = 0;
  ProposerName madeBy = OperatorKind::Synthesis;
  std::optional<Cell> cell;
  CandidateStatus status = CandidateStatus::Pending;
  std::string summary;
  double timeNs = 0.0;
  double lowNs = 0.0;
  double highNs = 0.0;
  Speedup speedup;  // against the run's fastest baseline
  double relativeError = 0.0;
  int registers = 0;
  double elapsedSeconds = 0.0;  // search time of the run when it was evaluated
  std::vector<CandidateId> parents;
  double roofShare = 0.0;
  bool isAlgebraic = false;  // it computes something else than the task's graph that is equal by algebra
  Annotation annotation;
};

// One cell of a run's archive.
struct CellSummary {
  enum class State : std::uint8_t { Unavailable, Empty, FailedOnly, Filled };
  Cell cell;
  State state = State::Empty;
  std::int64_t tried = 0;
  std::int64_t correct = 0;
  CandidateId best;
  double bestTimeNs = 0.0;
  Speedup speedup;
  bool isOverallBest = false;
  // Of the best candidate, as in CandidateRow; only where the cells come from the record.
  double roofShare = 0.0;
  double relativeError = 0.0;
  int registers = 0;
  double foundSeconds = 0.0;  // of the run, when it was evaluated
};

// One run. Who wins it is said in winner.h.
struct RunSummary {
  RunId id;
  std::string taskName;
  std::string deviceName;
  std::string target;
  RunStatus status = RunStatus::Running;
  std::int64_t startedAtMs = 0;  // UTC
  double elapsedSeconds = 0.0;   // of search, over all sittings
  std::int64_t evaluations = 0;
  std::int64_t correct = 0;
  CandidateId best;    // what ranks first, or won the last measurement; never PyTorch's own operators
  CandidateId own;     // PyTorch's own operators, where they are correct
  CandidateId winner;  // chosen by the last measurement, `best` or `own`; invalid: there was none yet (see winner.h)
  double bestTimeNs = 0.0;
  Speedup bestSpeedup;  // of `best`
  std::string baselineMode;
  double baselineNs = 0.0;  // fastest of PyTorch's ways that its settings permit, 0: none yet
  double roofShare = 0.0;   // of `best`
  std::uint64_t seed = 0;
  double timeBudgetSeconds = 0.0;
  std::int64_t maxEvaluations = 0;  // 0: no limit
};

// What ranked first so far against search time, one point for each improvement.
struct HistoryPoint {
  double elapsedSeconds = 0.0;
  Speedup speedup;
  CandidateId candidate;
};

// How far a lineage reaches from its candidate.
struct LineageReach {
  int generationsUp = 12;
  int generationsDown = 2;
  std::size_t candidates = 200;
};
// A candidate with its ancestors and descendants, near ones first.
struct Lineage {
  std::vector<CandidateRow> rows;  // each candidate once, the asked one first
  bool hasMoreAncestors = false;   // than were asked for
  bool hasMoreDescendants = false;
};

}  // namespace swage::domain
