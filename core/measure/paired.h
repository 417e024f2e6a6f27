// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "core/device/failure.h"
#include "core/domain/evaluation.h"

namespace swage::measure {

// Runs one call with cold caches and gives its nanoseconds.
using TimedCall = std::function<device::DeviceResult<double>()>;
// Seconds since some fixed moment.
using Clock = std::function<double()>;
[[nodiscard]] Clock steadyClock();

struct TimingOptions {
  double budgetSeconds = 0.5;
  int maxSamples = 50;
  int warmups = 2;
};

struct PairOptions {
  TimingOptions timing;
  double screeningNs = 0.0;   // 0: no screening
  domain::Timing knownEager;  // of the task's admission; stands for eager when the candidate is screened out
  std::uint64_t seed = 0;     // of the order of calls and of the bootstrap
};

// Times one call alone.
[[nodiscard]] device::DeviceResult<domain::Timing> timeAlone(const TimedCall& call, const TimingOptions& options,
                                                             const Clock& clock = steadyClock());

// Times the candidate against eager: warm-up, screening, then rounds in which both run in random order, until the
// candidate's median is precise or a limit is reached. Eager runs in fewer rounds, but in five at least where the
// budget allows: a slow eager must not eat the time of the search. The first failure of either ends it.
[[nodiscard]] device::DeviceResult<domain::PairedTiming> timePair(const TimedCall& candidate, const TimedCall& eager,
                                                                  const PairOptions& options,
                                                                  const Clock& clock = steadyClock());

}  // namespace swage::measure
