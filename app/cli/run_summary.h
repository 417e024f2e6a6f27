// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/json.h"
#include "core/services/types.h"

namespace swage::cli {

// What a run came to, read back from its record.
struct SearchReport {
  std::filesystem::path project;
  services::RunSummary run;
  services::RunOutcome outcome;
  std::vector<domain::Baseline> baselines;
  std::optional<services::CandidateDetail> best;
  int filledCells = 0;
};

[[nodiscard]] Result<SearchReport> readReport(const std::filesystem::path& project,
                                              const services::RunOutcome& outcome);
[[nodiscard]] std::string reportText(const SearchReport& report);
[[nodiscard]] domain::Json toJson(const SearchReport& report);

}  // namespace swage::cli
