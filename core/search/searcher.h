// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/search/archive.h"
#include "core/search/genome_space.h"

namespace swage::search {

using ProposalId = StrongId<struct ProposalIdTag>;

// What to try next.
struct Proposal {
  ProposalId id;
  domain::Genome genome;
  domain::OperatorKind made_by = domain::OperatorKind::Synthesis;
  int island = 0;
  std::vector<domain::CandidateId> parents;
  std::optional<domain::Cell> aim;
};

// What became of a proposal, as far as the search cares.
struct Outcome {
  enum class Kind : std::uint8_t { Correct, Failed, Duplicate, ScreenedOut };
  Kind kind = Kind::Failed;
  domain::CandidateId candidate;
  std::optional<domain::Cell> cell;   // known once it compiled
  double timeNs = 0.0;                // Correct and ScreenedOut
  double lowNs = 0.0;                 // 95 % interval
  double highNs = 0.0;
};

struct SearchOptions {
  std::uint64_t seed = 1;
  int islands = 4;
  int migrationInterval = 40;          // reports between migrations
  double aimedShare = 0.2;             // of structural proposals
  double localSearchShare = 0.5;       // of all proposals, once there is an elite
};

// The credit an operator has earned.
struct OperatorCredit {
  domain::OperatorKind kind = domain::OperatorKind::Synthesis;
  int proposed = 0;
  int correct = 0;
  int improved = 0;      // entered the archive
  double weight = 0.0;   // share of proposals it gets now
};

// MAP-Elites over structures, local search over parameters (DESIGN.md, decision 5). Pure and single-threaded:
// no clock, no I/O. The same seed and the same outcomes in the same order give the same proposals.
// Several proposals may be out at a time; outcomes may come back in another order.
class Searcher {
 public:
  Searcher(const GenomeSpace& space, SearchOptions options);
  ~Searcher();
  Searcher(Searcher&&) noexcept;
  Searcher& operator=(Searcher&&) noexcept;

  // No value: nothing new was found after many attempts; the space is exhausted.
  [[nodiscard]] std::optional<Proposal> next();
  void report(ProposalId proposal, const Outcome& outcome);

  [[nodiscard]] const Archive& archive() const;
  [[nodiscard]] std::vector<OperatorCredit> credits() const;
  // Time to give the worker for racing: the elite of `cell` on any island, 0 when the cell is empty.
  [[nodiscard]] double eliteTimeNs(const domain::Cell& cell) const;

  // Brings back the state of an earlier run from its record: what was tried, by whom, and what became of it, in order.
  void restore(const Proposal& proposal, const Outcome& outcome);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace swage::search
