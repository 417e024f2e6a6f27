// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/device_info.h"
#include "core/search/archive.h"
#include "core/services/types.h"
#include "core/store/record.h"

// From what the engine and the record hold to what the UI and the command line show. Pure.
namespace swage::engine {

// `roofNs` is stats::Roofline::roofNs of the run's task and device; 0: not known.
[[nodiscard]] services::CandidateRow rowOf(const store::CandidateRecord& candidate, double baselineNs, double roofNs);
[[nodiscard]] services::CandidateRow rowOf(const store::CandidateLine& line, double roofNs);
[[nodiscard]] services::CandidateDetail detailOf(store::CandidateRecord candidate, double baselineNs, double roofNs);
[[nodiscard]] services::RunSummary summaryOf(const store::RunRow& run, double roofNs);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const search::Archive& archive,
                                                         const domain::DeviceInfo& device, double baselineNs);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const std::vector<store::CellLine>& lines,
                                                         const store::RunRow& run, double roofNs,
                                                         domain::CandidateId best);

}  // namespace swage::engine
