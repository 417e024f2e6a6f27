// SPDX-License-Identifier: Apache-2.0
#include "core/synth/genome_moves.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/synth/library_estimate.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;

constexpr int kAttempts = 24;  // to change a parameter, before it is given up

void sortRegions(Genome& genome) {
  std::sort(genome.regions.begin(), genome.regions.end(),
            [](const RegionGene& a, const RegionGene& b) { return a.nodes.front() < b.nodes.front(); });
}

std::vector<std::vector<int>> partitionOf(const Genome& genome) {
  std::vector<std::vector<int>> partition;
  for (const RegionGene& gene : genome.regions) {
    partition.push_back(gene.nodes);
  }
  return partition;
}

}  // namespace

GenomeMoves::GenomeMoves(const Fusion& fusion, const OperationGraph& operations, const patterns::Catalogue& catalogue,
                         const StrategyTable& strategies, const domain::DeviceInfo& device, KnownFits& known,
                         std::vector<domain::Rewrite> rewrites)
    : m_fusion(fusion),
      m_operations(operations),
      m_catalogue(catalogue),
      m_strategies(strategies),
      m_device(device),
      m_known(known),
      m_language(domain::standardLanguage(device.kind)),
      m_rewrites(std::move(rewrites)) {}

bool GenomeMoves::namesOperations(const RegionGene& gene) const {
  // Sorted, so the ends tell; genomes also come from a database or another program.
  return !gene.nodes.empty() && std::is_sorted(gene.nodes.begin(), gene.nodes.end()) && gene.nodes.front() >= 0 &&
         asIndex(gene.nodes.back()) < m_operations.operations.size();
}

bool GenomeMoves::isLegal(const RegionGene& gene) const {
  if (!namesOperations(gene)) {
    return false;
  }
  const Region* region = m_fusion.region(gene.nodes);
  const patterns::Pattern* pattern = m_catalogue.find(m_language, gene.pattern);
  const Strategy* strategy = m_strategies.find(m_language, gene.pattern);
  return region != nullptr && pattern != nullptr && strategy != nullptr &&
         strategy->check({*pattern, *region, gene.parameters, m_device});
}

bool GenomeMoves::isLegal(const Genome& genome) const {
  if (genome.rewrites != m_rewrites) {
    return false;
  }
  std::set<int> covered;
  for (const RegionGene& gene : genome.regions) {
    if (!isLegal(gene)) {
      return false;
    }
    for (const int operation : gene.nodes) {
      if (!covered.insert(operation).second) {
        return false;
      }
    }
  }
  for (std::size_t node = 0; node < m_operations.firstOperation.size(); ++node) {
    if (!m_operations.firstOperation[node]) {
      continue;
    }
    int count = 0;
    for (int i = 0; i < m_operations.operationCount[node]; ++i) {
      count += covered.count(*m_operations.firstOperation[node] + i) != 0 ? 1 : 0;
    }
    if (count != 0 && count != m_operations.operationCount[node]) {
      return false;
    }
  }
  // What PyTorch computes has a tensor of its own, and is no part of another.
  const bool areParts = std::all_of(m_operations.nodesOfParts.begin(), m_operations.nodesOfParts.end(), [&](int node) {
    const std::optional<int>& first = m_operations.firstOperation[asIndex(node)];
    return first && covered.contains(*first);
  });
  if (!areParts) {
    return false;
  }
  return m_fusion.schedule(partitionOf(genome)).has_value();
}

std::optional<Genome> GenomeMoves::checked(Genome genome) const {
  genome.rewrites = m_rewrites;
  sortRegions(genome);
  return isLegal(genome) ? std::optional(std::move(genome)) : std::nullopt;
}

void GenomeMoves::normalise(RegionGene& gene) const {
  const Parameters given = gene.parameters;
  m_strategies.find(m_language, gene.pattern)
      ->normalise({*m_catalogue.find(m_language, gene.pattern), *m_fusion.region(gene.nodes), given, m_device},
                  gene.parameters);
}

