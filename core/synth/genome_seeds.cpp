// SPDX-License-Identifier: Apache-2.0
// The genomes that a search begins with.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/parallel.h"
#include "core/domain/aten.h"
#include "core/synth/genome_moves.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;

constexpr std::size_t kFinerCuts = 12;   // of the coarsest cut
constexpr std::size_t kMostSeeds = 600;  // of one graph: a search begins with the best few of them

// What comes before and behind the cut.
std::pair<std::vector<int>, std::vector<int>> cutAt(const std::vector<int>& operations, std::size_t cut) {
  const auto middle = operations.begin() + static_cast<std::ptrdiff_t>(cut);
  return {{operations.begin(), middle}, {middle, operations.end()}};
}

}  // namespace

// Seeds, each once.
class GenomeMoves::SeedList {
 public:
  void add(std::optional<Genome> genome) {
    if (genome && !genome->regions.empty() && m_texts.insert(domain::canonicalText(*genome)).second) {
      m_genomes.push_back(std::move(*genome));
    }
  }
  [[nodiscard]] bool isFull() const { return m_genomes.size() >= kMostSeeds; }
  [[nodiscard]] std::vector<Genome>& genomes() { return m_genomes; }

 private:
  std::vector<Genome> m_genomes;
  std::set<std::string> m_texts;
};

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
    } else if (auto gene = fastestGene(operations, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  return checked(std::move(genome));
}

// In a model with normalisations and convolutions in TF32, adding up in another order often moves the results further
// from PyTorch's than a task permits. Then only kernels that sum nothing may be accepted.
std::optional<Genome> GenomeMoves::elementSeed() const {
  const std::vector<domain::Node>& nodes = m_fusion.graph().nodes;
  const bool convolves =
      std::any_of(nodes.begin(), nodes.end(), [](const domain::Node& node) { return domain::isConvolution(node.op); });
  const bool normalises = std::any_of(nodes.begin(), nodes.end(), [](const domain::Node& node) {
    return domain::atenWork(node.op) == domain::AtenWork::Normalising;
  });
  return convolves && normalises && m_device.kind == domain::DeviceKind::Cuda
             ? bestOf(m_fusion.greedyPartition(Fusion::Joins::Elements))
             : std::nullopt;
}

std::vector<Genome> GenomeMoves::seeds() const {
  SeedList found;
  const std::vector<std::vector<int>>& greedy = m_fusion.greedyPartition();
  const std::vector<std::vector<std::vector<int>>> partitions = {
      greedy, m_fusion.greedyPartition(Fusion::Joins::NoLaterFolds), m_fusion.singlePartition()};
  findFits(partitions);
  const bool recurs = std::any_of(greedy.begin(), greedy.end(), [this](const std::vector<int>& operations) {
    const Region* region = m_fusion.region(operations);
    return region != nullptr && region->recurrence;
  });
  for (const Speed speed : {Speed::Near, Speed::FarBehind}) {
    for (const auto& partition : partitions) {
      // One turn more: where the choices of all regions are over, some have their first again and some their last.
      const std::size_t last = std::max(mostChoices(partition, speed), kFirstSets);
      for (std::size_t rank = 0; rank <= last && !found.isFull(); ++rank) {
        if (recurs && rank == kFirstSets) {
          found.add(exactSeed());
        }
        found.add(seed(partition, rank, speed));
      }
    }
  }
  found.add(elementSeed());
  if (!found.genomes().empty() && estimate(found.genomes().front())) {
    std::vector<Genome> best;
    const auto finer = finerPartitions();
    findFits(finer);
    for (const auto& partition : finer) {
      if (auto genome = bestOf(partition)) {
        found.add(genome);
        best.push_back(std::move(*genome));
      }
    }
    for (const Genome& genome : best) {
      addVariants(genome, found);
    }
  }
  return std::move(found.genomes());
}

void GenomeMoves::findFits(const std::vector<std::vector<std::vector<int>>>& partitions) const {
  std::map<std::string_view, const std::vector<int>*> different;
  for (const auto& partition : partitions) {
    for (const std::vector<int>& operations : partition) {
      different.try_emplace(keyOfRegion(operations), &operations);
    }
  }
  std::vector<const std::vector<int>*> regions;
  std::transform(different.begin(), different.end(), std::back_inserter(regions),
                 [](const auto& each) { return each.second; });
  inParallel(regions.size(), [&](std::size_t i) { static_cast<void>(patternsFor(*regions[i])); });
}

std::size_t GenomeMoves::mostChoices(const std::vector<std::vector<int>>& partition, Speed speed) const {
  std::size_t most = 1;
  for (const std::vector<int>& operations : partition) {
    std::size_t choices = 0;
    for (const Fit& fit : patternsFor(operations)) {
      choices +=
          fit.isFarBehind == (speed == Speed::FarBehind) ? std::clamp<std::size_t>(fit.best.size(), 1, kFirstSets) : 0;
    }
    most = std::max(most, choices);
  }
  return most;
}

std::optional<Genome> GenomeMoves::bestOf(const std::vector<std::vector<int>>& partition) const {
  Random random(1);
  Genome best;
  for (const std::vector<int>& operations : partition) {
    if (auto gene = fastestGene(operations, random)) {
      best.regions.push_back(std::move(*gene));
    }
  }
  return checked(std::move(best));
}

void GenomeMoves::addVariants(const Genome& best, SeedList& found) const {
  Random random(1);
  for (const std::vector<std::size_t>& twins : twinGroups(best)) {
    const std::vector<int>& operations = best.regions[twins.front()].nodes;
    for (const Fit& fit : patternsFor(operations)) {
      for (std::size_t set = 0; !fit.isFarBehind && set < std::max<std::size_t>(1, fit.best.size()); ++set) {
        // Legal as the best is: only the way of one group is another, and it fits.
        const auto gene = found.isFull() ? std::nullopt : startGene(operations, fit, set, random);
        if (gene) {
          Genome variant = best;
          computeAs(variant, twins, *gene);
          found.add(std::move(variant));
        }
      }
    }
  }
}

std::vector<std::vector<std::vector<int>>> GenomeMoves::finerPartitions() const {
  const std::vector<std::vector<int>>& coarsest = m_fusion.greedyPartition();
  std::vector<std::vector<std::vector<int>>> found{coarsest};
  for (const auto& other : {m_fusion.greedyPartition(Fusion::Joins::NoLaterFolds), m_fusion.singlePartition()}) {
    if (std::find(found.begin(), found.end(), other) == found.end()) {
      found.push_back(other);
    }
  }
  const std::size_t most = found.size() + kFinerCuts;
  for (const std::vector<std::size_t>& twins : twinsIn(coarsest)) {
    const std::vector<int>& operations = coarsest[twins.front()];
    for (std::size_t cut = 1; cut < operations.size() && found.size() < most; ++cut) {
      const auto [head, tail] = cutAt(operations, cut);
      if (m_fusion.region(head) == nullptr) {
        continue;
      }
      if (auto finer = cutTwins(coarsest, twins, cut)) {
        found.push_back(std::move(*finer));
      }
      addMovedBorders(coarsest, twins.front(), head, tail, found);
    }
  }
  return found;
}

std::vector<std::vector<std::size_t>> GenomeMoves::twinsIn(const std::vector<std::vector<int>>& partition) const {
  Random random(1);
  Genome genome;
  for (const std::vector<int>& operations : partition) {
    genome.regions.push_back(fastestGene(operations, random).value_or(RegionGene{operations, {}, {}}));
  }
  return twinGroups(genome);
}

std::optional<std::vector<std::vector<int>>> GenomeMoves::cutTwins(const std::vector<std::vector<int>>& coarsest,
                                                                   const std::vector<std::size_t>& twins,
                                                                   std::size_t cut) const {
  std::vector<std::vector<int>> finer = coarsest;
  bool isCut = false;
  for (const std::size_t twin : twins) {
    const std::vector<int>& operations = coarsest[twin];
    if (cut >= operations.size()) {
      continue;
    }
    auto [head, tail] = cutAt(operations, cut);
    if (m_fusion.region(head) != nullptr && m_fusion.region(tail) != nullptr) {
      finer[twin] = std::move(head);
      finer.push_back(std::move(tail));
      isCut = true;
    }
  }
  return isCut ? std::optional(std::move(finer)) : std::nullopt;
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
