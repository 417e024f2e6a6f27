// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/diagnosis.h"

namespace swage::stats {

using RooflinePosition = domain::RooflinePosition;

// What to look at first in the counters of a kernel.
struct Triage {
  std::optional<RooflinePosition> roofline;      // no value: the counters for it are missing
  std::optional<double> achievedOccupancy;       // 0 to 1
  std::optional<double> tensorShare;             // of the most the tensor cores can do, 0 to 1
  std::vector<domain::ProfileMetric> topStalls;  // share of warp cycles by reason, most first, at most three
};

[[nodiscard]] Triage triageOf(const domain::KernelProfile& kernel);

// Share of warp cycles by what the warps wait for, most first.
[[nodiscard]] std::vector<domain::ProfileMetric> stallShares(const domain::KernelProfile& kernel);

// No value: the profile does not have it.
[[nodiscard]] std::optional<double> metricOf(const domain::KernelProfile& kernel, std::string_view name);

}  // namespace swage::stats
