// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/judge/swarm.h"
#include "core/run/proposer.h"
#include "core/search/searcher.h"
#include "core/synth/synthesizer.h"

namespace swage::run {

// The search over genomes as a proposer: answers at once, and enters every end, its own and others', into the archive
// of the searcher. With nobody else in the run, the same seed and the same ends give the same proposals. Where there
// are pairs of a coder and a judge, their advice guides the search (core/judge/swarm.h).
class SearcherProposer final : public Proposer {
  Q_OBJECT

 public:
  [[nodiscard]] static domain::ProposerName standardName();

  // Both outlive this.
  SearcherProposer(search::Searcher& searcher, const synth::Synthesizer& synthesizer, QObject* parent = nullptr);

  // Before the first question. `task` as the pairs' options have it; all outlive this.
  void guideBy(judge::Swarm& pairs, const domain::DeviceInfo& device, const stats::Roofline& task,
               domain::ScalarType type);

  [[nodiscard]] bool makes(const domain::ProposerName& madeBy) const override;
  void ask() override;
  void hear(const CandidateEnd& end) override;
  void observe(const CandidateEnd& end) override;

  // A candidate of the run, which ended before, has a profile now: pairs at work at it hear what that tells.
  void takeProfile(const store::CandidateRecord& candidate, const domain::Profile& profile);

  // When it was asked last, nothing was left to try, and no outcome could have opened a way on.
  [[nodiscard]] bool isExhausted() const { return m_exhausted; }

 Q_SIGNALS:
  // A pair has taken up an advice, or knows what came of one.
  void advised(const swage::judge::SwarmNews& news);

 private:
  [[nodiscard]] Result<Offer> offerOf(const search::Proposal& proposal) const;
  // Whether the genome of somebody else's program is one that this version can vary.
  [[nodiscard]] bool isUsable(const store::CandidateRecord& candidate) const;

  void tellPairs(const CandidateEnd& end, search::ProposalId proposal, int island);
  // With pairs. Borrows the candidate and the profile, which may be null.
  [[nodiscard]] judge::SwarmEnd swarmEnd(const store::CandidateRecord& candidate, const domain::Profile* profile) const;
  void tellTurn(const judge::Swarm::Turn& turn, const search::Proposal& proposal);
  void tellNews(const judge::SwarmNews& news);

  search::Searcher& m_searcher;
  const synth::Synthesizer& m_synthesizer;
  struct Pairs {
    judge::Swarm* swarm = nullptr;  // null: there are none
    const domain::DeviceInfo* device = nullptr;
    stats::Roofline task;
    domain::ScalarType type = domain::ScalarType::Float32;
  } m_pairs;
  // What each pair was last said to have taken up.
  std::map<int, std::pair<domain::CandidateId, std::string>> m_told;
  bool m_exhausted = false;
};

}  // namespace swage::run
