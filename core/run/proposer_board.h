// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/search/proposer_credit.h"
#include "core/search/searcher.h"
#include "core/services/activity.h"
#include "core/store/record.h"

namespace swage::run {

// Keeps count of who proposes what in a run, island by island. What an operator earned is the searcher's to say, and
// what others did, the pool's.
class ProposerBoard {
 public:
  void countProposed(const store::CandidateRecord& candidate);
  // When the searcher has heard of it. `trialSeconds`: that compilers and workers were busy with it.
  void countEnded(const store::CandidateRecord& candidate, double trialSeconds, const search::Archive& archive);
  // A candidate of an earlier sitting, which may have an end.
  void takeUp(const store::CandidateRecord& candidate, const search::Archive& archive);

  // `proposers`: of the searcher, by its name `searchName`, and of those beside it.
  [[nodiscard]] services::ProposerReport report(const search::Searcher& searcher,
                                                const search::ProposerCredits& proposers,
                                                const domain::ProposerName& searchName, double elapsedSeconds) const;

 private:
  using Key = std::pair<domain::ProposerName, int>;

  std::map<Key, services::ProposerTally> m_tallies;
  // Of every candidate that was an elite once.
  std::unordered_map<std::int64_t, domain::ProposerName> m_makers;
  std::map<domain::ProposerName, double> m_trialSeconds;
};

// Whether it is the elite of its cell on its island.
[[nodiscard]] bool holdsItsCell(const store::CandidateRecord& candidate, const search::Archive& archive);

// What of a report is kept in the record's events, and back.
[[nodiscard]] std::string sampleJson(const services::ActivitySample& sample);
[[nodiscard]] Result<services::ActivitySample> parseSample(std::string_view json);

}  // namespace swage::run
