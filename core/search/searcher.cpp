// SPDX-License-Identifier: Apache-2.0
#include "core/search/searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "core/search/local_search.h"
#include "core/search/rounding_ways.h"
#include "core/search/tried_genomes.h"
#include "core/search/weighted_choice.h"

namespace swage::search {

using domain::OperatorKind;

namespace {
constexpr int kAttempts = 32;          // of the usual operators, before anything untried will do
constexpr int kLastAttempts = 200;     // of fresh genomes, and of variations, before the space counts as exhausted
constexpr int kGuidedAttempts = 4;     // to follow guidance
constexpr int kSwaps = 8;              // of patterns, from which guidance chooses
constexpr int kStructureAttempts = 4;  // to find a new structure, before local search gets the turn
constexpr double kKnownStructureShare = 0.1;  // of structural proposals that may stay in a well-known structure
constexpr double kFarBehind = 2.0;            // times the estimate of the fastest elite
constexpr double kFarBehindShare = 0.1;       // of structural proposals that may be so slow
constexpr std::size_t kFirstSeeds = 20;       // before local search, where their order is that of estimates
constexpr std::int64_t kMaxId = std::int64_t{1} << 53;  // a damaged record must not make ids overflow
constexpr std::array kAimedKinds = {OperatorKind::PatternSwap, OperatorKind::Parameter, OperatorKind::Split,
                                    OperatorKind::Merge};

struct Draft {
  domain::Genome genome;
  OperatorKind kind = OperatorKind::Synthesis;
  int island = 0;
  std::vector<domain::CandidateId> parents;
  std::optional<domain::Cell> aim;
};

SearchOptions inRange(SearchOptions options) {
  const auto share = [](double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0; };
  options.islands = std::max(options.islands, 1);
  options.migrationInterval = std::max(options.migrationInterval, 0);
  options.aimedShare = share(options.aimedShare);
  options.localSearchShare = share(options.localSearchShare);
  return options;
}

// Elites that something can be made of.
std::vector<PlacedElite> withGenome(std::vector<PlacedElite> elites) {
  std::erase_if(elites, [](const PlacedElite& placed) { return !placed.elite->genome; });
  return elites;
}

}  // namespace

struct Searcher::State {
  State(const GenomeSpace& genomeSpace, SearchOptions searchOptions);

  std::optional<Proposal> next(const Guidance* guidance);
  void take(const Proposal& proposal, const Outcome& outcome);
  void remember(const Proposal& proposal);
  [[nodiscard]] bool isSeed(const Proposal& proposal) const;

  enum class Seeds : std::uint8_t { Promising, All };
  [[nodiscard]] std::optional<Draft> nextSeed(Seeds which);
  [[nodiscard]] std::optional<Draft> steady(int island, Random& random);
  [[nodiscard]] std::optional<Draft> structural(int island, Random& random);
  [[nodiscard]] bool isPutOff(const Draft& draft, Random& random) const;
  [[nodiscard]] std::optional<Draft> made(OperatorKind kind, int island, Random& random) const;
  [[nodiscard]] std::optional<Draft> fresh(int island, Random& random) const;
  [[nodiscard]] std::optional<Draft> aimed(int island, Random& random) const;
  [[nodiscard]] std::optional<Draft> local(Random& random);
  [[nodiscard]] std::optional<Draft> lastResort(int island, Random& random);
  [[nodiscard]] std::optional<Draft> guided(const Guidance& guidance, Random& random);
  [[nodiscard]] std::optional<Draft> guidedBy(OperatorKind kind, const Guidance& guidance, Random& random);
  [[nodiscard]] std::optional<domain::Genome> guidedSwap(const Guidance& guidance, Random& random) const;
  [[nodiscard]] std::vector<PlacedElite> parentsFor(int island) const;
  // The draft if it is new, else nothing.
  [[nodiscard]] std::optional<Draft> ifNew(std::optional<Draft> draft) const;

  OperatorCredits::Result learn(const Proposal& proposal, const Outcome& outcome);

