// SPDX-License-Identifier: Apache-2.0
#include "core/run/winner_choice.h"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/domain/record/winner.h"
#include "core/stats/agreement.h"

namespace swage::run {
namespace {

constexpr double kSameSpeed = 0.1;

}  // namespace

bool isUncertain(const domain::PairedTiming& timing) {
  const domain::Speedup speedup = domain::againstEager(timing);
  return !speedup.isKnown() || speedup.isUncertain() || stats::isDoubtful(timing.candidate);
}

domain::CandidateId chooseWinner(const RemeasuredCandidates& measured, domain::CandidateId identity,
                                 const domain::Speedup& eagerSpeedup, const std::set<domain::CandidateId>& excluded) {
  const domain::Speedup eager = eagerSpeedup.isKnown() ? eagerSpeedup : domain::Speedup::exactly(1.0);
  std::vector<domain::Finalist> finalists;
  for (const auto& [id, result] : measured) {
    if (result && id != identity && !excluded.contains(id)) {
      finalists.push_back({.id = id,
                           .speedup = domain::againstEager(result->timing).times(eager),
                           .isSolid = !isUncertain(result->timing),
                           .launches = result->launches,
                           .relativeError = result->relativeError});
    }
  }
  const auto own = measured.find(identity);
  const bool ownWorks = own != measured.end() && own->second;
  return domain::winnerAmong(std::move(finalists), ownWorks ? identity : domain::CandidateId());
}

bool isIncredible(const domain::Speedup& speedup) {
  return speedup.value > kIncredibleSpeedup;
}

std::string findContradiction(const domain::PairedTiming& first, const domain::Evaluation& fresh) {
  const domain::Correct* correct = domain::asCorrect(fresh);
  if (correct == nullptr) {
    return fmt::format("in a fresh process it is not correct: {}", domain::summary(fresh));
  }
  const domain::Speedup then = domain::againstEager(first);
  const domain::Speedup now = domain::againstEager(correct->timing);
  const bool overlaps = now.low <= then.high && then.low <= now.high;
  if (overlaps || std::abs(now.value - then.value) <= kSameSpeed * then.value) {
    return {};
  }
  return fmt::format("a fresh process measured {:.2f}x of eager ({:.2f} to {:.2f}), not {:.2f}x ({:.2f} to {:.2f})",
                     now.value, now.low, now.high, then.value, then.low, then.high);
}

}  // namespace swage::run
