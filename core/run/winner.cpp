// SPDX-License-Identifier: Apache-2.0
#include "core/run/winner.h"

namespace swage::run {

Result<domain::CandidateId> winnerOf(const services::RecordService& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const services::RunSummary summary, record.run(run));
  if (summary.winner.isValid() || (summary.best.isValid() && summary.bestSpeedup.low > 1.0)) {
    return summary.winner.isValid() ? summary.winner : summary.best;
  }
  // The identity is a run's first candidate.
  services::CandidatePage first;
  first.run = run;
  first.limit = 1;
  SWAGE_TRY_ASSIGN(const std::vector<services::CandidateRow> rows, record.candidates(first));
  const bool usable =
      !rows.empty() && rows.front().madeBy == domain::OperatorKind::Baseline && rows.front().timeNs > 0.0;
  return usable ? rows.front().id : summary.best;
}

}  // namespace swage::run
