// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/domain/baseline.h"
#include "core/domain/device_info.h"
#include "core/search/archive.h"
#include "core/services/types.h"
#include "core/store/record.h"

// From what the engine and the record hold to what the UI and the command line show. Pure.
namespace swage::engine {

[[nodiscard]] services::CandidateRow rowOf(const store::CandidateRecord& candidate, double baselineNs);
[[nodiscard]] services::CandidateRow rowOf(const store::CandidateLine& line);
[[nodiscard]] services::CandidateDetail detailOf(store::CandidateRecord candidate, double baselineNs);
[[nodiscard]] services::RunSummary summaryOf(const store::RunRow& run);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const search::Archive& archive,
                                                         const domain::DeviceInfo& device, double baselineNs);
[[nodiscard]] std::vector<services::CellSummary> cellsOf(const std::vector<store::CellLine>& lines,
                                                         const domain::DeviceInfo& device, double baselineNs,
                                                         domain::CandidateId best);

// The fastest that worked; nothing when none did.
[[nodiscard]] std::optional<domain::Baseline> fastest(const std::vector<domain::Baseline>& baselines);

}  // namespace swage::engine