  const GenomeSpace& space;
  SearchOptions options;
  std::vector<domain::Genome> seeds;
  std::set<std::string> seedTexts;
  std::size_t nextSeedIndex = 0;
  std::size_t seedsGiven = 0;
  double leastEstimate = std::numeric_limits<double>::infinity();  // of a seed, in seconds
  std::int64_t nextId = 0;
  std::map<ProposalId, Proposal> out;
  TriedGenomes tried;
  Archive archive;
  OperatorCredits credits;
  LocalSearch localSearch;
  RoundingWays roundingWays;
  IslandRing islandRing;
};

Searcher::State::State(const GenomeSpace& genomeSpace, SearchOptions searchOptions)
    : space(genomeSpace),
      options(inRange(searchOptions)),
      seeds(genomeSpace.seeds()),
      archive(options.islands),
      localSearch(genomeSpace, options.seed),
      islandRing(options.migrationInterval) {
  for (const domain::Genome& seed : seeds) {
    seedTexts.insert(domain::canonicalText(seed));
    if (!seed.rewrites.empty()) {
      credits = OperatorCredits(OperatorCredits::Rewrites::Some);
    } else if (!multipliesHalves(seed)) {
      // Not of what may round too much, as rewritten graphs do: then the others must not have waited for them.
      leastEstimate = std::min(leastEstimate, space.estimate(seed).value_or(leastEstimate));
    }
  }
}

std::optional<Proposal> Searcher::State::next(const Guidance* guidance) {
  // Mixed once, so that neighbouring ids do not give overlapping SplitMix64 streams.
  Random random(Random(options.seed ^ Random(static_cast<std::uint64_t>(nextId)).next()).next());
  const int island = static_cast<int>(nextId % options.islands);
  auto draft = nextSeed(Seeds::Promising);
  bool isGuided = false;
  if (!draft && guidance != nullptr) {
    draft = guided(*guidance, random);
    isGuided = draft.has_value();
  }
  if (!draft) {
    draft = steady(island, random);
  }
  if (!draft) {
    draft = lastResort(island, random);
  }
  if (!draft) {
    return std::nullopt;
  }
  Proposal proposal{ProposalId(nextId),
                    std::move(draft->genome),
                    draft->kind,
                    draft->island,
                    std::move(draft->parents),
                    draft->aim,
                    isGuided};
  remember(proposal);
  out.emplace(proposal.id, proposal);
  return proposal;
}

bool Searcher::State::isSeed(const Proposal& proposal) const {
  return proposal.made_by == OperatorKind::Synthesis && proposal.genome &&
         seedTexts.contains(domain::canonicalText(*proposal.genome));
}

void Searcher::State::remember(const Proposal& proposal) {
  seedsGiven += isSeed(proposal) ? 1 : 0;
  if (proposal.id.value() < kMaxId) {
    nextId = std::max(nextId, proposal.id.value() + 1);
  }
  if (proposal.genome) {
    tried.add(*proposal.genome);
    localSearch.countProposed(*proposal.genome);
  }
  credits.countProposed(proposal.made_by);
}

std::optional<Draft> Searcher::State::ifNew(std::optional<Draft> draft) const {
  return draft && !tried.contains(draft->genome) ? std::move(draft) : std::nullopt;
}

// Those that are estimated to be far behind the fastest, or are hardly right, are left for when there is nothing else.
// So are the last of many: by then local search knows better what to try.
std::optional<Draft> Searcher::State::nextSeed(Seeds which) {
  const double most = kFarBehind * leastEstimate;
  if (which == Seeds::Promising && std::isfinite(leastEstimate) && seedsGiven >= kFirstSeeds) {
    return std::nullopt;
  }
  for (; nextSeedIndex < seeds.size(); ++nextSeedIndex) {
    const domain::Genome& seed = seeds[nextSeedIndex];
    const auto isPromising = [&] {
      return !roundingWays.areHopeless(seed) && space.estimate(seed).value_or(0.0) <= most;
    };
    if (!tried.contains(seed) && (which == Seeds::All || isPromising())) {
      const int island = static_cast<int>(nextSeedIndex % static_cast<std::size_t>(options.islands));
      return Draft{seed, OperatorKind::Synthesis, island, {}, {}};
    }
  }
  return std::nullopt;
}

std::optional<Draft> Searcher::State::steady(int island, Random& random) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::optional<Draft> draft;
    if (archive.bestOverall() == nullptr) {
      draft = fresh(island, random);
    } else if (random.chance(options.localSearchShare)) {
      draft = local(random);
    } else if (random.chance(options.aimedShare)) {
      draft = aimed(island, random);
    } else {
      draft = structural(island, random);
    }
    if (draft = ifNew(std::move(draft)); draft) {
      return draft;
    }
  }
  return std::nullopt;
}

