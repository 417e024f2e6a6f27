// SPDX-License-Identifier: Apache-2.0
#include "core/measure/paired.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/base/random.h"

namespace swage::measure {
namespace {

// Calls that take a known time on a clock that only they move.
class FakeBench {
 public:
  [[nodiscard]] TimedCall call(char name, double nanoseconds) {
    return [this, name, nanoseconds]() -> device::DeviceResult<device::CallTime> {
      m_order += name;
      m_seconds += nanoseconds * 1e-9;
      return device::CallTime{.ns = nanoseconds, .hostNs = 1.5 * nanoseconds};
    };
  }
  // A call that takes turns at two durations, so that its interval never gets narrow.
  [[nodiscard]] TimedCall unsteadyCall(char name, double nanoseconds) {
    return [this, name, nanoseconds]() -> device::DeviceResult<device::CallTime> {
      m_order += name;
      const double now = nanoseconds * (m_order.size() % 4 < 2 ? 1.0 : 1.5);
      m_seconds += now * 1e-9;
      return device::CallTime{.ns = now};
    };
  }
  [[nodiscard]] Clock clock() {
    return [this] { return m_seconds; };
  }
  [[nodiscard]] const std::string& order() const { return m_order; }
  [[nodiscard]] long count(char name) const { return std::count(m_order.begin(), m_order.end(), name); }

 private:
  double m_seconds = 0.0;
  std::string m_order;
};

TEST(TimePair, GivesTheRatioOfTheMedians) {
  FakeBench bench;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->speedup, 3.0);
  EXPECT_DOUBLE_EQ(timing->speedupLow, 3.0);
  EXPECT_DOUBLE_EQ(timing->speedupHigh, 3.0);
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.discarded, 2);
}

