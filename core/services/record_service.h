// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/services/types.h"

namespace swage::services {

enum class CandidateColumn : std::uint8_t { Id, Cell, Island, Operator, Status, Time, Speedup, Error, Registers };

struct CandidatePage {
  domain::RunId run;
  std::optional<domain::Cell> cell;   // only this cell
  std::optional<std::string> status;  // only this status
  CandidateColumn sort = CandidateColumn::Id;
  bool descending = false;
  std::int64_t offset = 0;
  std::int64_t limit = 1000;
};

// Reads the record of the open project. Queries take milliseconds and are answered at once, on the calling thread.
class RecordService {
 public:
  virtual ~RecordService() = default;

  [[nodiscard]] virtual Result<> open(const std::filesystem::path& project) = 0;
  [[nodiscard]] virtual Result<std::vector<RunSummary>> runs() const = 0;
  [[nodiscard]] virtual Result<RunSummary> run(domain::RunId id) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> candidateCount(const CandidatePage& page) const = 0;
  [[nodiscard]] virtual Result<std::vector<CandidateRow>> candidates(const CandidatePage& page) const = 0;
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
};

}  // namespace swage::services
