// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/judge/swarm.h"
#include "core/models/conversation.h"
#include "core/services/swarm_service.h"

namespace swage::run {

// Keeps count of what the pairs of a run do: of one in progress as it happens, of one that is over by its events in
// their order. What pairs are at right now is the swarm's to say.
class SwarmBoard {
 public:
  void given(const judge::GivenAdvice& advice);
  void scored(const judge::ScoredAdvice& score);
  // A candidate of a model, with the candidate that it was made of. Speedups are over the same thing; 0: not correct.
  void ended(const std::string& model, domain::CandidateId candidate, double speedup, double parentSpeedup);
  void talked(const services::TalkSummary& talk);
  void called(const std::string& model, const models::ChatOutcome& outcome);

  // Of the pairs that have done something: without role and island, where those are not known. `holders`: the
  // candidates that hold a cell now.
  [[nodiscard]] services::SwarmReport report(const std::set<std::int64_t>& holders) const;

 private:
  struct Tally {
    std::int64_t offers = 0;
    std::int64_t correct = 0;
    double gainPercent = 0.0;
    double seconds = 0.0;
    std::vector<std::int64_t> made;  // the correct ones
  };
  void keepLast(const services::AdviceStanding& advice);
  [[nodiscard]] services::AdviceStanding& advice(const judge::ScoredAdvice& score);
  [[nodiscard]] services::PairStanding standing(const Tally& tally, const std::set<std::int64_t>& holders) const;
  void count(Tally& tally, domain::CandidateId candidate, double gain, double seconds);

  std::deque<services::AdviceStanding> m_advice;  // newest last
  std::int64_t m_lastNumber = 0;
  std::map<int, services::AdviceStanding> m_last;  // of each pair
  std::map<std::string, services::AdviceStanding> m_lastOfModel;
  std::map<int, Tally> m_pairs;
  std::map<std::string, Tally> m_models;
  std::deque<services::TalkSummary> m_talks;  // newest last
  std::map<std::string, services::ModelSpending> m_spending;
};

// Without the candidate and what became of it.
[[nodiscard]] services::TalkSummary talkSummaryOf(const models::Conversation& conversation);
// With the words. Each question repeats what was said before it: what is new in it is shown.
[[nodiscard]] services::Talk talkOf(const models::Conversation& conversation);

}  // namespace swage::run
