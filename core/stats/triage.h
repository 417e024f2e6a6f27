// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/profile.h"

namespace swage::stats {

// Where a kernel stands on the roofline. The roofs are what the chip can sustain at the clocks of the profile, as
// Nsight Compute draws them; operations are those of float32 outside tensor cores, a fused multiply-add being two.
struct RooflinePosition {
  double bytesPerSecond = 0.0;  // read from and written to device memory
  double memoryRoof = 0.0;      // bytes/s
  double flopsPerSecond = 0.0;
  double computeRoof = 0.0;  // flop/s
  double flopsPerByte = 0.0;
};

// What to look at first in the counters of a kernel.
struct Triage {
  std::optional<RooflinePosition> roofline;      // no value: the counters for it are missing
  std::optional<double> achievedOccupancy;       // 0 to 1
  std::optional<double> tensorShare;             // of the most the tensor cores can do, 0 to 1
  std::vector<domain::ProfileMetric> topStalls;  // share of warp cycles by reason, most first, at most three
};

[[nodiscard]] Triage triageOf(const domain::KernelProfile& kernel);

// No value: the profile does not have it.
[[nodiscard]] std::optional<double> metricOf(const domain::KernelProfile& kernel, std::string_view name);

}  // namespace swage::stats