bool GenomeMoves::areAlike(RegionGene a, RegionGene b) const {
  normalise(a);
  normalise(b);
  return a == b;
}

std::optional<double> GenomeMoves::estimate(const RegionGene& gene) const {
  if (!isLegal(gene)) {
    return std::nullopt;
  }
  return rankOf(*m_strategies.find(m_language, gene.pattern),
                {*m_catalogue.find(m_language, gene.pattern), *m_fusion.region(gene.nodes), gene.parameters, m_device});
}

std::optional<double> GenomeMoves::estimate(const Genome& genome) const {
  std::optional<double> sum;
  for (const RegionGene& gene : genome.regions) {
    std::optional<double> seconds = estimate(gene);
    if (!seconds && isLegal(gene) && !patternsFor(gene.nodes).front().best.empty()) {
      seconds =
          2.0 * kFarBehindFactor * patternsFor(gene.nodes).front().best.front().seconds;  // made for something else
    }
    if (seconds) {
      sum = sum.value_or(0.0) + *seconds;
    }
  }
  return sum ? std::optional(*sum + libraryEstimate(genome)) : std::nullopt;
}

double GenomeMoves::libraryEstimate(const Genome& genome) const {
  std::vector<bool> isCovered(m_operations.firstOperation.size(), false);
  for (const RegionGene& gene : genome.regions) {
    for (const int operation : gene.nodes) {
      if (namesOperations(gene)) {
        isCovered[asIndex(m_operations.operations[asIndex(operation)].node)] = true;
      }
    }
  }
  const domain::Graph& graph = m_fusion.graph();
  double sum = 0.0;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    sum += isCovered[node] ? 0.0 : synth::libraryEstimate(graph, graph.nodes[node], m_device);
  }
  return sum;
}