std::optional<Draft> Searcher::State::structural(int island, Random& random) {
  const bool knownIsFine = random.chance(kKnownStructureShare);
  for (int attempt = 0; attempt < kStructureAttempts; ++attempt) {
    auto draft = ifNew(made(credits.choose(random), island, random));
    if (draft && isPutOff(*draft, random)) {
      continue;
    }
    if (draft && (knownIsFine || !localSearch.isExplored(draft->genome))) {
      return draft;
    }
  }
  return local(random);
}

// What is estimated to be far behind the fastest elite has its turn, but seldom.
bool Searcher::State::isPutOff(const Draft& draft, Random& random) const {
  if (roundingWays.areHopeless(draft.genome)) {
    return !random.chance(kFarBehindShare);
  }
  const auto best = archive.bestOverall();
  const auto elite = best != nullptr && best->genome ? space.estimate(*best->genome) : std::nullopt;
  const auto own = elite ? space.estimate(draft.genome) : std::nullopt;
  return own && *own > kFarBehind * *elite && !random.chance(kFarBehindShare);
}

std::vector<PlacedElite> Searcher::State::parentsFor(int island) const {
  auto elites = withGenome(archive.elites(island));
  return elites.empty() ? withGenome(archive.elites()) : elites;
}

std::optional<Draft> Searcher::State::made(OperatorKind kind, int island, Random& random) const {
  const auto elites = parentsFor(island);
  if (kind == OperatorKind::Synthesis || elites.empty()) {
    return fresh(island, random);
  }
  const PlacedElite parent = selectParent(elites, archive, random);
  Draft draft{{}, kind, island, {parent.elite->candidate}, {}};
  const domain::Genome* other = nullptr;
  if (kind == OperatorKind::Crossover) {
    auto partners = withGenome(archive.elites());
    std::erase_if(partners, [&](const PlacedElite& placed) { return placed.elite->genome == parent.elite->genome; });
    if (partners.empty()) {
      return std::nullopt;
    }
    const PlacedElite partner = selectParent(partners, archive, random);
    other = &*partner.elite->genome;
    draft.parents.push_back(partner.elite->candidate);
  }
  auto genome = space.vary(kind, *parent.elite->genome, other, nullptr, random);
  if (!genome) {
    return std::nullopt;
  }
  draft.genome = std::move(*genome);
  return draft;
}

std::optional<Draft> Searcher::State::fresh(int island, Random& random) const {
  return Draft{space.fresh(random), OperatorKind::Synthesis, island, {}, {}};
}

std::optional<Draft> Searcher::State::aimed(int island, Random& random) const {
  auto aim = selectAim(withGenome(archive.elites(island)), archive, options.reachable, random);
  if (!aim) {
    aim = selectAim(withGenome(archive.elites()), archive, options.reachable, random);
  }
  if (!aim) {
    return std::nullopt;
  }
  const auto turn = static_cast<std::size_t>(credits.proposed(OperatorKind::Aimed));
  for (std::size_t i = 0; i < kAimedKinds.size(); ++i) {
    const OperatorKind kind = kAimedKinds[(turn + i) % kAimedKinds.size()];
    auto genome = space.vary(kind, *aim->parent.elite->genome, nullptr, &aim->cell, random);
    if (genome && !tried.contains(*genome)) {
      return Draft{std::move(*genome), OperatorKind::Aimed, island, {aim->parent.elite->candidate}, aim->cell};
    }
  }
  return std::nullopt;
}

