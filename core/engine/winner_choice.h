// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"

// Who wins a run. Nobody wins by a difference that lies inside the intervals. Pure.
namespace swage::engine {

// What the last measurement of a candidate gave.
struct Remeasured {
  domain::PairedTiming timing;
  int launches = 1;
  double relativeError = 0.0;  // the largest of all outputs
};
// No value: it did not pass this time.
using RemeasuredCandidates = std::map<domain::CandidateId, std::optional<Remeasured>>;

// `a` is faster than `b` if their 95 % intervals are apart and its ratio to the eager that was measured in turns with
// it is higher, too: what is only drift between two measurements moves eager as well.
[[nodiscard]] bool isSurelyFaster(const domain::PairedTiming& a, const domain::PairedTiming& b);

// Of the candidates that are surely faster than eager and that no other is surely faster than, the one with the fewest
// launches, then the smallest error, then the oldest. Measurements of a throttled device or with an interval that
// stayed wide only count when there are no others. Without such a candidate the task's own operators win; where they do
// not work, being faster than eager is not asked for. `excluded` is out of the contest. Invalid: nothing is correct.
[[nodiscard]] domain::CandidateId chooseWinner(const RemeasuredCandidates& measured, domain::CandidateId identity,
                                               const std::set<domain::CandidateId>& excluded = {});

// A speedup that is so high that one process does not prove it.
inline constexpr double kIncredibleSpeedup = 10.0;
[[nodiscard]] bool isIncredible(const domain::PairedTiming& timing, double baselineNs);
// Empty if another process's evaluation bears out a measurement: correct, and the same time within its interval or 10
// %.
[[nodiscard]] std::string findContradiction(const domain::PairedTiming& first, const domain::Evaluation& fresh);

// Whether a candidate is surely faster than eager and than the fastest comparable baseline of its run.
[[nodiscard]] bool beats(const domain::PairedTiming& timing, const std::vector<domain::Baseline>& baselines);

}  // namespace swage::engine
