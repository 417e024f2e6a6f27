// SPDX-License-Identifier: Apache-2.0
// The genomes that a search begins with.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/synth/genome_moves.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;

constexpr std::size_t kFinerCuts = 12;  // of the coarsest cut

}  // namespace

std::optional<Genome> GenomeMoves::seed(const std::vector<std::vector<int>>& partition, std::size_t rank,
                                        Speed speed) const {
  Random random(1);
  Genome genome;
  for (const std::vector<int>& operations : partition) {
    // One pattern after another, then the next parameters of those that have some.
    std::vector<std::pair<const Fit*, std::size_t>> choices;
    for (std::size_t set = 0; set < kFirstSets; ++set) {
      for (const Fit& fit : patternsFor(operations)) {
        if (fit.isFarBehind == (speed == Speed::FarBehind) && (set == 0 || set < fit.best.size())) {
          choices.emplace_back(&fit, set);
        }
      }
    }
    if (choices.empty() && speed == Speed::FarBehind && !patternsFor(operations).empty()) {
      choices.emplace_back(&patternsFor(operations).front(), 0);  // it has none
    }
    if (choices.empty()) {
      continue;
    }
    // Where the choices are over: again the first where the best is known, else the last.
    const bool isKnown = !choices.front().first->best.empty();
    const auto [fit, set] = rank < choices.size() ? choices[rank] : isKnown ? choices.front() : choices.back();
    if (auto gene = startGene(operations, *fit, set, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  return checked(std::move(genome));
}

// What rounds nothing where PyTorch does: PyTorch may be as exact on this device.
std::optional<Genome> GenomeMoves::exactSeed() const {
  Random random(1);
  Genome genome;
  for (const std::vector<int>& operations : m_fusion.greedyPartition()) {
    const std::vector<Fit>& fitting = patternsFor(operations);
    const RankedParameters* best = nullptr;
    const patterns::Pattern* pattern = nullptr;
    for (const Fit& fit : fitting) {
      const auto exact = std::find_if(fit.best.begin(), fit.best.end(), isExact);
      if (exact != fit.best.end() && (best == nullptr || exact->seconds < best->seconds)) {
        best = &*exact;
        pattern = fit.pattern;
      }
    }
    if (best != nullptr) {
      genome.regions.push_back({operations, pattern->id, best->parameters});
    } else if (auto gene = fitting.empty() ? std::nullopt : startGene(operations, fitting.front(), 0, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  return checked(std::move(genome));
}

std::vector<Genome> GenomeMoves::seeds() const {
  std::vector<Genome> found;
  const std::vector<std::vector<int>> greedy = m_fusion.greedyPartition();
  const bool recurs = std::any_of(greedy.begin(), greedy.end(), [this](const std::vector<int>& operations) {
    const Region* region = m_fusion.region(operations);
    return region != nullptr && region->recurrence;
  });
  const auto add = [&found](std::optional<Genome> genome) {
    if (genome && !genome->regions.empty() && std::find(found.begin(), found.end(), *genome) == found.end()) {
      found.push_back(std::move(*genome));
    }
  };
  for (const Speed speed : {Speed::Near, Speed::FarBehind}) {
    for (const auto& partition :
         {greedy, m_fusion.greedyPartition(Fusion::LaterFolds::Apart), m_fusion.singlePartition()}) {
      for (std::size_t rank = 0; rank < m_catalogue.all().size() + kFirstSets; ++rank) {
        if (recurs && rank == kFirstSets) {
          add(exactSeed());
        }
        add(seed(partition, rank, speed));
      }
    }
  }
  if (!found.empty() && estimate(found.front())) {
    for (const auto& partition : finerPartitions()) {
      addBest(partition, found);
    }
  }
  return found;
}

void GenomeMoves::addBest(const std::vector<std::vector<int>>& partition, std::vector<Genome>& found) const {
  const auto add = [&](Genome genome) {
    auto legal = checked(std::move(genome));
    if (legal && !legal->regions.empty() && std::find(found.begin(), found.end(), *legal) == found.end()) {
      found.push_back(std::move(*legal));
    }
  };
  Random random(1);
  Genome best;
  for (const std::vector<int>& operations : partition) {
    const std::vector<Fit>& fitting = patternsFor(operations);
    auto gene = fitting.empty() ? std::nullopt : startGene(operations, fitting.front(), 0, random);
    if (gene) {
      best.regions.push_back(std::move(*gene));
    }
  }
  add(best);
  for (RegionGene& gene : best.regions) {
    const RegionGene fastest = gene;
    for (const Fit& fit : patternsFor(fastest.nodes)) {
      for (std::size_t set = 0; !fit.isFarBehind && set < std::max<std::size_t>(1, fit.best.size()); ++set) {
        if (auto other = startGene(fastest.nodes, fit, set, random)) {
          gene = std::move(*other);
          add(best);
        }
      }
    }
    gene = fastest;
  }
}

std::vector<std::vector<std::vector<int>>> GenomeMoves::finerPartitions() const {
  const std::vector<std::vector<int>> coarsest = m_fusion.greedyPartition();
  std::vector<std::vector<std::vector<int>>> found{coarsest};
  for (const auto& other : {m_fusion.greedyPartition(Fusion::LaterFolds::Apart), m_fusion.singlePartition()}) {
    if (std::find(found.begin(), found.end(), other) == found.end()) {
      found.push_back(other);
    }
  }
  const std::size_t most = found.size() + kFinerCuts;
  for (std::size_t i = 0; i < coarsest.size(); ++i) {
    for (std::size_t cut = 1; cut < coarsest[i].size() && found.size() < most; ++cut) {
      const auto middle = coarsest[i].begin() + static_cast<std::ptrdiff_t>(cut);
      const std::vector<int> head(coarsest[i].begin(), middle);
      const std::vector<int> tail(middle, coarsest[i].end());
      if (m_fusion.region(head) == nullptr) {
        continue;
      }
      if (m_fusion.region(tail) != nullptr) {
        std::vector<std::vector<int>> finer = coarsest;
        finer[i] = head;
        finer.push_back(tail);
        found.push_back(std::move(finer));
      }
      addMovedBorders(coarsest, i, head, tail, found);
    }
  }
  return found;
}

// Moves the last operations of a region to one that follows: a kernel that pools a normalised tensor can normalise it
// itself, and the statistics stay where they are.
void GenomeMoves::addMovedBorders(const std::vector<std::vector<int>>& coarsest, std::size_t which,
                                  const std::vector<int>& head, const std::vector<int>& tail,
                                  std::vector<std::vector<std::vector<int>>>& found) const {
  for (std::size_t next = which + 1; next < coarsest.size(); ++next) {
    std::vector<int> joined;
    std::merge(tail.begin(), tail.end(), coarsest[next].begin(), coarsest[next].end(), std::back_inserter(joined));
    if (m_fusion.areRelated(tail, coarsest[next]) && m_fusion.region(joined) != nullptr) {
      std::vector<std::vector<int>> moved = coarsest;
      moved[which] = head;
      moved[next] = std::move(joined);
      if (m_fusion.schedule(moved)) {
        found.push_back(std::move(moved));
      }
    }
  }
}

}  // namespace swage::synth
