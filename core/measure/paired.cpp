// SPDX-License-Identifier: Apache-2.0
#include "core/measure/paired.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/domain/speedup.h"
#include "core/measure/series.h"
#include "core/stats/agreement.h"
#include "core/stats/robust.h"
#include "core/stats/stopping.h"

namespace swage::measure {
namespace {

using device::DeviceFailure;
using device::DeviceResult;
using device::DeviceStatus;

constexpr int kProbes = 2;
constexpr double kSpread = 0.1;  // of the samples lie outside on each side
// On a shared device a ratio may be this wrong although the samples agree: of two calls that last less than a turn of
// the scheduler, one waits for others in each call and the other one in none. Measured beside two processes on two
// processors: 0.49 instead of 2.6, and all samples within 1 %.
constexpr double kSharedFactor = 8.0;
constexpr double kScreeningFactor = 1.05;
// A call this many times slower is not so because it is one of the first.
constexpr double kHopelessFactor = 2.0;
constexpr std::size_t kMinEagerSamples = 5;
constexpr std::size_t kFewestEagerSamples = 3;  // even when the budget is spent
constexpr std::size_t kCandidatePerEager = 3;
constexpr int kBriefSamples = 3;  // of who is no contender
constexpr std::size_t kTracedCalls = 3;
constexpr int kExtension = 2;  // of budget and sample limit, for a contender whose interval is still wide
// Looks at a throttled device after which its samples are taken as they are: a fifth of a second at least.
constexpr int kPatience = 10;

// A call that takes seconds is warm after one. The samples are those of the warm-up.
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
  return {};
}

stats::StoppingRule ruleOf(const TimingOptions& options) {
  stats::StoppingRule rule;
  rule.maxSamples = std::max(options.maxSamples, 1);
  rule.minSamples = std::min(options.minSamples, rule.maxSamples);
  rule.budgetSeconds = options.budgetSeconds;
  return rule;
}

domain::Timing described(domain::Timing timing, const TimingOptions& options, const ConditionWatch& watch) {
  timing.clock = options.clock;
  timing.conditions = watch.summary();
  return timing;
}

class PairRun {
 public:
  PairRun(const TimedCall& candidate, const TimedCall& eager, const PairOptions& options, const Clock& clock)
      : m_candidate(candidate),
        m_eager(eager),
        m_launches(options.launches),
        m_options(options),
        m_clock(clock),
        m_watch(options.timing.conditions, clock),
        m_rule(ruleOf(options.timing)),
        m_random(options.seed) {}

