// SPDX-License-Identifier: Apache-2.0
#include "core/run/candidate_outcome.h"

#include <variant>

namespace swage::run {

std::optional<domain::Evaluation> evaluationOf(const Error& why) {
  switch (why.kind()) {
    case ErrorKind::InvalidInput: return domain::Rejected{.rule = "genome", .detail = why.message()};
    case ErrorKind::Internal:
      return domain::CompileFailed{.reason = domain::CompileFailureReason::Crash, .log = why.message()};
    default: return std::nullopt;
  }
}

search::Outcome outcomeOf(const store::CandidateRecord& candidate, const domain::Evaluation& evaluation) {
  search::Outcome outcome;
  outcome.candidate = candidate.id;
  // PyTorch's own operators do not compete.
  outcome.cell = candidate.madeBy == domain::OperatorKind::Baseline ? std::nullopt : candidate.cell;
  if (std::holds_alternative<domain::Duplicate>(evaluation)) {
    outcome.kind = search::Outcome::Kind::Duplicate;
  } else if (const domain::Correct* correct = domain::asCorrect(evaluation)) {
    outcome.kind = correct->timing.screenedOut ? search::Outcome::Kind::ScreenedOut : search::Outcome::Kind::Correct;
    outcome.timeNs = correct->timing.candidate.medianNs;
    outcome.overEager = correct->timing.screenedOut ? domain::Speedup::exactly(correct->timing.speedup)
                                                    : domain::againstEager(correct->timing);
  }
  return outcome;
}

}  // namespace swage::run
