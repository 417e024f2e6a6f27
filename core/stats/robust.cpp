// SPDX-License-Identifier: Apache-2.0
#include "core/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/assert.h"
#include "core/base/random.h"

namespace swage::stats {
namespace {

constexpr double kTail = 0.025;  // of each side of a 95 % interval
constexpr std::size_t kMinIntervalSamples = 6;
constexpr std::size_t kReplicates = 2000;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantileOfSorted(const std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return values[below] + fraction * (values[above] - values[below]);
}

// Reorders `values`.
double medianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(values.begin(), middle) + *middle) / 2.0;
}

// The largest k with P(X < k) <= 2.5 % for X ~ binomial(n, 1/2): the interval is from the k-th smallest to the k-th
// largest sample. In logarithms, because 2^-n underflows.
std::size_t intervalRank(std::size_t n) {
  const auto count = static_cast<double>(n);
  double logMass = -count * std::log(2.0);
  double cumulative = 0.0;
  std::size_t rank = 0;
  while (rank < n) {
    cumulative += std::exp(logMass);
    if (cumulative > kTail) {
      break;
    }
    ++rank;
    const auto next = static_cast<double>(rank);
    logMass += std::log((count - next + 1.0) / next);
  }
  return std::max<std::size_t>(rank, 1);
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  SWAGE_ASSERT(!samples.empty() && q >= 0.0 && q <= 1.0);
  return quantileOfSorted(sorted(samples), q);
}

double median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

Interval medianInterval(std::span<const double> samples) {
  SWAGE_ASSERT(!samples.empty());
  const std::vector<double> values = sorted(samples);
  if (values.size() < kMinIntervalSamples) {
    return {values.front(), values.back()};
  }
  const std::size_t rank = intervalRank(values.size());
  return {values[rank - 1], values[values.size() - rank]};
}

// Samples that were taken in turn see the same drift of clocks and caches, so they are drawn as pairs where they are
// pairs; surplus samples of the longer side are drawn on their own.
Interval ratioInterval(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  SWAGE_ASSERT(!a.empty() && !b.empty());
  Random random(seed);
  std::vector<double> drawnA(a.size());
  std::vector<double> drawnB(b.size());
  std::vector<double> ratios;
  ratios.reserve(kReplicates);
  for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      if (a.size() == b.size()) {
        const std::size_t pair = random.below(a.size());
        drawnA[i] = a[pair];
        drawnB[i] = b[pair];
        continue;
      }
      if (i < a.size()) {
        drawnA[i] = a[random.below(a.size())];
      }
      if (i < b.size()) {
        drawnB[i] = b[random.below(b.size())];
      }
    }
    const double denominator = medianInPlace(drawnA);
    if (denominator > 0.0) {
      ratios.push_back(medianInPlace(drawnB) / denominator);
    }
  }
  if (ratios.empty()) {
    return {};
  }
  std::sort(ratios.begin(), ratios.end());
  return {quantileOfSorted(ratios, kTail), quantileOfSorted(ratios, 1.0 - kTail)};
}

domain::Timing summarise(std::span<const double> samplesNs, int discarded, std::string stopReason) {
  domain::Timing timing;
  timing.discarded = discarded;
  timing.stopReason = std::move(stopReason);
  if (samplesNs.empty()) {
    return timing;
  }
  const Interval interval = medianInterval(samplesNs);
  timing.samples = static_cast<int>(samplesNs.size());
  timing.medianNs = median(samplesNs);
  timing.lowNs = interval.low;
  timing.highNs = interval.high;
  timing.minNs = *std::min_element(samplesNs.begin(), samplesNs.end());
  return timing;
}

}  // namespace swage::stats
