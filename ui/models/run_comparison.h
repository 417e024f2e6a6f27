// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/models/comparison.h"
#include "ui/models/other_projects.h"

namespace swage::ui {

// What two searches are compared by.
struct ComparedRun {
  RunRef from;
  std::vector<services::HistoryPoint> history;
  std::vector<services::CellSummary> cells;
};
// `open`: the record of the open project.
[[nodiscard]] Result<ComparedRun> loadRun(const services::RecordService& open, const RunRef& run);

// What each run found, how soon, with how much work, and with which settings. Speeds are compared only where task and
// device are the same.
[[nodiscard]] std::vector<ComparisonRow> compareRuns(const ComparedRun& left, const ComparedRun& right);

}  // namespace swage::ui