std::optional<Draft> Searcher::State::local(Random& random) {
  std::set<std::string> holders;
  for (int index = 0; index < domain::kCellCount; ++index) {
    if (const Elite* elite = archive.best(domain::Cell::fromIndex(index)); elite != nullptr && elite->genome) {
      holders.insert(domain::structureText(*elite->genome));
    }
  }
  auto found = localSearch.suggest(tried, holders, random);
  if (!found) {
    return std::nullopt;
  }
  return Draft{std::move(found->genome), OperatorKind::Parameter, found->island, {found->parent}, {}};
}

std::optional<Draft> Searcher::State::lastResort(int island, Random& random) {
  nextSeedIndex = 0;
  if (auto draft = nextSeed(Seeds::All)) {
    return draft;
  }
  for (int attempt = 0; attempt < kLastAttempts; ++attempt) {
    if (auto draft = ifNew(fresh(island, random))) {
      return draft;
    }
  }
  if (auto found = localSearch.sweep(tried)) {
    return Draft{std::move(found->genome), OperatorKind::Parameter, found->island, {found->parent}, {}};
  }
  for (int attempt = 0; attempt < kLastAttempts; ++attempt) {
    const auto kind = random.pick(std::span(credits.structural()));
    if (auto draft = ifNew(made(kind, island, random))) {
      return draft;
    }
  }
  return std::nullopt;
}

std::optional<Draft> Searcher::State::guided(const Guidance& guidance, Random& random) {
  std::vector<OperatorKind> kinds;
  std::vector<double> weights;
  for (const auto& [kind, weight] : guidance.operators) {
    if (std::isfinite(weight) && weight > 0.0) {
      kinds.push_back(kind);
      weights.push_back(weight);
    }
  }
  for (int attempt = 0; attempt < kGuidedAttempts && !kinds.empty(); ++attempt) {
    const std::size_t chosen = pickWeighted(weights, random);
    if (auto draft = ifNew(guidedBy(kinds[chosen], guidance, random))) {
      return draft;
    }
  }
  return std::nullopt;
}

std::optional<Draft> Searcher::State::guidedBy(OperatorKind kind, const Guidance& guidance, Random& random) {
  const int island = std::clamp(guidance.island, 0, options.islands - 1);
  if (kind == OperatorKind::Synthesis) {
    return fresh(island, random);
  }
  if (kind == OperatorKind::Aimed) {
    return aimed(island, random);
  }
  Draft draft{{}, kind, island, {guidance.base}, {}};
  std::optional<domain::Genome> genome;
  if (kind == OperatorKind::Parameter) {
    genome = localSearch.follow(guidance, tried, random);
  } else if (kind == OperatorKind::PatternSwap) {
    genome = guidedSwap(guidance, random);
  } else if (kind == OperatorKind::Crossover) {
    auto partners = withGenome(archive.elites());
    std::erase_if(partners, [&](const PlacedElite& placed) { return placed.elite->genome == guidance.genome; });
    if (!partners.empty()) {
      const PlacedElite partner = selectParent(partners, archive, random);
      draft.parents.push_back(partner.elite->candidate);
      genome = space.vary(kind, guidance.genome, &*partner.elite->genome, nullptr, random);
    }
  } else {
    genome = space.vary(kind, guidance.genome, nullptr, nullptr, random);
  }
  if (!genome) {
    return std::nullopt;
  }
  draft.genome = std::move(*genome);
  return draft;
}

// Of several swaps, one by the weights of the patterns that are new in it.
std::optional<domain::Genome> Searcher::State::guidedSwap(const Guidance& guidance, Random& random) const {
  std::set<std::string> before;
  for (const domain::RegionGene& region : guidance.genome.regions) {
    before.insert(region.pattern);
  }
  std::vector<domain::Genome> found;
  std::vector<double> weights;
  for (int i = 0; i < kSwaps; ++i) {
    auto genome = space.vary(OperatorKind::PatternSwap, guidance.genome, nullptr, nullptr, random);
    if (!genome || tried.contains(*genome)) {
      continue;
    }
    double weight = 1.0;
    for (const domain::RegionGene& region : genome->regions) {
      const auto wanted = guidance.patterns.find(region.pattern);
      weight *= wanted != guidance.patterns.end() && !before.contains(region.pattern) ? wanted->second : 1.0;
    }
    found.push_back(std::move(*genome));
    weights.push_back(weight);
  }
  return found.empty() ? std::nullopt : std::optional(std::move(found[pickWeighted(weights, random)]));
}

