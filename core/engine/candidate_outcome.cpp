// SPDX-License-Identifier: Apache-2.0
#include "core/engine/candidate_outcome.h"

#include <variant>

namespace swage::engine {

std::optional<domain::Evaluation> evaluationOf(const Error& why) {
  switch (why.kind()) {
    case ErrorKind::InvalidInput: return domain::Rejected{.rule = "genome", .detail = why.message()};
    case ErrorKind::Internal:
      return domain::CompileFailed{.reason = domain::CompileFailureReason::Crash, .log = why.message()};
    default: return std::nullopt;
  }
}

domain::Evaluation evaluationOf(const domain::CompileFailed& failure) {
  if (failure.reason == domain::CompileFailureReason::Refused) {
    return domain::Rejected{.rule = "code check", .detail = failure.log};
  }
  return failure;
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

}  // namespace swage::engine
