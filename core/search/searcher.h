// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/search/archive.h"
#include "core/search/genome_space.h"
#include "core/search/guidance.h"
#include "core/search/island_ring.h"
#include "core/search/operator_credit.h"
#include "core/search/parent_selection.h"
#include "core/search/proposal.h"

namespace swage::search {

struct SearchOptions {
  std::uint64_t seed = 1;
  int islands = 4;
  int migrationInterval = 40;              // reports between migrations
  double aimedShare = 0.2;                 // of structural proposals
  double localSearchShare = 0.5;           // of all proposals, once there is an elite
  ReachableCells reachable = everyCell();  // the others are never aimed at
};

// MAP-Elites over structures, local search over parameters (ARCHITECTURE.md, "Structures"). Pure and single-threaded:
// no clock, no I/O. The same seed and the same outcomes in the same order give the same proposals.
// Several proposals may be out at a time; outcomes may come back in another order.
//
// First the space's seeds, dealt to the islands in turn, without those that the space estimates to take more than twice
// as long as the fastest of exact arithmetic, and without those that round in a way of which all were wrong so far,
// and at most twenty of an order that follows estimates; then local search, aimed changes, or a structural operator
// chosen by credit. Structural operators are there for structures: what they make of a well-known structure is, mostly,
// dropped in favour of local search. Each proposal has a generator of its own, derived from seed and id, so that a
// search brought back by restore() goes on as the first one would have.
class Searcher {
 public:
  // `space` outlives the searcher. Options out of range are moved into it.
  Searcher(const GenomeSpace& space, SearchOptions options);
  ~Searcher();
  Searcher(Searcher&&) noexcept;
  Searcher& operator=(Searcher&&) noexcept;

  // No value: nothing new was found after many attempts. While proposals are out their outcomes may still open a way
  // on; with none out, the space is exhausted. With guidance the proposal follows it where that gives something new,
  // once the seeds are out.
  [[nodiscard]] std::optional<Proposal> next(const Guidance* guidance = nullptr);
  // An id that is not out (unknown, or reported before) is ignored.
  void report(ProposalId proposal, const Outcome& outcome);

  [[nodiscard]] const Archive& archive() const;
  [[nodiscard]] std::vector<OperatorCredit> credits() const;
  [[nodiscard]] Exchange exchange() const;
  // What to race against: the elite of `cell` on any island, over eager. Not known when the cell is empty.
  [[nodiscard]] domain::Speedup eliteSpeedup(const domain::Cell& cell) const;
  // Proposed in this run or brought back: it will not be proposed again.
  [[nodiscard]] bool hasTried(const domain::Genome& genome) const;
  // Canonical texts of everything tried, sorted.
  [[nodiscard]] std::vector<std::string> triedTexts() const;
  [[nodiscard]] std::size_t outstanding() const;

  // Brings back the state of an earlier run from its record: what was tried, by whom, and what became of it, in the
  // order of the reports. Also takes in what was made outside the search (a human edit, an LLM's candidate): such a
  // proposal needs no id. A proposal that never had an outcome is left out, and may be proposed again.
  void restore(const Proposal& proposal, const Outcome& outcome);

  // An elite turned out to be wrong after its report. It stays tried, and what local search learned of its time stays.
  void retract(domain::CandidateId candidate);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace swage::search
