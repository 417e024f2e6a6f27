// SPDX-License-Identifier: Apache-2.0
#include "core/search/local_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/search/weighted_choice.h"

namespace swage::search {

namespace {
constexpr int kFirstCandidates = 4;  // of a structure, before only local search goes on with it
constexpr double kContender = 1.5;   // times the fastest: slower structures get little
// Parts of local search for the four ranks, as far as they have members: leader, contenders, holders of a cell, rest.
constexpr std::array kRankShares{0.50, 0.35, 0.10, 0.05};
constexpr std::size_t kLeader = 0;
constexpr std::size_t kContenders = 1;
constexpr std::size_t kHolders = 2;
constexpr std::size_t kRest = 3;

// Whether `changed`, which differs from `genome` in one parameter, goes the way of the guidance.
bool follows(const domain::Genome& changed, const domain::Genome& genome,
             const std::map<std::string, int>& directions) {
  if (directions.empty()) {
    return true;
  }
  for (std::size_t i = 0; i < genome.regions.size() && i < changed.regions.size(); ++i) {
    for (const auto& [name, value] : changed.regions[i].parameters) {
      const auto before = genome.regions[i].parameters.find(name);
      if (before != genome.regions[i].parameters.end() && before->second != value) {
        const auto wanted = directions.find(name);
        return wanted != directions.end() && (value > before->second) == (wanted->second > 0);
      }
    }
  }
  return false;
}
}  // namespace

std::optional<domain::Genome> LocalSearch::follow(const Guidance& guidance, const TriedGenomes& tried, Random& random) {
  std::vector<Suggestion> pool;
  std::set<std::string> texts;
  const auto add = [&](const domain::Genome& genome) {
    if (!tried.contains(genome) && texts.insert(domain::canonicalText(genome)).second) {
      pool.push_back({genome, guidance.base, guidance.island});
    }
  };
  for (const domain::Genome& once : m_space->neighbours(guidance.genome)) {
    if (!follows(once, guidance.genome, guidance.parameters)) {
      continue;
    }
    add(once);
    if (guidance.parameters.empty()) {
      continue;
    }
    for (const domain::Genome& twice : m_space->neighbours(once)) {
      if (follows(twice, once, guidance.parameters)) {
        add(twice);
      }
    }
  }
  if (pool.empty()) {
    return std::nullopt;
  }
  const auto memory = m_memories.find(domain::structureText(guidance.genome));
  return memory == m_memories.end() ? std::move(pool[random.below(pool.size())].genome)
                                    : memory->second.choose(std::move(pool), random).genome;
}

void LocalSearch::record(const domain::Genome& genome, const Outcome& outcome, int island) {
  m_reported.push_back({genome, outcome.candidate, island});
  StructureMemory& memory = m_memories.try_emplace(domain::structureText(genome), *m_space, m_seed).first->second;
  if (isTimed(outcome)) {
    memory.addTimed({genome, outcome.candidate, island, -std::log(outcome.overEager.value)});
  } else if (outcome.kind != Outcome::Kind::Duplicate) {
    memory.addFailed(genome);
  }
}

bool LocalSearch::isExplored(const domain::Genome& genome) const {
  const auto found = m_proposed.find(domain::structureText(genome));
  return found != m_proposed.end() && found->second >= kFirstCandidates;
}

std::optional<Suggestion> LocalSearch::suggest(const TriedGenomes& tried, const std::set<std::string>& holders,
                                               Random& random) {
  std::vector<StructureMemory*> memories;
  std::vector<bool> holdsCell;
  for (auto& [structure, memory] : m_memories) {
    if (memory.hasSamples()) {
      memories.push_back(&memory);
      holdsCell.push_back(holders.contains(structure));
    }
  }
  if (memories.empty()) {
    return std::nullopt;
  }
  auto left = weights(memories, holdsCell);
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const std::size_t chosen = pickWeighted(left, random);
    if (!(left[chosen] > 0.0)) {
      break;
    }
    if (auto suggestion = memories[chosen]->suggest(tried, random)) {
      return suggestion;
    }
    left[chosen] = 0.0;
  }
  return std::nullopt;
}

std::vector<double> LocalSearch::weights(const std::vector<StructureMemory*>& memories,
                                         const std::vector<bool>& holdsCell) const {
  std::size_t leader = 0;
  for (std::size_t i = 1; i < memories.size(); ++i) {
    leader = memories[i]->bestLogTime() < memories[leader]->bestLogTime() ? i : leader;
  }
  std::vector<double> weights(memories.size());
  std::vector<std::size_t> ranks(memories.size());
  std::array<double, kRankShares.size()> sums{};
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const double behind = memories[i]->bestLogTime() - memories[leader]->bestLogTime();
    const bool contender = behind <= std::log(kContender);
    ranks[i] = i == leader ? kLeader : contender ? kContenders : holdsCell[i] ? kHolders : kRest;
    // Slower by a fifth: half the weight. Nothing gained in 16 samples: half the weight.
    weights[i] = std::exp(-4.0 * behind) / (1.0 + static_cast<double>(memories[i]->staleness()) / 16.0);
    sums[ranks[i]] += weights[i];
  }
  for (std::size_t i = 0; i < memories.size(); ++i) {
    // Far behind the weight may vanish altogether; it must not, or an exhausted search could miss something.
    weights[i] = std::max(kRankShares[ranks[i]] * weights[i] / std::max(sums[ranks[i]], 1e-300), 1e-9);
  }
  return weights;
}

std::optional<Suggestion> LocalSearch::sweep(const TriedGenomes& tried) {
  for (; m_swept < m_reported.size(); ++m_swept) {
    const Reported& base = m_reported[m_swept];
    for (domain::Genome& genome : m_space->neighbours(base.genome)) {
      if (!tried.contains(genome)) {
        return Suggestion{std::move(genome), base.candidate, base.island};
      }
    }
  }
  return std::nullopt;
}

}  // namespace swage::search
