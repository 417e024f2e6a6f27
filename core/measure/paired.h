// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/device/device.h"
#include "core/domain/evaluation.h"
#include "core/measure/condition_watch.h"

namespace swage::measure {

// Runs one call with cold caches and says how long it took.
using TimedCall = std::function<device::DeviceResult<device::CallTime>()>;
// Runs one call while the device records what it does, and gives the nanoseconds for which it was busy; 0: no records.
using TracedCall = std::function<device::DeviceResult<double>()>;
[[nodiscard]] Clock steadyClock();

struct TimingOptions {
  double budgetSeconds = 0.5;
  int minSamples = 7;
  int maxSamples = 50;
  int warmups = 2;
  ConditionProbe conditions = {};  // empty: nobody can be asked
  std::string clock = {};          // what gives the samples, for the result
  // Whether somebody waits for the device, and sampling should stop as soon as the time is precise; otherwise it goes
  // on up to the limits. Empty: always.
  std::function<bool()> isAwaited = {};
};

// Back to back, as the kernels of a plan are: the first one of a call costs more, whatever comes after it.
inline constexpr int kLaunchesAtOnce = 8;

struct PairOptions {
  TimingOptions timing;
  TracedCall trace;           // empty: not compared with activity records
  TimedCall launches;         // of kLaunchesAtOnce empty kernels; empty: not timed
  double screeningNs = 0.0;   // 0: no screening
  double contenderNs = 0.0;   // who is slower is timed briefly; 0: nobody
  domain::Timing knownEager;  // of the task's admission; stands for eager when the candidate is screened out
  std::uint64_t seed = 0;     // of the order of calls and of the bootstrap
};

// Times one call alone.
[[nodiscard]] device::DeviceResult<domain::Timing> timeAlone(const TimedCall& call, const TimingOptions& options,
                                                             const Clock& clock = steadyClock());

// Times the candidate against eager: warm-up, screening (which asks eager first whether everything is slower now), then
// rounds in which both run in random order, until the candidate's median is precise or a limit is reached. Eager runs
// in fewer rounds, but in five at least where the budget allows: a slow eager must not eat the time of the search. The
// first failure of either ends it.
//
// Of a candidate whose calls all take longer than contenderNs a first impression is enough: three samples of each, no
// records.
//
// Samples taken while the device was throttled or shared are measured again; where that does not help, the stop reason
// is "throttled", and the interval of the speedup is as wide as the samples lie apart, and a factor of eight each way
// at least. Where a candidate's own interval stays wide, the reason is "noisy" (isDoubtful). What would become its
// cell's elite, or has none to beat, is run a few more times with activity records when the timing is over.
[[nodiscard]] device::DeviceResult<domain::PairedTiming> timePair(const TimedCall& candidate, const TimedCall& eager,
                                                                  const PairOptions& options,
                                                                  const Clock& clock = steadyClock());

}  // namespace swage::measure
