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

[[nodiscard]] std::optional<RunStatus> parseRunStatus(std::string_view text);
[[nodiscard]] std::string joinIds(const std::vector<domain::CandidateId>& ids);
[[nodiscard]] Result<std::vector<domain::CandidateId>> splitIds(std::string_view text);

// The columns that runFrom() reads, for the part between SELECT and FROM runs JOIN tasks.
[[nodiscard]] std::string_view runColumns();
[[nodiscard]] Result<RunRow> runFrom(SQLite::Statement& row);

// The columns that lineFrom() reads, from candidates.
[[nodiscard]] std::string_view lineColumns();
[[nodiscard]] Result<CandidateLine> lineFrom(SQLite::Statement& row, double baselineNs);

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
  std::string status;
  std::string summary;
  std::optional<double> timeNs;
  std::optional<double> lowNs;
  std::optional<double> highNs;
  std::optional<double> rankNs;  // of a correct and fully measured candidate
  std::optional<double> relativeError;
};
[[nodiscard]] EvaluationColumns columnsOf(const domain::Evaluation& evaluation);

}  // namespace swage::store
