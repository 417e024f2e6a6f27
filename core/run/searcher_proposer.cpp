// SPDX-License-Identifier: Apache-2.0
#include "core/run/searcher_proposer.h"

#include <utility>

#include "core/base/assert.h"
#include "core/run/candidate_outcome.h"

namespace swage::run {

domain::ProposerName SearcherProposer::standardName() {
  auto name = domain::ProposerName::parse("search");
  SWAGE_ASSERT(name.has_value());
  return std::move(*name);
}

SearcherProposer::SearcherProposer(search::Searcher& searcher, const synth::Synthesizer& synthesizer, QObject* parent)
    : Proposer(standardName(), parent), m_searcher(searcher), m_synthesizer(synthesizer) {}

void SearcherProposer::guideBy(judge::Swarm& pairs, const domain::DeviceInfo& device, const stats::Roofline& task,
                               domain::ScalarType type) {
  m_pairs = {&pairs, &device, task, type};
}

bool SearcherProposer::makes(const domain::ProposerName& madeBy) const {
  const auto kind = madeBy.kind();
  return kind && *kind != domain::OperatorKind::Baseline && *kind != domain::OperatorKind::Human &&
         *kind != domain::OperatorKind::Coder;
}

void SearcherProposer::ask() {
  const judge::Swarm::Turn turn = m_pairs.swarm != nullptr ? m_pairs.swarm->next() : judge::Swarm::Turn();
  const std::optional<search::Proposal> proposal = m_searcher.next(turn.guidance ? &*turn.guidance : nullptr);
  m_exhausted = !proposal && m_searcher.outstanding() == 0;
  if (!proposal) {
    Q_EMIT passed(Pass::UntilNews);
    return;
  }
  if (m_pairs.swarm != nullptr) {
    m_pairs.swarm->proposed(turn, *proposal);
    tellTurn(turn, *proposal);
  }
  if (Result<Offer> offer = offerOf(*proposal)) {
    Q_EMIT offered(*offer);
  } else {
    Q_EMIT failed(offer.error());
  }
}

// A pair has come to the next advice on its list.
void SearcherProposer::tellTurn(const judge::Swarm::Turn& turn, const search::Proposal& proposal) {
  if (!turn.advice || !proposal.isGuided) {
    return;
  }
  std::pair<domain::CandidateId, std::string> next{turn.advice->about, turn.advice->advice.rule};
  if (std::exchange(m_told[turn.pair], next) != next) {
    Q_EMIT advised({.given = {*turn.advice}, .scored = std::nullopt});
  }
}

// What the pairs took up has been told of.
void SearcherProposer::tellNews(const judge::SwarmNews& news) {
  for (const judge::GivenAdvice& given : news.given) {
    m_told[given.pair] = {given.about, given.advice.rule};
  }
  Q_EMIT advised(news);
}

Result<Offer> SearcherProposer::offerOf(const search::Proposal& proposal) const {
  Offer offer{.number = proposal.id.value(),
              .madeBy = proposal.made_by,
              .program = {},
              .genome = proposal.genome,
              .parents = proposal.parents,
              .island = proposal.island};
  SWAGE_ASSERT(proposal.genome);
  Result<domain::Program> program = m_synthesizer.realise(*proposal.genome);
  if (program) {
    offer.program = std::move(*program);
  } else {
    offer.unwritten = evaluationOf(program.error());
    if (!offer.unwritten) {
      return std::move(program).error();
    }
  }
  return offer;
}

void SearcherProposer::hear(const CandidateEnd& end) {
  const store::CandidateRecord& candidate = end.candidate;
  m_searcher.report(search::ProposalId(candidate.proposal), outcomeOf(candidate, *candidate.evaluation));
  tellPairs(end, search::ProposalId(candidate.proposal), candidate.island);
}

// What a candidate without a genome is advised nobody here could follow.
void SearcherProposer::tellPairs(const CandidateEnd& end, search::ProposalId proposal, int island) {
  if (m_pairs.swarm == nullptr) {
    return;
  }
  judge::SwarmEnd told = swarmEnd(end.candidate, nullptr);  // one is made later, if it turns out to be fast
  told.proposal = proposal;
  told.island = island;
  told.trialSeconds = end.candidate.compileSeconds + end.stages.verify + end.stages.timing;
  tellNews(m_pairs.swarm->ended(told));
}

void SearcherProposer::takeProfile(const store::CandidateRecord& candidate, const domain::Profile& profile) {
  if (m_pairs.swarm != nullptr && candidate.evaluation && isUsable(candidate)) {
    tellNews(m_pairs.swarm->profiled(swarmEnd(candidate, &profile)));
  }
}

judge::SwarmEnd SearcherProposer::swarmEnd(const store::CandidateRecord& candidate,
                                           const domain::Profile* profile) const {
  const bool canVary = candidate.genome && !candidate.genome->regions.empty();
  return {.proposal = {},
          .genome = canVary ? &*candidate.genome : nullptr,
          .island = candidate.island,
          .what = {.program = &candidate.program,
                   .kernels = &candidate.kernels,
                   .evaluation = &*candidate.evaluation,
                   .profile = profile,
                   .device = m_pairs.device,
                   .task = m_pairs.task,
                   .type = m_pairs.type},
          .outcome = outcomeOf(candidate, *candidate.evaluation),
          .trialSeconds = 0.0};
}

void SearcherProposer::observe(const CandidateEnd& end) {
  const store::CandidateRecord& candidate = end.candidate;
  search::Proposal proposal;
  proposal.made_by = candidate.madeBy;
  proposal.island = candidate.island;
  proposal.parents = candidate.parents;
  if (makes(candidate.madeBy)) {
    proposal.id = search::ProposalId(candidate.proposal);  // of an earlier sitting
  }
  if (isUsable(candidate)) {
    proposal.genome = candidate.genome;
  }
  m_searcher.restore(proposal, outcomeOf(candidate, *candidate.evaluation));
  if (proposal.genome) {
    tellPairs(end, {}, candidate.island);
  }
}

// Swage's own write down what they have made themselves, and a person edits one of those.
bool SearcherProposer::isUsable(const store::CandidateRecord& candidate) const {
  return candidate.madeBy.kind() || !candidate.genome || m_synthesizer.realise(*candidate.genome);
}

}  // namespace swage::run