TEST(TimePair, KeepsTheSamplesInTheirOrder) {
  FakeBench bench;
  const auto timing = timePair(bench.unsteadyCall('c', 1e6), bench.call('e', 3e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  const std::vector<double>& samples = timing->candidate.sequenceNs;
  ASSERT_EQ(samples.size(), std::min<std::size_t>(domain::kKeptSamples, timing->candidate.samples));
  EXPECT_EQ(*std::max_element(samples.begin(), samples.end()), 1.5e6);
  EXPECT_EQ(*std::min_element(samples.begin(), samples.end()), timing->candidate.minNs);
  EXPECT_FALSE(timing->eager.sequenceNs.empty());
}

TEST(TimePair, RunsEagerInFiveRoundsAtLeast) {
  FakeBench bench;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 1e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_GE(timing->eager.samples, 5);
  EXPECT_GE(timing->candidate.samples, timing->eager.samples);
}

TEST(TimePair, GoesOnWithAPreciseTimeWhileNobodyWaitsForTheDevice) {
  FakeBench bench;
  PairOptions options;
  options.timing.isAwaited = [] { return false; };
  const auto idle = timePair(bench.call('c', 1e6), bench.call('e', 1e6), options, bench.clock());
  ASSERT_TRUE(idle.has_value());
  EXPECT_EQ(idle->candidate.samples, options.timing.maxSamples);

  FakeBench other;
  options.timing.isAwaited = [&other] { return other.count('c') > 20; };
  const auto awaited = timePair(other.call('c', 1e6), other.call('e', 1e6), options, other.clock());
  ASSERT_TRUE(awaited.has_value());
  EXPECT_EQ(awaited->candidate.samples + awaited->candidate.discarded, 21);
  EXPECT_EQ(awaited->candidate.stopReason, "precise");
}

TEST(TimePair, AlternatesInAnOrderThatDependsOnTheSeed) {
  FakeBench first;
  FakeBench second;
  PairOptions options;
  options.seed = 1;
  ASSERT_TRUE(timePair(first.call('c', 1e6), first.call('e', 1e6), options, first.clock()).has_value());
  options.seed = 2;
  ASSERT_TRUE(timePair(second.call('c', 1e6), second.call('e', 1e6), options, second.clock()).has_value());
  EXPECT_NE(first.order(), second.order());
  EXPECT_NE(first.order().find("ec"), std::string::npos);
  EXPECT_NE(first.order().find("ce"), std::string::npos);
}

TEST(TimePair, DropsACandidateThatTwoProbesFindTooSlow) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  options.knownEager.medianNs = 2e6;
  const auto timing = timePair(bench.call('c', 1.06e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_TRUE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.samples, 2);
  EXPECT_EQ(bench.count('e'), 2) << "which it took as long as ever";
  EXPECT_NEAR(timing->speedup, 2e6 / 1.06e6, 1e-9);
}

TEST(TimePair, DropsACandidateWhoseFirstCallsAreTwiceTooSlow) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  options.knownEager.medianNs = 2e6;
  const auto timing = timePair(bench.call('c', 2.1e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_TRUE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.samples, 2);
  EXPECT_EQ(bench.count('c'), 2) << "without a warm-up of their own";
}

TEST(TimePair, IsBriefWithWhoIsNoContender) {
  PairOptions options;
  options.contenderNs = 1.5e6;
  FakeBench far;
  const auto behind = timePair(far.call('c', 2e6), far.call('e', 3e6), options, far.clock());
  ASSERT_TRUE(behind.has_value());
  EXPECT_FALSE(behind->screenedOut);
  EXPECT_EQ(behind->candidate.samples, 3);
  EXPECT_EQ(behind->eager.samples, 3);
  EXPECT_DOUBLE_EQ(behind->speedup, 1.5);
  FakeBench near;
  const auto contender = timePair(near.call('c', 1.4e6), near.call('e', 3e6), options, near.clock());
  ASSERT_TRUE(contender.has_value());
  EXPECT_GE(contender->candidate.samples, TimingOptions().minSamples);
}

TEST(TimePair, RecordsNoActivityOfWhoIsNoContender) {
  FakeBench bench;
  PairOptions options;
  options.contenderNs = 1e6;
  int traced = 0;
  options.trace = [&traced]() -> device::DeviceResult<double> { return ++traced * 1e6; };
  ASSERT_TRUE(timePair(bench.call('c', 2e6), bench.call('e', 3e6), options, bench.clock()).has_value());
  EXPECT_EQ(traced, 0);
}

TEST(TimePair, AMachineThatHasBecomeSlowerScreensNobodyOut) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  options.knownEager.medianNs = 2e6;
  options.knownEager.samples = 9;
  const auto timing = timePair(bench.call('c', 3e6), bench.call('e', 6e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_FALSE(timing->screenedOut) << "eager takes three times as long as well";
  EXPECT_DOUBLE_EQ(timing->speedup, 2.0);
}

device::ConditionSample besideOtherProcesses() {
  device::ConditionSample sample;
  sample.known = sample.throttled = true;
  sample.reasons = {"other processes"};
  return sample;
}

TEST(TimePair, SamplesOfABusyMachineThatAgreeAreUncertainToo) {
  FakeBench bench;
  PairOptions options;
  options.timing.conditions = besideOtherProcesses;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->speedup, 2.0);
  EXPECT_DOUBLE_EQ(timing->speedupLow, 0.25);
  EXPECT_DOUBLE_EQ(timing->speedupHigh, 16.0);
}

TEST(TimePair, SamplesOfABusyMachineGiveAWideInterval) {
  FakeBench bench;
  PairOptions options;
  options.timing.conditions = besideOtherProcesses;
  int calls = 0;
  const TimedCall hit = [&]() -> device::DeviceResult<device::CallTime> {
    return bench.call('c', ++calls % 5 == 0 ? 4e6 : 1e6)();
  };
  const auto timing = timePair(hit, bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->speedup, 2.0);
  EXPECT_LT(timing->speedupLow, 1.0) << "the medians alone would be sure of 2";
  EXPECT_EQ(timing->candidate.stopReason, "throttled");
  EXPECT_EQ(timing->candidate.conditions.throttleReasons, std::vector<std::string>{"other processes"});
}

TEST(TimePair, AContenderWhoseEagerIsUncertainIsMeasuredForAsLongAgain) {
  FakeBench bench;
  PairOptions options;
  options.timing.maxSamples = 20;
  Random random(7);
  const TimedCall unsteadyEager = [&]() -> device::DeviceResult<device::CallTime> {
    return bench.call('e', random.chance(0.5) ? 1e6 : 3e6)();
  };
  options.timing.minSamples = 20;
  const auto timing = timePair(bench.call('c', 1e6), unsteadyEager, options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->candidate.samples, 40);
  EXPECT_GE(timing->eager.samples, 20) << "in each round of the second half";
}

TEST(TimePair, MeasuresACandidateInFullThatIsOnlyALittleSlower) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  const auto timing = timePair(bench.call('c', 1.04e6), bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_GE(timing->candidate.samples, 7);
}

TEST(TimePair, EndsWhenTheBudgetIsSpentEvenIfEagerIsSlow) {
  FakeBench bench;
  PairOptions options;
  options.timing.budgetSeconds = 1.0;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 2e9), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_GE(timing->eager.samples, 3);
  EXPECT_LE(bench.clock()(), 12.0);
}

TEST(TimePair, EndsWithTheFirstFailure) {
  FakeBench bench;
  const TimedCall broken = []() -> device::DeviceResult<device::CallTime> {
    return tl::make_unexpected(device::DeviceFailure{"illegal address", true});
  };
  const auto timing = timePair(bench.call('c', 1e6), broken, {}, bench.clock());
  ASSERT_FALSE(timing.has_value());
  EXPECT_EQ(timing.error().detail, "illegal address");
  EXPECT_TRUE(timing.error().poisoned);
}

// A device that is throttled until `until`, by the bench's clock.
ConditionProbe hotUntil(const Clock& clock, double until) {
  return [clock, until] {
    device::ConditionSample sample;
    sample.known = true;
    sample.throttled = clock() < until;
    sample.smClockMhz = sample.throttled ? 1000 : 1980;
    if (sample.throttled) {
      sample.reasons = {"thermal"};
    }
    return sample;
  };
}

TEST(TimePair, SaysWhatTheDeviceWasLikeAndWhoseClockItIs) {
  FakeBench bench;
  PairOptions options;
  options.timing.clock = "device events";
  options.timing.conditions = hotUntil(bench.clock(), 0.0);
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->candidate.clock, "device events");
  EXPECT_EQ(timing->candidate.conditions.smClockMhz, 1980);
  EXPECT_EQ(timing->eager.conditions.smClockMhz, 1980);
  EXPECT_DOUBLE_EQ(timing->candidate.hostMedianNs, 1.5e6);
  EXPECT_EQ(timing->candidate.repeated, 0);
}

