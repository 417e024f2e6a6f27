// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace swage::stats {

// When to stop sampling: the 95 % interval of the median is narrow enough, or a limit is reached.
struct StoppingRule {
  int minSamples = 7;
  int maxSamples = 50;
  double relativeWidth = 0.01;  // (high - low) / median
  double budgetSeconds = 0.5;

  enum class Decision : unsigned char { Continue, Precise, SampleLimit, Budget };
  [[nodiscard]] Decision decide(std::span<const double> samplesNs, double elapsedSeconds) const;
};

[[nodiscard]] std::string_view name(StoppingRule::Decision decision);

}  // namespace swage::stats
