// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/strong_id.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/speedup.h"

namespace swage::search {

using ProposalId = StrongId<struct ProposalIdTag>;

// What to try next.
struct Proposal {
  ProposalId id;
  std::optional<domain::Genome> genome;  // what is made here has one; other proposers have programs of their own
  domain::ProposerName made_by = domain::OperatorKind::Synthesis;
  int island = 0;
  std::vector<domain::CandidateId> parents;
  std::optional<domain::Cell> aim;
  bool isGuided = false;  // it follows the guidance that next() was given
};

// What became of a proposal, as far as the search cares.
struct Outcome {
  enum class Kind : std::uint8_t { Correct, Failed, Duplicate, ScreenedOut };
  Kind kind = Kind::Failed;
  domain::CandidateId candidate;
  std::optional<domain::Cell> cell;  // known once it compiled
  double timeNs = 0.0;               // Correct and ScreenedOut
  domain::Speedup overEager;         // Correct: measured in turns with eager; ScreenedOut: a first impression
};

// True when the outcome carries a speedup that can be learnt from: one of a damaged record may not.
[[nodiscard]] bool isTimed(const Outcome& outcome);

}  // namespace swage::search
