// SPDX-License-Identifier: Apache-2.0
#include "core/engine/winner_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "core/stats/agreement.h"
#include "core/store/baseline_choice.h"

namespace swage::engine {
namespace {

constexpr double kSameTime = 0.1;

struct Entry {
  domain::CandidateId id;
  const Remeasured* result;
};

template <class Predicate>
void keepIf(std::vector<Entry>& entries, const Predicate& predicate) {
  std::erase_if(entries, [&](const Entry& entry) { return !predicate(*entry.result); });
}

}  // namespace

bool isSurelyFaster(const domain::PairedTiming& a, const domain::PairedTiming& b) {
  return a.candidate.highNs < b.candidate.lowNs && a.speedup > b.speedup;
}

domain::CandidateId chooseWinner(const RemeasuredCandidates& measured, domain::CandidateId identity,
                                 const std::set<domain::CandidateId>& excluded) {
  std::vector<Entry> entries;
  for (const auto& [id, result] : measured) {
    if (result && id != identity && !excluded.contains(id)) {
      entries.push_back({id, &*result});
    }
  }
  const auto isSolid = [](const Remeasured& result) { return !stats::isDoubtful(result.timing.candidate); };
  if (std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return isSolid(*entry.result); })) {
    keepIf(entries, isSolid);
  }
  const auto own = measured.find(identity);
  const bool identityWorks = own != measured.end() && own->second;
  if (identityWorks) {
    keepIf(entries, [](const Remeasured& result) { return result.timing.speedupLow > 1.0; });
  }
  const Entry* best = nullptr;
  const auto rank = [](const Entry& entry) {
    return std::tuple(entry.result->launches, entry.result->relativeError, entry.id);
  };
  for (const Entry& entry : entries) {
    const bool isBeaten = std::any_of(entries.begin(), entries.end(), [&](const Entry& other) {
      return isSurelyFaster(other.result->timing, entry.result->timing);
    });
    if (!isBeaten && (best == nullptr || rank(entry) < rank(*best))) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    return identityWorks ? identity : domain::CandidateId();
  }
  return best->id;
}

bool isIncredible(const domain::PairedTiming& timing, double baselineNs) {
  return baselineNs > 0.0 && kIncredibleSpeedup * timing.candidate.medianNs < baselineNs;
}

std::string findContradiction(const domain::PairedTiming& first, const domain::Evaluation& fresh) {
  const domain::Correct* correct = domain::asCorrect(fresh);
  if (correct == nullptr) {
    return fmt::format("in another process it is not correct: {}", domain::summary(fresh));
  }
  const domain::Timing& then = first.candidate;
  const domain::Timing& now = correct->timing.candidate;
  const bool overlaps = now.lowNs <= then.highNs && then.lowNs <= now.highNs;
  if (overlaps || std::abs(now.medianNs - then.medianNs) <= kSameTime * then.medianNs) {
    return {};
  }
  return fmt::format("another process measured {:.0f} ns ({:.0f} to {:.0f}), not {:.0f} ns", now.medianNs, now.lowNs,
                     now.highNs, then.medianNs);
}

bool beats(const domain::PairedTiming& timing, const std::vector<domain::Baseline>& baselines) {
  const domain::Baseline* baseline = store::fastestComparable(baselines);
  if (timing.speedupLow <= 1.0 || baseline == nullptr) {
    return false;
  }
  // A record of an earlier version may have no interval.
  const double lowNs = baseline->timing.lowNs > 0.0 ? baseline->timing.lowNs : baseline->timing.medianNs;
  return timing.candidate.highNs < lowNs;
}

}  // namespace swage::engine
