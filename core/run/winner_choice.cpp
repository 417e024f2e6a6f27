// SPDX-License-Identifier: Apache-2.0
#include "core/run/winner_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/stats/agreement.h"

namespace swage::run {
namespace {

constexpr double kSameSpeed = 0.1;

struct Entry {
  domain::CandidateId id;
  const Remeasured* result;
  domain::Speedup speedup;  // against the fastest baseline
};

template <class Predicate>
void keepIf(std::vector<Entry>& entries, const Predicate& predicate) {
  std::erase_if(entries, [&](const Entry& entry) { return !predicate(entry); });
}

bool comesFirst(const Entry& a, const Entry& b) {
  const auto rank = [](const Entry& entry) {
    return std::tuple(-entry.speedup.low, entry.result->launches, entry.result->relativeError, entry.id);
  };
  return rank(a) < rank(b);
}

}  // namespace

bool isUncertain(const domain::PairedTiming& timing) {
  const domain::Speedup speedup = domain::againstEager(timing);
  return !speedup.isKnown() || speedup.isUncertain() || stats::isDoubtful(timing.candidate);
}

domain::CandidateId chooseWinner(const RemeasuredCandidates& measured, domain::CandidateId identity,
                                 const domain::Speedup& eagerSpeedup, const std::set<domain::CandidateId>& excluded) {
  const domain::Speedup eager = eagerSpeedup.isKnown() ? eagerSpeedup : domain::Speedup::exactly(1.0);
  std::vector<Entry> entries;
  for (const auto& [id, result] : measured) {
    if (result && id != identity && !excluded.contains(id)) {
      entries.push_back({id, &*result, domain::againstEager(result->timing).times(eager)});
    }
  }
  const auto own = measured.find(identity);
  const bool identityWorks = own != measured.end() && own->second;
  if (identityWorks) {
    keepIf(entries, [](const Entry& entry) { return entry.speedup.low > 1.0; });
  }
  const auto isSolid = [](const Entry& entry) { return !isUncertain(entry.result->timing); };
  if (std::any_of(entries.begin(), entries.end(), isSolid)) {
    keepIf(entries, isSolid);
  }
  const auto best = std::min_element(entries.begin(), entries.end(), comesFirst);
  if (best != entries.end()) {
    return best->id;
  }
  return identityWorks ? identity : domain::CandidateId();
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
