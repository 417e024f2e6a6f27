// SPDX-License-Identifier: Apache-2.0
#include "core/services/activity.h"

#include <algorithm>

namespace swage::services {

TimeLeft timeLeft(const Progress& progress) {
  TimeLeft left;
  if (progress.budgetSeconds > 0.0) {
    left = {TimeLeft::Limit::Time, std::max(0.0, progress.budgetSeconds - progress.elapsedSeconds)};
  }
  if (progress.maxEvaluations > 0 && progress.perSecond > 0.0) {
    const auto missing = static_cast<double>(std::max<std::int64_t>(0, progress.maxEvaluations - progress.evaluations));
    const double seconds = missing / progress.perSecond;
    if (left.limit == TimeLeft::Limit::None || seconds < left.seconds) {
      left = {TimeLeft::Limit::Evaluations, seconds};
    }
  }
  return left;
}

ActivitySample sampleOf(const ProposerReport& report) {
  return {.elapsedSeconds = report.elapsedSeconds,
          .filledCells = report.filledCells,
          .improvements = report.improvements,
          .proposers = report.proposers,
          .exchange = report.exchange};
}

}  // namespace swage::services
