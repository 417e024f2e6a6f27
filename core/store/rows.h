// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/store/record.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Statement;
}

// How rows of the record become values and back. What a database holds is checked like anything else that was read.
namespace swage::store {

[[nodiscard]] std::string joinIds(const std::vector<domain::CandidateId>& ids);
[[nodiscard]] Result<std::vector<domain::CandidateId>> splitIds(std::string_view text);

// SELECT … FROM … of what runFrom() reads.
[[nodiscard]] std::string_view selectRuns();
[[nodiscard]] Result<RunRow> runFrom(SQLite::Statement& row);

// Three columns from `first` on, each of which may be NULL.
[[nodiscard]] domain::Speedup speedupFrom(SQLite::Statement& row, int first);

// The columns that rowFrom() reads, from candidates. `eagerSpeedup` is RunRow::eagerSpeedup of its run.
[[nodiscard]] std::string_view rowColumns();
[[nodiscard]] Result<CandidateRow> rowFrom(SQLite::Statement& row, const domain::Speedup& eagerSpeedup);

// The columns that recordFrom() reads, from candidates JOIN candidate_details. The artifacts are left to the caller.
[[nodiscard]] std::string_view recordColumns();
struct StoredCandidate {
  CandidateRecord record;
  std::int64_t sourceArtifact = 0;
  std::int64_t planArtifact = 0;
  std::optional<std::int64_t> assemblyArtifact;
  std::optional<std::int64_t> logArtifact;
};
[[nodiscard]] Result<StoredCandidate> recordFrom(SQLite::Statement& row);

// What the table of candidates shows of an evaluation.
struct EvaluationColumns {
  domain::CandidateStatus status = domain::CandidateStatus::Pending;
  std::string summary;
  std::optional<double> timeNs;
  std::optional<double> lowNs;
  std::optional<double> highNs;
  std::optional<domain::Speedup> overEager;  // of a correct and fully measured candidate
  std::optional<double> rank;                // its lower end; absent: it does not compete
  std::optional<double> relativeError;
};
[[nodiscard]] EvaluationColumns columnsOf(const domain::Evaluation& evaluation, const domain::ProposerName& madeBy);

}  // namespace swage::store