TEST(TimePair, AHostThatIsInterruptedInMostCallsIsNoDeviceThatGoesOnInSecret) {
  FakeBench bench;
  int calls = 0;
  const TimedCall interrupted = [&]() -> device::DeviceResult<device::CallTime> {
    auto time = bench.call('c', 1e6)();
    time->hostNs = 1.01e6 + (++calls % 4 == 0 ? 0.0 : 5e6);
    return time;
  };
  const auto timing = timePair(interrupted, bench.call('e', 3e6), {}, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_NEAR(timing->candidate.hostMedianNs, 1.01e6, 1.0);
}

TEST(TimePair, MeasuresAgainWhatWasMeasuredOnAHotDevice) {
  FakeBench bench;
  PairOptions options;
  options.timing.conditions = hotUntil(bench.clock(), 0.07);
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 1e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_GE(timing->candidate.repeated, 10);
  EXPECT_GE(timing->candidate.samples, 7);
  EXPECT_EQ(timing->candidate.stopReason, "precise");
  EXPECT_EQ(timing->candidate.conditions.lowestSmClockMhz, 1000);
  EXPECT_EQ(timing->candidate.conditions.throttleReasons, std::vector<std::string>{"thermal"});
}

TEST(TimePair, SaysSoWhenTheDeviceStaysHot) {
  FakeBench bench;
  PairOptions options;
  options.timing.conditions = hotUntil(bench.clock(), 1e9);
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 1e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->candidate.stopReason, "throttled");
  EXPECT_GT(timing->candidate.samples, 0);
  EXPECT_LT(bench.clock()(), 2.0) << "it is not waited for for ever";
}

