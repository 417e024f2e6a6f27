// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/diagnosis.h"
#include "core/stats/roofline.h"

namespace swage::stats {

// What is known of a candidate and its task beside the profile.
struct DiagnosisContext {
  double candidateNs = 0.0;  // as measured without a profiler; 0: not known
  Roofline task;
  domain::ScalarType type = domain::ScalarType::Float32;  // of the task's arithmetic
  domain::DeviceInfo device;
  std::vector<domain::KernelFacts> kernels;  // what the compiler said of the candidate
};

// What bounds a candidate, and at most three findings, those that can cost most first. A gain is a limit and not a
// promise: what would be saved if the cause were gone and nothing else took its place. A unit counts as the bound from
// 60 % of what it can do, as in Nsight Compute's own guided analysis.
[[nodiscard]] domain::Diagnosis diagnose(const domain::Profile& profile, const DiagnosisContext& context);

}  // namespace swage::stats
