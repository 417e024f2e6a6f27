// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/charts/bar_chart.h"
#include "ui/charts/memory_chart.h"
#include "ui/charts/roofline_chart.h"
#include "ui/charts/sample_chart.h"
#include "ui/charts/timing_strip.h"
#include "ui/models/pinned_baseline.h"

// From a profile, and what is pinned beside it, to what the charts of the profile page show. Pure functions.
namespace swage::ui {

// The kernel of the pinned profile that stands for this one: of the same entry, or the only one there is. Null: none.
[[nodiscard]] const domain::KernelDiagnosis* counterpart(const PinnedNumbers* pinned,
                                                         const domain::KernelDiagnosis& kernel);

[[nodiscard]] std::vector<Bar> unitBars(const domain::KernelDiagnosis& kernel,
                                        const domain::KernelDiagnosis* pinned = nullptr);
[[nodiscard]] std::vector<Bar> stallBars(const domain::KernelDiagnosis& kernel,
                                         const domain::KernelDiagnosis* pinned = nullptr);
[[nodiscard]] std::vector<Bar> occupancyBars(const domain::KernelProfile& profile,
                                             const domain::KernelDiagnosis& kernel,
                                             const domain::KernelDiagnosis* pinned = nullptr);
// "Limited by registers: 4 blocks of a multiprocessor; shared memory allows 8, warps 16". Empty: not known.
[[nodiscard]] QString occupancyLimits(const domain::KernelProfile& profile);
[[nodiscard]] MemoryLevels memoryLevels(const domain::KernelDiagnosis& kernel, double taskBytes);

struct RooflineInput {
  const services::ProfileReport& report;
  const std::optional<PinnedNumbers>& pinned;
  const std::vector<domain::Baseline>& baselines;
  const std::vector<services::CellSummary>& cells;
};
[[nodiscard]] std::vector<RooflinePoint> rooflinePoints(const RooflineInput& input);

// Of the candidate and of eager beside it; none where the record has no samples.
[[nodiscard]] std::vector<SampleRow> sampleRows(const services::CandidateDetail& detail);

[[nodiscard]] std::vector<TimingLine> timingLines(const services::CandidateDetail& detail,
                                                  const std::optional<PinnedNumbers>& pinned,
                                                  const std::vector<domain::Baseline>& baselines);

}  // namespace swage::ui
