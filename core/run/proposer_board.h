// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/search/searcher.h"
#include "core/services/activity.h"
#include "core/store/record.h"

namespace swage::run {

// Keeps count of who proposes what in a run, island by island. What an operator earned is the searcher's to say.
class ProposerBoard {
 public:
  void countProposed(const store::CandidateRecord& candidate);
  // When the searcher has heard of it.
  void countEnded(const store::CandidateRecord& candidate, const search::Archive& archive);
  // A candidate of an earlier sitting, which may have an end.
  void takeUp(const store::CandidateRecord& candidate, const search::Archive& archive);

  [[nodiscard]] services::ProposerReport report(const search::Searcher& searcher, double elapsedSeconds) const;

 private:
  using Key = std::pair<domain::OperatorKind, int>;

  std::map<Key, services::ProposerTally> m_tallies;
  // Of every candidate that was an elite once.
  std::unordered_map<std::int64_t, domain::OperatorKind> m_makers;
};

// What of a report is kept in the record's events, and back.
[[nodiscard]] std::string sampleJson(const services::ActivitySample& sample);
[[nodiscard]] Result<services::ActivitySample> parseSample(std::string_view json);

}  // namespace swage::run
