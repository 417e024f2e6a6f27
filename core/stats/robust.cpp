// SPDX-License-Identifier: Apache-2.0
#include "core/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
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

// The median of samples that are drawn again and again from the same ones: counts how often each was drawn, in the
// order of their size, which is several times faster than to order every draw.
class DrawnMedian {
 public:
  explicit DrawnMedian(std::span<const double> samples)
      : m_sorted(sorted(samples)), m_rank(samples.size()), m_drawn(samples.size(), 0) {
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      m_rank[order[rank]] = rank;
    }
  }

  void draw(std::size_t index) { ++m_drawn[m_rank[index]]; }

  // Of as many draws as there are samples; begins anew.
  [[nodiscard]] double take() {
    const std::size_t size = m_sorted.size();
    std::size_t seen = 0;
    std::size_t rank = 0;
    while (seen + m_drawn[rank] <= (size - 1) / 2) {
      seen += m_drawn[rank++];
    }
    const double lower = m_sorted[rank];
    while (seen + m_drawn[rank] <= size / 2) {
      seen += m_drawn[rank++];
    }
    std::fill(m_drawn.begin(), m_drawn.end(), 0U);
    return (lower + m_sorted[rank]) / 2.0;
  }

 private:
  std::vector<double> m_sorted;
  std::vector<std::size_t> m_rank;     // of each sample
  std::vector<std::uint32_t> m_drawn;  // by rank
};

// Neighbours from one place of the samples on, as if their end met their beginning. Returns how many were drawn.
std::size_t drawBlock(DrawnMedian& drawn, double where, std::size_t size, std::size_t left) {
  const auto length = static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(size))));
  const std::size_t count = std::min(left, std::max<std::size_t>(length, 1));
  const auto first = static_cast<std::size_t>(where * static_cast<double>(size));
  for (std::size_t i = 0; i < count; ++i) {
    drawn.draw((first + i) % size);
  }
  return count;
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

// A moving-block bootstrap (H. Künsch, "The jackknife and the bootstrap for general stationary observations", 1989).
// Both sides are drawn from the same part of the measurement, where they saw the same clocks, caches and neighbours.
Interval ratioInterval(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  SWAGE_ASSERT(!a.empty() && !b.empty());
  Random random(seed);
  DrawnMedian drawnA(a);
  DrawnMedian drawnB(b);
  std::vector<double> ratios;
  ratios.reserve(kReplicates);
  for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
    std::size_t leftA = a.size();
    std::size_t leftB = b.size();
    while (leftA > 0 || leftB > 0) {
      const double where = random.unit();
      leftA -= drawBlock(drawnA, where, a.size(), leftA);
      leftB -= drawBlock(drawnB, where, b.size(), leftB);
    }
    const double numerator = drawnB.take();
    const double denominator = drawnA.take();
    if (denominator > 0.0) {
      ratios.push_back(numerator / denominator);
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