Genome GenomeMoves::fresh(Random& random) const {
  // Half of the time the coarsest cut, else a cut between it and the finest.
  std::vector<std::vector<int>> partition = m_fusion.greedyPartition();
  if (random.chance(0.5)) {
    std::vector<std::vector<int>> finer;
    for (const std::vector<int>& operations : partition) {
      if (operations.size() > 1 && random.chance(0.5)) {
        const auto cut = static_cast<std::ptrdiff_t>(1 + random.below(operations.size() - 1));
        finer.emplace_back(operations.begin(), operations.begin() + cut);
        finer.emplace_back(operations.begin() + cut, operations.end());
      } else {
        finer.push_back(operations);
      }
    }
    partition = std::move(finer);
  }
  Genome genome;
  for (const std::vector<int>& operations : partition) {
    if (auto gene = anyGene(operations, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  // A cut through a node of which a part can be no kernel leaves the rest of it without one, too.
  if (auto legal = checked(std::move(genome))) {
    return std::move(*legal);
  }
  return seed(m_fusion.greedyPartition(), 0, Speed::Near).value_or(Genome());
}

std::optional<Genome> GenomeMoves::around(std::vector<RegionGene> genes, Random& random) const {
  Genome genome;
  std::set<int> taken;
  for (RegionGene& gene : genes) {
    taken.insert(gene.nodes.begin(), gene.nodes.end());
    genome.regions.push_back(std::move(gene));
  }
  for (const std::vector<int>& operations : m_fusion.greedyPartition()) {
    std::vector<int> rest;
    std::copy_if(operations.begin(), operations.end(), std::back_inserter(rest),
                 [&](int operation) { return !taken.contains(operation); });
    if (auto gene = rest.empty() ? std::nullopt : fastestGene(rest, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  auto legal = genome.regions.empty() ? std::nullopt : checked(genome);
  return legal ? legal : seed(m_fusion.greedyPartition(), 0, Speed::Near);
}

std::vector<Genome> GenomeMoves::neighbours(const Genome& genome) const {
  std::vector<Genome> found;
  for (std::size_t region = 0; region < genome.regions.size(); ++region) {
    const RegionGene& gene = genome.regions[region];
    const patterns::Pattern* pattern = m_catalogue.find(m_language, gene.pattern);
    const std::vector<std::size_t> twins = twinsOf(genome, region);
    if (pattern == nullptr || twins.front() != region) {
      continue;  // twins change together
    }
    for (const patterns::Parameter& parameter : pattern->parameters) {
      const auto now = gene.parameters.find(parameter.name);
      if (now == gene.parameters.end() || parameter.name == "mode") {
        continue;  // another mode is another structure
      }
      const auto at = std::find(parameter.values.begin(), parameter.values.end(), now->second);
      for (const int step : {-1, 1}) {
        const auto position = at - parameter.values.begin() + step;
        if (position < 0 || position >= static_cast<std::ptrdiff_t>(parameter.values.size())) {
          continue;
        }
        RegionGene other = gene;
        other.parameters[parameter.name] = parameter.values[static_cast<std::size_t>(position)];
        if (isLegal(other) && !areAlike(other, gene)) {
          computeAs(found.emplace_back(genome), twins, other);
        }
      }
    }
  }
  return found;
}

std::optional<Genome> GenomeMoves::changeParameter(const Genome& genome, Random& random) const {
  if (genome.regions.empty()) {
    return std::nullopt;
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<std::size_t> regions = pickRegions(genome, random);
    RegionGene gene = genome.regions[regions.front()];
    const patterns::Pattern* pattern = m_catalogue.find(m_language, gene.pattern);
    if (pattern == nullptr || pattern->parameters.empty()) {
      continue;
    }
    const patterns::Parameter& parameter = random.pick(std::span<const patterns::Parameter>(pattern->parameters));
    gene.parameters[parameter.name] = random.pick(std::span<const std::int64_t>(parameter.values));
    if (gene == genome.regions[regions.front()] || !isLegal(gene)) {
      continue;
    }
    normalise(gene);
    Genome changed = genome;
    computeAs(changed, regions, gene);
    if (changed != genome) {
      return changed;
    }
  }
  return std::nullopt;
}

std::optional<Genome> GenomeMoves::split(const Genome& genome, Random& random) const {
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < genome.regions.size(); ++i) {
    if (genome.regions[i].nodes.size() > 1) {
      large.push_back(i);
    }
  }
  if (large.empty()) {
    return std::nullopt;
  }
  const RegionGene& old = genome.regions[random.pick(std::span<const std::size_t>(large))];
  const auto cut = static_cast<std::ptrdiff_t>(1 + random.below(old.nodes.size() - 1));
  const auto head = anyGene({old.nodes.begin(), old.nodes.begin() + cut}, random);
  const auto tail = anyGene({old.nodes.begin() + cut, old.nodes.end()}, random);
  if (!head || !tail) {
    return std::nullopt;
  }
  Genome changed;
  for (const RegionGene& gene : genome.regions) {
    if (!(gene == old)) {
      changed.regions.push_back(gene);
    }
  }
  changed.regions.push_back(*head);
  changed.regions.push_back(*tail);
  return checked(std::move(changed));
}

std::optional<Genome> GenomeMoves::merge(const Genome& genome, Random& random) const {
  for (int attempt = 0; attempt < kAttempts && genome.regions.size() > 1; ++attempt) {
    const std::size_t a = random.below(genome.regions.size());
    const std::size_t b = random.below(genome.regions.size());
    if (a == b || !m_fusion.areRelated(genome.regions[a].nodes, genome.regions[b].nodes)) {
      continue;
    }
    std::vector<int> joined;
    std::merge(genome.regions[a].nodes.begin(), genome.regions[a].nodes.end(), genome.regions[b].nodes.begin(),
               genome.regions[b].nodes.end(), std::back_inserter(joined));
    const auto gene = anyGene(joined, random);
    if (!gene) {
      continue;
    }
    Genome changed;
    for (std::size_t i = 0; i < genome.regions.size(); ++i) {
      if (i != a && i != b) {
        changed.regions.push_back(genome.regions[i]);
      }
    }
    changed.regions.push_back(*gene);
    if (auto legal = checked(std::move(changed))) {
      return legal;
    }
  }
  return std::nullopt;
}

std::optional<Genome> GenomeMoves::swapPattern(const Genome& genome, Random& random) const {
  if (genome.regions.empty()) {
    return std::nullopt;
  }
  const std::vector<std::size_t> regions = pickRegions(genome, random);
  const RegionGene& gene = genome.regions[regions.front()];
  std::vector<Fit> others;
  for (const Fit& fit : patternsFor(gene.nodes)) {
    if (fit.pattern->id != gene.pattern) {
      others.push_back(fit);
    }
  }
  if (others.empty()) {
    return std::nullopt;
  }
  const Fit& other = pick(others, random);
  const patterns::Pattern& pattern = *other.pattern;
  const Choice choice = random.chance(0.5) ? Choice::Standard : Choice::Random;
  const auto replaced = choice == Choice::Standard && !other.best.empty()
                            ? RegionGene{gene.nodes, pattern.id, other.best.front().parameters}
                            : makeGene(gene.nodes, pattern, choice, random);
  if (!replaced) {
    return std::nullopt;
  }
  Genome changed = genome;
  computeAs(changed, regions, *replaced);
  return checked(std::move(changed));
}

std::optional<Genome> GenomeMoves::cross(const Genome& genome, const Genome& other, Random& random) const {
  // Some regions of the other parent push out the regions of the first that they overlap; operations left alone become
  // regions of their own.
  Genome child;
  std::set<int> taken;
  for (const RegionGene& gene : other.regions) {
    if (random.chance(0.5)) {
      child.regions.push_back(gene);
      taken.insert(gene.nodes.begin(), gene.nodes.end());
    }
  }
  std::set<int> wanted;
  for (const RegionGene& gene : genome.regions) {
    wanted.insert(gene.nodes.begin(), gene.nodes.end());
    const bool overlaps =
        std::any_of(gene.nodes.begin(), gene.nodes.end(), [&](int operation) { return taken.count(operation) != 0; });
    if (!overlaps) {
      child.regions.push_back(gene);
      taken.insert(gene.nodes.begin(), gene.nodes.end());
    }
  }
  for (const int operation : wanted) {
    if (taken.count(operation) == 0) {
      if (auto gene = anyGene({operation}, random)) {
        child.regions.push_back(std::move(*gene));
      }
    }
  }
  auto legal = checked(std::move(child));
  return legal && *legal != genome && *legal != other ? legal : std::nullopt;
}

domain::Cell GenomeMoves::predictCell(const Genome& genome) const {
  domain::Cell cell;
  bool interBlock = false;
  bool hasPasses = false;
  for (const RegionGene& gene : genome.regions) {
    const Region* region = m_fusion.region(gene.nodes);
    const patterns::Pattern* pattern = m_catalogue.find(m_language, gene.pattern);
    const Strategy* strategy = m_strategies.find(m_language, gene.pattern);
    if (region == nullptr || pattern == nullptr || strategy == nullptr) {
      continue;
    }
    const domain::Cell aimed = strategy->aims({*pattern, *region, gene.parameters, m_device});
    cell.movement = std::max(cell.movement, aimed.movement);
    cell.arithmetic = std::max(cell.arithmetic, aimed.arithmetic);
    interBlock = interBlock || aimed.decomposition == domain::Decomposition::InterBlock;
    hasPasses = hasPasses || aimed.decomposition == domain::Decomposition::SeveralLaunches;
  }
  const auto schedule = m_fusion.schedule(partitionOf(genome));
  const bool oneLaunch = schedule && schedule->size() == 1 && !hasPasses;
  cell.decomposition = interBlock  ? domain::Decomposition::InterBlock
                       : oneLaunch ? domain::Decomposition::OneLaunch
                                   : domain::Decomposition::SeveralLaunches;
  return cell;
}

}  // namespace swage::synth
