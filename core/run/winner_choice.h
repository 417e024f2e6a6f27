// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/domain/speedup.h"

// What the last measurement of a run says about its winner. Nobody wins by a difference that lies inside the intervals.
// Pure.
namespace swage::run {

// What the last measurement of a candidate gave.
struct Remeasured {
  domain::PairedTiming timing;
  int launches = 1;
  double relativeError = 0.0;  // the largest of all outputs
};
// No value: it did not pass this time.
using RemeasuredCandidates = std::map<domain::CandidateId, std::optional<Remeasured>>;

// Its interval is wide, or the device was held back or shared while it was measured: worth measuring again before it
// wins.
[[nodiscard]] bool isUncertain(const domain::PairedTiming& timing);

// Who wins by what was measured: domain::winnerAmong(). `eagerSpeedup` is that of eager against the fastest baseline;
// where it is not known, eager is the baseline. `excluded` is out of the contest. Invalid: nothing is correct.
[[nodiscard]] domain::CandidateId chooseWinner(const RemeasuredCandidates& measured, domain::CandidateId identity,
                                               const domain::Speedup& eagerSpeedup,
                                               const std::set<domain::CandidateId>& excluded = {});

// A speedup that is so high that one process does not prove it.
inline constexpr double kIncredibleSpeedup = 10.0;
[[nodiscard]] bool isIncredible(const domain::Speedup& speedup);
// Empty if another process's evaluation bears out a measurement: correct, and as fast beside eager within the intervals
// or 10 %.
[[nodiscard]] std::string findContradiction(const domain::PairedTiming& first, const domain::Evaluation& fresh);

}  // namespace swage::run