  [[nodiscard]] DeviceResult<domain::PairedTiming> run() {
    if (DeviceStatus failed = warmUp(m_candidate, m_options.timing, m_clock)) {
      return tl::make_unexpected(std::move(*failed));
    }
    const bool isProbed = isHopeless();
    beBriefIfFarBehind();
    if (!isProbed) {
      m_candidate.discardAll();
    }
    DeviceResult<bool> isOut = screen();
    if (!isOut || *isOut) {
      return isOut ? DeviceResult<domain::PairedTiming>(screenedOut()) : tl::make_unexpected(std::move(isOut).error());
    }
    if (isProbed) {
      m_candidate.discardAll();
    }
    if (DeviceStatus failed = warmUp(m_eager, m_options.timing, m_clock)) {
      return tl::make_unexpected(std::move(*failed));
    }
    m_eager.discardAll();
    if (DeviceStatus failed = rounds()) {
      return tl::make_unexpected(std::move(*failed));
    }
    return finished();
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

  // The calls of its warm-up stand for the probes then.
  [[nodiscard]] bool isHopeless() const {
    const auto& samples = m_candidate.samples();
    return m_options.screeningNs > 0.0 && static_cast<int>(samples.size()) >= kProbes &&
           std::all_of(samples.begin(), samples.end(),
                       [this](double ns) { return ns > kHopelessFactor * m_options.screeningNs; });
  }

  // The calls of its warm-up say so.
  void beBriefIfFarBehind() {
    const auto& samples = m_candidate.samples();
    m_isBrief = m_options.contenderNs > 0.0 && !samples.empty() &&
                std::all_of(samples.begin(), samples.end(), [this](double ns) { return ns > m_options.contenderNs; });
    if (m_isBrief) {
      m_rule.maxSamples = std::min(m_rule.maxSamples, kBriefSamples);
      m_rule.minSamples = std::min(m_rule.minSamples, m_rule.maxSamples);
    }
  }

  // Whether the candidate is too slow to be timed to the end.
  [[nodiscard]] DeviceResult<bool> screen() {
    while (m_options.screeningNs > 0.0) {
      if (DeviceStatus failed = m_candidate.samples().empty() ? probe() : DeviceStatus()) {
        return tl::make_unexpected(std::move(*failed));
      }
      if (!isTooSlow()) {
        return false;
      }
      if (!confirmIf(m_watch.lookNow())) {
        continue;
      }
      if (DeviceStatus failed = probeEager()) {
        return tl::make_unexpected(std::move(*failed));
      }
      return isTooSlow();
    }
    return false;
  }

  [[nodiscard]] bool isTooSlow() const {
    const auto& samples = m_candidate.samples();
    return std::all_of(samples.begin(), samples.end(),
                       [this](double ns) { return ns > kScreeningFactor * m_slowdown * m_options.screeningNs; });
  }

  // The elite's time is from another moment. Where everything takes longer now, so does eager.
  [[nodiscard]] DeviceStatus probeEager() {
    const double knownNs = m_options.knownEager.medianNs;
    if (knownNs <= 0.0 || kProbes * knownNs * 1e-9 > m_options.timing.budgetSeconds / 4) {
      return {};
    }
    for (int done = 0; done < kProbes; ++done) {
      if (DeviceStatus failed = m_eager.sample()) {
        return failed;
      }
    }
    m_slowdown = std::max(1.0, m_eager.samples().back() / knownNs);
    m_eager.discardAll();
    return {};
  }

  // Whether the samples since the last look stand. A device that stays throttled must not be waited for for ever.
  bool confirmIf(ConditionWatch::Look look) {
    if (look == ConditionWatch::Look::Throttled && m_patience > 0) {
      --m_patience;
      m_candidate.takeBack();
      m_eager.takeBack();
      return false;
    }
    m_throttled = m_throttled || look == ConditionWatch::Look::Throttled;
    if (look != ConditionWatch::Look::NotYet) {
      m_candidate.confirm();
      m_eager.confirm();
    }
    return true;
  }

  [[nodiscard]] domain::PairedTiming screenedOut() const {
    domain::PairedTiming result;
    result.screenedOut = true;
    result.candidate = described(m_candidate.summary("screened out"), m_options.timing, m_watch);
    result.eager = m_options.knownEager;
    result.speedup = ratio(result.eager.medianNs, result.candidate.medianNs);
    result.speedupLow = ratio(result.eager.lowNs, result.candidate.highNs);
    result.speedupHigh = ratio(result.eager.highNs, result.candidate.lowNs);
    return result;
  }

  [[nodiscard]] DeviceStatus rounds() {
    const double start = m_clock();
    while (true) {
      if (DeviceStatus failed = round()) {
        return failed;
      }
      if (!confirmIf(m_watch.look()) || !isEnough(start)) {
        continue;
      }
      if (confirmIf(m_watch.lookNow()) && !extend()) {
        return {};
      }
    }
  }

  [[nodiscard]] bool isEnough(double start) {
    const double elapsed = m_clock() - start;
    m_decision = m_rule.decide(m_candidate.samples(), elapsed);
    if (m_decision == stats::StoppingRule::Decision::Precise && (hasTimeLeft(elapsed) || isLongerForRatio(elapsed))) {
      return false;
    }
    const std::size_t wanted = elapsed > m_rule.budgetSeconds ? kFewestEagerSamples : wantedEagerSamples();
    return m_decision != stats::StoppingRule::Decision::Continue && m_eager.samples().size() >= wanted;
  }

  [[nodiscard]] std::size_t wantedEagerSamples() const { return m_isBrief ? kFewestEagerSamples : kMinEagerSamples; }

  // In the time that was added because the ratio is uncertain, the candidate's precision alone is no reason to stop.
  [[nodiscard]] bool isLongerForRatio(double elapsed) const {
    return m_extended && hasBudgetLeft(elapsed) && isRatioUncertain();
  }

  [[nodiscard]] bool hasBudgetLeft(double elapsed) const {
    return elapsed < m_rule.budgetSeconds && static_cast<int>(m_candidate.samples().size()) < m_rule.maxSamples;
  }

  // A time that is precise enough may become more so while the device would have nothing else to do.
  [[nodiscard]] bool hasTimeLeft(double elapsed) const {
    const auto& isAwaited = m_options.timing.isAwaited;
    return isAwaited && !m_isBrief && !isAwaited() && hasBudgetLeft(elapsed);
  }

  // Once: a contender whose time is still uncertain is worth as long again.
  [[nodiscard]] bool extend() {
    if (m_extended || !isContender() || !(isNoisy() || isRatioUncertain())) {
      return false;
    }
    m_extended = true;
    m_rule.budgetSeconds *= kExtension;
    m_rule.maxSamples *= kExtension;
    return true;
  }

  [[nodiscard]] bool isNoisy() const { return stats::relativeWidth(m_candidate.summary({})) > stats::kNoisyWidth; }

  [[nodiscard]] bool isRatioUncertain() const {
    return domain::Speedup{ratio(stats::median(m_eager.samples()), stats::median(m_candidate.samples())),
                           ratioInterval().low, ratioInterval().high}
        .isUncertain();
  }

  // Samples of a device that was held back or shared do not scatter around what the device can do: then not the
  // uncertainty of the medians counts, but how far the samples lie apart, and what they cannot show.
  [[nodiscard]] stats::Interval ratioInterval() const {
    if (!m_throttled) {
      return stats::ratioInterval(m_candidate.samples(), m_eager.samples(), m_options.seed);
    }
    const auto of = [](const Series& series, double q) { return stats::quantile(series.samples(), q); };
    const double value = ratio(stats::median(m_eager.samples()), stats::median(m_candidate.samples()));
    return {std::min(ratio(of(m_eager, kSpread), of(m_candidate, 1.0 - kSpread)), value / kSharedFactor),
            std::max(ratio(of(m_eager, 1.0 - kSpread), of(m_candidate, kSpread)), value * kSharedFactor)};
  }

  [[nodiscard]] bool isContender() const {
    return !m_isBrief &&
           (m_options.screeningNs <= 0.0 || stats::median(m_candidate.samples()) <= m_options.screeningNs);
  }

  [[nodiscard]] DeviceStatus round() {
    const std::size_t eagerCount = m_eager.samples().size();
    const bool withEager = eagerCount < wantedEagerSamples() || m_extended ||
                           eagerCount * kCandidatePerEager < m_candidate.samples().size();
    const bool eagerFirst = m_random.chance(0.5);
    if (withEager && m_options.launches) {
      if (DeviceStatus failed = m_launches.sample()) {
        return failed;
      }
    }
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

  [[nodiscard]] std::string stopReason() const {
    if (m_throttled) {
      return std::string(stats::kThrottled);
    }
    return std::string(isNoisy() ? stats::kNoisy : stats::name(m_decision));
  }

  [[nodiscard]] DeviceResult<domain::PairedTiming> finished() {
    domain::PairedTiming result;
    result.candidate = described(m_candidate.summary(stopReason()), m_options.timing, m_watch);
    result.eager = described(m_eager.summary(stopReason()), m_options.timing, m_watch);
    result.speedup = ratio(result.eager.medianNs, result.candidate.medianNs);
    const stats::Interval interval = ratioInterval();
    result.speedupLow = interval.low;
    result.speedupHigh = interval.high;
    if (const auto& launches = m_launches.samples(); !launches.empty()) {
      result.launchNs = stats::median(launches) / kLaunchesAtOnce;
    }
    const DeviceResult<double> activityNs = traced();
    if (!activityNs) {
      return tl::make_unexpected(activityNs.error());
    }
    result.candidate.activityMedianNs = *activityNs;
    return result;
  }

  [[nodiscard]] DeviceResult<double> traced() const {
    std::vector<double> busy;
    while (m_options.trace && isContender() && busy.size() < kTracedCalls) {
      DeviceResult<double> ns = m_options.trace();
      if (!ns || *ns <= 0.0) {
        return ns;
      }
      busy.push_back(*ns);
    }
    return busy.empty() ? 0.0 : stats::median(busy);
  }

  [[nodiscard]] static double ratio(double eagerNs, double candidateNs) {
    return candidateNs > 0.0 && eagerNs > 0.0 ? eagerNs / candidateNs : 1.0;
  }

  Series m_candidate;
  Series m_eager;
  Series m_launches;
  const PairOptions& m_options;
  const Clock& m_clock;
  ConditionWatch m_watch;
  stats::StoppingRule m_rule;
  stats::StoppingRule::Decision m_decision = stats::StoppingRule::Decision::Continue;
  Random m_random;
  int m_patience = kPatience;
  bool m_throttled = false;  // samples of a throttled device had to be kept
  bool m_extended = false;
  bool m_isBrief = false;   // too far behind to be a contender
  double m_slowdown = 1.0;  // of eager, against when the task was loaded
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
  series.discardAll();
  const stats::StoppingRule rule = ruleOf(options);
  ConditionWatch watch(options.conditions, clock);
  const double start = clock();
  while (true) {
    if (DeviceStatus failed = series.sample()) {
      return tl::make_unexpected(std::move(*failed));
    }
    watch.look();
    const auto decision = rule.decide(series.samples(), clock() - start);
    if (decision != stats::StoppingRule::Decision::Continue) {
      const bool throttled = watch.lookNow() == ConditionWatch::Look::Throttled;
      return described(series.summary(std::string(throttled ? stats::kThrottled : stats::name(decision))), options,
                       watch);
    }
  }
}

DeviceResult<domain::PairedTiming> timePair(const TimedCall& candidate, const TimedCall& eager,
                                            const PairOptions& options, const Clock& clock) {
  return PairRun(candidate, eager, options, clock).run();
}

}  // namespace swage::measure
