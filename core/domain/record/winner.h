// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/record/rows.h"
#include "core/domain/speedup.h"

// Who wins a run: one rule, for the end of a search, for listings and reports, and for what is exported.
namespace swage::domain {

// Against the fastest of PyTorch's ways: the whole interval lies above 1.
[[nodiscard]] bool surelyBeatsPytorch(const Speedup& speedup);

// A correct candidate that is not PyTorch's own operators, as it was measured last.
struct Finalist {
  CandidateId id;
  Speedup speedup;      // against the fastest of PyTorch's ways
  bool isSolid = true;  // neither its interval is wide, nor was the device held back or shared meanwhile
  int launches = 1;
  double relativeError = 0.0;  // the largest of all outputs
};

// Of the finalists that surely beat PyTorch, the one with the highest lower end; where these are equal, the one with
// fewer launches, then the smaller error, then the older one. One that is not solid only counts when none is. Without
// such a finalist PyTorch's own operators win (`own`, which is invalid where they are not correct); where they are
// not, surely beating PyTorch is not asked for. Invalid: nothing is correct.
[[nodiscard]] CandidateId winnerAmong(std::vector<Finalist> finalists, CandidateId own);

// The winner of a run as the record has it: who the last measurement chose, else who wins by the same rule so far.
// Invalid: nothing is correct.
[[nodiscard]] CandidateId winnerOf(const RunSummary& run);
// PyTorch's own way wins: nothing is surely faster than it, and the run knows how fast that is.
[[nodiscard]] bool pytorchWins(const RunSummary& run);

}  // namespace swage::domain
