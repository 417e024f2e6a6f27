// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/domain/profile.h"
#include "core/domain/record/query.h"
#include "core/services/activity.h"
#include "core/services/types.h"

namespace swage::services {

using domain::CandidateColumn;
using domain::CandidateQuery;
using domain::LineageReach;

using CandidateIds = std::shared_ptr<const std::vector<domain::CandidateId>>;

// Reads the record of the open project, and keeps what a person says about its candidates. What returns a Result takes
// milliseconds and is answered at once, on the calling thread; what may take longer returns a QFuture, whose answers
// come in the order of the calls. Used on one thread.
class RecordService {
 public:
  virtual ~RecordService() = default;

  [[nodiscard]] virtual Result<> open(const std::filesystem::path& project) = 0;
  [[nodiscard]] virtual Result<std::vector<RunSummary>> runs() const = 0;
  [[nodiscard]] virtual Result<RunSummary> run(domain::RunId id) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> candidateCount(const CandidateQuery& query) const = 0;
  [[nodiscard]] virtual Result<std::vector<CandidateRow>> candidates(const CandidateQuery& query) const = 0;
  // All that match, in order: of a million in tens of milliseconds with an order alone, in seconds where the filter has
  // to read each of them. Limit and offset have no say. Cancel the future when nobody needs the answer any more.
  [[nodiscard]] virtual QFuture<Result<CandidateIds>> candidateIds(const CandidateQuery& query) const = 0;
  // One row for each id, in their order. A few hundred at a time.
  [[nodiscard]] virtual Result<std::vector<CandidateRow>> candidates(
      std::span<const domain::CandidateId> ids) const = 0;
  [[nodiscard]] virtual Result<Lineage> lineage(domain::CandidateId id, const LineageReach& reach) const = 0;
  // Writes to the record, also beside a run. The answer is the edit that undoes what really changed.
  [[nodiscard]] virtual QFuture<Result<domain::AnnotationEdit>> annotate(const domain::AnnotationEdit& edit) = 0;
  [[nodiscard]] virtual Result<CandidateDetail> candidate(domain::CandidateId id) const = 0;
  // All 36, in index order.
  [[nodiscard]] virtual Result<std::vector<CellSummary>> cells(domain::RunId run, std::optional<int> island) const = 0;
  // All 36, as they were so many seconds into the run.
  [[nodiscard]] virtual Result<std::vector<CellSummary>> cellsAt(domain::RunId run, std::optional<int> island,
                                                                 double seconds) const = 0;
  // How many islands have seen a candidate.
  [[nodiscard]] virtual Result<int> islandCount(domain::RunId run) const = 0;
  [[nodiscard]] virtual Result<std::vector<HistoryPoint>> history(domain::RunId run) const = 0;
  [[nodiscard]] virtual Result<std::vector<domain::Baseline>> baselines(domain::RunId run) const = 0;
  // Who proposed what, and how the search went. Reads every candidate of the run.
  [[nodiscard]] virtual QFuture<Result<RunActivity>> activity(domain::RunId run) const = 0;
  // Absent where none was made.
  [[nodiscard]] virtual Result<std::optional<domain::Profile>> profile(domain::CandidateId id) const = 0;
};

}  // namespace swage::services