void Searcher::State::take(const Proposal& proposal, const Outcome& outcome) {
  const auto result = learn(proposal, outcome);
  credits.countResult(proposal.made_by, result,
                      isSeed(proposal) ? OperatorCredits::Learn::No : OperatorCredits::Learn::Yes);
  if (proposal.genome) {
    localSearch.record(*proposal.genome, outcome, proposal.island);
    roundingWays.count(*proposal.genome, outcome);
  }
  islandRing.report(result == OperatorCredits::Result::Improved, archive);
}

// Enters the outcome into the archive.
OperatorCredits::Result Searcher::State::learn(const Proposal& proposal, const Outcome& outcome) {
  using Result = OperatorCredits::Result;
  const int island = proposal.island;
  if (outcome.kind == Outcome::Kind::Duplicate) {
    return Result::Failed;
  }
  if (!isTimed(outcome) || !outcome.cell) {
    archive.countFailure(island, outcome.cell);
    return Result::Failed;
  }
  if (outcome.kind == Outcome::Kind::ScreenedOut) {
    archive.countScreenedOut(island, *outcome.cell);
    return Result::Correct;
  }
  const auto inserted =
      archive.insert(island, *outcome.cell, {outcome.candidate, proposal.genome, outcome.timeNs, outcome.overEager});
  return inserted == Archive::Insertion::NotBetter ? Result::Correct : Result::Improved;
}

Searcher::Searcher(const GenomeSpace& space, SearchOptions options)
    : m_state(std::make_unique<State>(space, options)) {}
Searcher::~Searcher() = default;
Searcher::Searcher(Searcher&&) noexcept = default;
Searcher& Searcher::operator=(Searcher&&) noexcept = default;

std::optional<Proposal> Searcher::next(const Guidance* guidance) {
  return m_state->next(guidance);
}

void Searcher::report(ProposalId proposal, const Outcome& outcome) {
  if (const auto node = m_state->out.extract(proposal); !node.empty()) {
    m_state->take(node.mapped(), outcome);
  }
}

void Searcher::retract(domain::CandidateId candidate) {
  m_state->archive.remove(candidate);
}

const Archive& Searcher::archive() const {
  return m_state->archive;
}

std::vector<OperatorCredit> Searcher::credits() const {
  if (m_state->archive.bestOverall() != nullptr) {
    return m_state->credits.list(m_state->options.localSearchShare, m_state->options.aimedShare);
  }
  auto credits = m_state->credits.list(0.0, 0.0);
  for (OperatorCredit& credit : credits) {  // nothing to vary yet
    credit.weight = credit.name == OperatorKind::Synthesis ? 1.0 : 0.0;
  }
  return credits;
}

Exchange Searcher::exchange() const {
  return m_state->islandRing.exchange();
}

domain::Speedup Searcher::eliteSpeedup(const domain::Cell& cell) const {
  const Elite* elite = m_state->archive.best(cell);
  return elite == nullptr ? domain::Speedup() : elite->overEager;
}

bool Searcher::hasTried(const domain::Genome& genome) const {
  return m_state->tried.contains(genome);
}

std::vector<std::string> Searcher::triedTexts() const {
  return m_state->tried.texts();
}

std::size_t Searcher::outstanding() const {
  return m_state->out.size();
}

void Searcher::restore(const Proposal& proposal, const Outcome& outcome) {
  Proposal brought = proposal;
  // A record made with more islands than this run has still counts.
  brought.island = std::max(proposal.island, 0) % m_state->options.islands;
  m_state->remember(brought);
  m_state->take(brought, outcome);
}

}  // namespace swage::search