TEST(TimePair, AHotDeviceScreensNobodyOut) {
  FakeBench bench;
  PairOptions options;
  options.screeningNs = 1e6;
  options.timing.conditions = hotUntil(bench.clock(), 0.025);
  int calls = 0;
  const TimedCall slowWhileHot = [&]() -> device::DeviceResult<device::CallTime> {
    ++calls;
    return calls <= 6 ? bench.call('c', 4e6)() : bench.call('c', 0.9e6)();
  };
  const auto timing = timePair(slowWhileHot, bench.call('e', 2e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_DOUBLE_EQ(timing->candidate.medianNs, 0.9e6);
  EXPECT_GT(timing->candidate.repeated, 0);
}

TEST(TimePair, TakesAsManySamplesAsAreWantedAlthoughFewerAreExact) {
  FakeBench bench;
  PairOptions options;
  options.timing.minSamples = 40;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->candidate.samples, 40);
  EXPECT_EQ(timing->candidate.stopReason, "precise");
}

TEST(TimePair, TimesLaunchesBesideWhereItIsAskedTo) {
  FakeBench bench;
  PairOptions options;
  EXPECT_EQ(timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock())->launchNs, 0.0);
  options.launches = bench.call('l', kLaunchesAtOnce * 1500.0);
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->launchNs, 1500.0);
  EXPECT_GE(bench.count('l'), 5);
}

TEST(TimePair, GivesAContenderWithAnUncertainTimeAsLongAgainAndThenSaysSo) {
  FakeBench bench;
  PairOptions options;
  options.timing.maxSamples = 20;
  const auto timing = timePair(bench.unsteadyCall('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->candidate.stopReason, "noisy");
  EXPECT_EQ(timing->candidate.samples, 40);
}

TEST(TimePair, SpendsNoMoreOnAnUncertainTimeThatCannotWin) {
  FakeBench bench;
  PairOptions options;
  options.timing.maxSamples = 20;
  options.screeningNs = 1e6;
  int calls = 0;
  const TimedCall fastAtFirst = [&]() -> device::DeviceResult<device::CallTime> {
    ++calls;
    return bench.call('c', calls <= 4 ? 1e6 : calls % 2 == 0 ? 1.5e6 : 2e6)();
  };
  const auto timing = timePair(fastAtFirst, bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_FALSE(timing->screenedOut);
  EXPECT_EQ(timing->candidate.samples, 20);
  EXPECT_EQ(timing->candidate.stopReason, "noisy");
}

TEST(TimePair, ComparesAContenderWithActivityRecords) {
  FakeBench bench;
  int traces = 0;
  PairOptions options;
  options.trace = [&]() -> device::DeviceResult<double> { return ++traces * 1e6; };
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(traces, 3);
  EXPECT_DOUBLE_EQ(timing->candidate.activityMedianNs, 2e6);
}

TEST(TimePair, TracesNeitherWhatCannotWinNorWhereThereAreNoRecords) {
  FakeBench bench;
  int traces = 0;
  PairOptions options;
  options.screeningNs = 0.97e6;
  options.trace = [&]() -> device::DeviceResult<double> {
    ++traces;
    return 0.0;
  };
  ASSERT_TRUE(timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock()).has_value());
  EXPECT_EQ(traces, 0);
  options.screeningNs = 0.0;
  const auto timing = timePair(bench.call('c', 1e6), bench.call('e', 3e6), options, bench.clock());
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(traces, 1) << "one refusal is enough";
  EXPECT_DOUBLE_EQ(timing->candidate.activityMedianNs, 0.0);
}

TEST(TimeAlone, StopsAtTheSampleLimit) {
  double ns = 1e6;
  const TimedCall noisy = [&ns]() -> device::DeviceResult<device::CallTime> {
    return device::CallTime{.ns = ns *= 1.1};
  };
  const auto timing = timeAlone(noisy, {.budgetSeconds = 10.0, .maxSamples = 20});
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->samples, 20);
  EXPECT_EQ(timing->stopReason, "sample limit");
}

}  // namespace
}  // namespace swage::measure
