// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/device_info.h"
#include "core/search/archive.h"
#include "core/services/types.h"
#include "core/store/record.h"

// From what the engine and the record hold to what the UI and the command line show. Pure.
namespace swage::run {

// `roofNs` is stats::Roofline::roofNs of the run's task and device; 0: not known.
// `eagerSpeedup` is that of eager against the run's fastest baseline (store::RunRow).
[[nodiscard]] services::CandidateRow rowOf(const store::CandidateRecord& candidate, const domain::Speedup& eagerSpeedup,
                                           double roofNs);
// The roof is what copying at the measured bandwidth takes. What only reads may be faster: it is at the roof, too.
[[nodiscard]] double roofShareOf(double timeNs, double roofNs);
[[nodiscard]] services::CandidateDetail detailOf(store::CandidateRecord candidate, const domain::Speedup& eagerSpeedup,
                                                 double roofNs);
// Against the fastest baseline. Of PyTorch's own operators it is eager's, whatever the detour through a plan costs.
[[nodiscard]] domain::Speedup speedupOf(const store::CandidateRecord& candidate, const domain::Speedup& eagerSpeedup);
[[nodiscard]] services::RunSummary summaryOf(const store::RunRow& run, double roofNs);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const search::Archive& archive,
                                                         const domain::DeviceInfo& device,
                                                         const domain::Speedup& eagerSpeedup, double roofNs);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const std::vector<domain::CellSummary>& lines,
                                                         const store::RunRow& run, double roofNs,
                                                         domain::CandidateId best);

}  // namespace swage::run
