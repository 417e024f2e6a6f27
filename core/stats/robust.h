// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/domain/evaluation.h"

namespace swage::stats {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

// Linear-interpolated quantile (Hyndman and Fan, type 7). `samples` need not be sorted; q in [0, 1]; not empty.
[[nodiscard]] double quantile(std::span<const double> samples, double q);
[[nodiscard]] double median(std::span<const double> samples);

// Distribution-free 95 % interval of the median from order statistics of the binomial(n, 1/2).
// With fewer than 6 samples it is the whole range.
[[nodiscard]] Interval medianInterval(std::span<const double> samples);

// Bootstrap 95 % interval of median(b) / median(a) for samples taken in turn, in the order in which they were taken:
// neighbours are drawn together, because what disturbs a measurement lasts for several of them. Deterministic given
// `seed`.
[[nodiscard]] Interval ratioInterval(std::span<const double> a, std::span<const double> b, std::uint64_t seed);

// At most `count` of the values, evenly spread over them and in their order; the first and the last are among them.
template <class T>
[[nodiscard]] std::vector<T> thinned(const std::vector<T>& values, std::size_t count) {
  if (values.size() <= count || count < 2) {
    return values;
  }
  std::vector<T> kept;
  kept.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    kept.push_back(values[i * (values.size() - 1) / (count - 1)]);
  }
  return kept;
}

[[nodiscard]] domain::Timing summarise(std::span<const double> samplesNs, int discarded, std::string stopReason);

}  // namespace swage::stats
