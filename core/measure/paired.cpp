// SPDX-License-Identifier: Apache-2.0
#include "core/measure/paired.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/stats/robust.h"
#include "core/stats/stopping.h"

namespace swage::measure {
namespace {

using device::DeviceFailure;
using device::DeviceResult;
using device::DeviceStatus;

constexpr int kProbes = 2;
constexpr double kScreeningFactor = 1.05;
constexpr std::size_t kMinEagerSamples = 5;
constexpr std::size_t kFewestEagerSamples = 3;  // even when the budget is spent
constexpr std::size_t kCandidatePerEager = 3;

// Collects the samples of one call.
class Series {
 public:
  explicit Series(const TimedCall& call) : m_call(call) {}

  [[nodiscard]] DeviceStatus sample() {
    DeviceResult<double> ns = m_call();
    if (!ns) {
      return std::move(ns).error();
    }
    m_samples.push_back(*ns);
    return {};
  }
  // The samples until now were warm-up.
  void discardAll() {
    m_discarded += static_cast<int>(m_samples.size());
    m_samples.clear();
  }
  [[nodiscard]] const std::vector<double>& samples() const { return m_samples; }
  [[nodiscard]] domain::Timing summary(std::string reason) const {
    return stats::summarise(m_samples, m_discarded, std::move(reason));
  }

 private:
  const TimedCall& m_call;
  std::vector<double> m_samples;
  int m_discarded = 0;
};

// A call that takes seconds is warm after one.
DeviceStatus warmUp(Series& series, const TimingOptions& options, const Clock& clock) {
  const double start = clock();
  for (int done = 0; done < options.warmups; ++done) {
    if (DeviceStatus failed = series.sample()) {
      return failed;
    }
    if (clock() - start > options.budgetSeconds / 4) {
      break;
    }
  }
  series.discardAll();
  return {};
}

stats::StoppingRule ruleOf(const TimingOptions& options) {
  stats::StoppingRule rule;
  rule.maxSamples = std::max(options.maxSamples, 1);
  rule.minSamples = std::min(rule.minSamples, rule.maxSamples);
  rule.budgetSeconds = options.budgetSeconds;
  return rule;
}

class PairRun {
 public:
  PairRun(const TimedCall& candidate, const TimedCall& eager, const PairOptions& options, const Clock& clock)
      : m_candidate(candidate), m_eager(eager), m_options(options), m_clock(clock), m_random(options.seed) {}

  [[nodiscard]] DeviceResult<domain::PairedTiming> run() {
    if (DeviceStatus failed = warmUp(m_candidate, m_options.timing, m_clock)) {
      return tl::make_unexpected(std::move(*failed));
    }
    if (m_options.screeningNs > 0.0) {
      if (DeviceStatus failed = probe()) {
        return tl::make_unexpected(std::move(*failed));
      }
      if (isTooSlow()) {
        return screenedOut();
      }
    }
    if (DeviceStatus failed = warmUp(m_eager, m_options.timing, m_clock)) {
      return tl::make_unexpected(std::move(*failed));
    }
    return rounds();
  }

 private:
  [[nodiscard]] DeviceStatus probe() {
    for (int done = 0; done < kProbes; ++done) {
      if (DeviceStatus failed = m_candidate.sample()) {
        return failed;
      }
    }
    return {};
  }

  [[nodiscard]] bool isTooSlow() const {
    const auto& samples = m_candidate.samples();
    return std::all_of(samples.begin(), samples.end(),
                       [this](double ns) { return ns > kScreeningFactor * m_options.screeningNs; });
  }

  [[nodiscard]] domain::PairedTiming screenedOut() const {
    domain::PairedTiming result;
    result.screenedOut = true;
    result.candidate = m_candidate.summary("screened out");
    result.eager = m_options.knownEager;
    result.speedup = ratio(result.eager.medianNs, result.candidate.medianNs);
    result.speedupLow = ratio(result.eager.lowNs, result.candidate.highNs);
    result.speedupHigh = ratio(result.eager.highNs, result.candidate.lowNs);
    return result;
  }

  [[nodiscard]] DeviceResult<domain::PairedTiming> rounds() {
    const stats::StoppingRule rule = ruleOf(m_options.timing);
    const double start = m_clock();
    while (true) {
      if (DeviceStatus failed = round()) {
        return tl::make_unexpected(std::move(*failed));
      }
      const double elapsed = m_clock() - start;
      const auto decision = rule.decide(m_candidate.samples(), elapsed);
      const bool spent = elapsed > m_options.timing.budgetSeconds;
      const std::size_t wanted = spent ? kFewestEagerSamples : kMinEagerSamples;
      if (decision != stats::StoppingRule::Decision::Continue && m_eager.samples().size() >= wanted) {
        return finished(std::string(stats::name(decision)));
      }
    }
  }

  [[nodiscard]] DeviceStatus round() {
    const std::size_t eagerCount = m_eager.samples().size();
    const bool withEager =
        eagerCount < kMinEagerSamples || eagerCount * kCandidatePerEager < m_candidate.samples().size();
    const bool eagerFirst = m_random.chance(0.5);
    if (withEager && eagerFirst) {
      if (DeviceStatus failed = m_eager.sample()) {
        return failed;
      }
    }
    if (DeviceStatus failed = m_candidate.sample()) {
      return failed;
    }
    return withEager && !eagerFirst ? m_eager.sample() : DeviceStatus();
  }

  [[nodiscard]] domain::PairedTiming finished(const std::string& reason) const {
    domain::PairedTiming result;
    result.candidate = m_candidate.summary(reason);
    result.eager = m_eager.summary(reason);
    result.speedup = ratio(result.eager.medianNs, result.candidate.medianNs);
    const auto interval = stats::ratioInterval(m_candidate.samples(), m_eager.samples(), m_options.seed);
    result.speedupLow = interval.low;
    result.speedupHigh = interval.high;
    return result;
  }

  [[nodiscard]] static double ratio(double eagerNs, double candidateNs) {
    return candidateNs > 0.0 && eagerNs > 0.0 ? eagerNs / candidateNs : 1.0;
  }

  Series m_candidate;
  Series m_eager;
  const PairOptions& m_options;
  const Clock& m_clock;
  Random m_random;
};

}  // namespace

Clock steadyClock() {
  return [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
}

DeviceResult<domain::Timing> timeAlone(const TimedCall& call, const TimingOptions& options, const Clock& clock) {
  Series series(call);
  if (DeviceStatus failed = warmUp(series, options, clock)) {
    return tl::make_unexpected(std::move(*failed));
  }
  const stats::StoppingRule rule = ruleOf(options);
  const double start = clock();
  while (true) {
    if (DeviceStatus failed = series.sample()) {
      return tl::make_unexpected(std::move(*failed));
    }
    const auto decision = rule.decide(series.samples(), clock() - start);
    if (decision != stats::StoppingRule::Decision::Continue) {
      return series.summary(std::string(stats::name(decision)));
    }
  }
}

DeviceResult<domain::PairedTiming> timePair(const TimedCall& candidate, const TimedCall& eager,
                                            const PairOptions& options, const Clock& clock) {
  return PairRun(candidate, eager, options, clock).run();
}

}  // namespace swage::measure
