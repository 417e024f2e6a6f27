// SPDX-License-Identifier: Apache-2.0
#include "core/synth/genome_moves.h"

#include <algorithm>
#include <array>
#include <set>

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;

// Random parameter sets drawn before a pattern is taken not to fit.
constexpr int kAttempts = 24;

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

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
                         const StrategyTable& strategies, const domain::DeviceInfo& device,
                         std::vector<domain::Rewrite> rewrites)
    : m_fusion(fusion),
      m_operations(operations),
      m_catalogue(catalogue),
      m_strategies(strategies),
      m_device(device),
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
  return m_fusion.schedule(partitionOf(genome)).has_value();
}

std::optional<Genome> GenomeMoves::checked(Genome genome) const {
  genome.rewrites = m_rewrites;
  sortRegions(genome);
  return isLegal(genome) ? std::optional(std::move(genome)) : std::nullopt;
}

std::optional<RegionGene> GenomeMoves::makeGene(const std::vector<int>& operations, const patterns::Pattern& pattern,
                                                Choice choice, Random& random) const {
  RegionGene gene{operations, pattern.id, {}};
  for (const patterns::Parameter& parameter : pattern.parameters) {
    gene.parameters[parameter.name] = parameter.standard;
  }
  if (choice == Choice::Standard && settleStandard(gene)) {
    return gene;
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (const patterns::Parameter& parameter : pattern.parameters) {
      gene.parameters[parameter.name] = random.pick(std::span<const std::int64_t>(parameter.values));
    }
    if (isLegal(gene)) {
      return gene;
    }
  }
  return std::nullopt;
}

// As it is, else without tiles that all multiprocessors share, and without pairs of blocks.
bool GenomeMoves::settleProduct(RegionGene& gene) const {
  static constexpr std::array<const char*, 2> kGiven{"share", "pair"};
  const RegionGene standard = gene;
  for (unsigned given = 0; given < 4; ++given) {
    gene = standard;
    bool isOther = given == 0;
    for (unsigned i = 0; i < kGiven.size(); ++i) {
      const auto found = gene.parameters.find(kGiven[i]);
      if ((given >> i & 1U) != 0 && found != gene.parameters.end()) {
        isOther = isOther || found->second != 0;
        found->second = 0;
      }
    }
    if (isOther && isLegal(gene)) {
      return true;
    }
  }
  return false;
}

// The standard parameters, with the optional techniques given up one by one until the gene is legal: a product of
// operands that need not be split is made without, and a short one with fewer stages.
bool GenomeMoves::settleStandard(RegionGene& gene) const {
  const RegionGene standard = gene;
  const auto limit = [](RegionGene& changed, const char* name, std::int64_t value) {
    if (const auto found = changed.parameters.find(name); found != changed.parameters.end()) {
      found->second = std::min(found->second, value);
    }
  };
  for (const std::int64_t stages : {4, 2}) {
    for (const std::int64_t mode : {1, 0}) {
      RegionGene start = standard;
      limit(start, "stages", stages);
      limit(start, "mode", mode);
      const bool isNew = (stages == 4 || standard.parameters.contains("stages")) &&
                         (mode == 1 || standard.parameters.contains("mode"));
      if (isNew && settleVectors(start)) {
        gene = std::move(start);
        return true;
      }
    }
  }
  return false;
}

bool GenomeMoves::settleVectors(RegionGene& gene) const {
  const RegionGene standard = gene;
  const auto set = [&](const char* name, std::int64_t value) {
    if (const auto found = gene.parameters.find(name); found != gene.parameters.end()) {
      found->second = std::min(found->second, value);
    }
  };
  for (const std::int64_t width : {8, 4, 2, 1}) {
    for (const std::int64_t fused : {1, 0}) {
      for (const std::int64_t streaming : {1, 0}) {
        gene = standard;
        set("vector_width", width);
        set("fused", fused);
        set("streaming", streaming);
        const auto chosen = gene.parameters.find("vector_width");
        set("asynchronous", chosen != gene.parameters.end() && chosen->second == 4 ? 1 : 0);
        if (settleProduct(gene)) {
          return true;
        }
      }
    }
  }
  gene = standard;
  return false;
}

const std::vector<const patterns::Pattern*>& GenomeMoves::patternsFor(const std::vector<int>& operations) const {
  const std::lock_guard lock(m_mutex);
  auto found = m_fitting.find(operations);
  if (found == m_fitting.end()) {
    found = m_fitting.emplace(operations, findPatternsFor(operations)).first;
  }
  return found->second;
}

std::vector<const patterns::Pattern*> GenomeMoves::findPatternsFor(const std::vector<int>& operations) const {
  std::vector<const patterns::Pattern*> fitting;
  if (m_fusion.region(operations) == nullptr) {
    return fitting;
  }
  for (const patterns::Pattern& pattern : m_catalogue.all()) {
    Random random(1);  // the answer must not depend on where a search stands
    if (pattern.language == m_language && makeGene(operations, pattern, Choice::Standard, random)) {
      fitting.push_back(&pattern);
    }
  }
  std::stable_partition(fitting.begin(), fitting.end(), [&](const patterns::Pattern* pattern) {
    return !m_strategies.find(m_language, pattern->id)->isFallback();
  });
  return fitting;
}

std::optional<RegionGene> GenomeMoves::anyGene(const std::vector<int>& operations, Random& random) const {
  const std::vector<const patterns::Pattern*>& fitting = patternsFor(operations);
  if (fitting.empty()) {
    return std::nullopt;
  }
  return makeGene(operations, *random.pick(std::span<const patterns::Pattern* const>(fitting)), Choice::Random, random);
}

std::optional<Genome> GenomeMoves::seed(const std::vector<std::vector<int>>& partition, std::size_t rank) const {
  Random random(1);
  Genome genome;
  for (const std::vector<int>& operations : partition) {
    const std::vector<const patterns::Pattern*>& fitting = patternsFor(operations);
    if (fitting.empty()) {
      continue;
    }
    const patterns::Pattern& pattern = *fitting[std::min(rank, fitting.size() - 1)];
    if (auto gene = makeGene(operations, pattern, Choice::Standard, random)) {
      genome.regions.push_back(std::move(*gene));
    }
  }
  return checked(std::move(genome));
}

std::vector<Genome> GenomeMoves::seeds() const {
  std::vector<Genome> found;
  for (const auto& partition : {m_fusion.greedyPartition(), m_fusion.singlePartition()}) {
    for (std::size_t rank = 0; rank < m_catalogue.all().size(); ++rank) {
      auto genome = seed(partition, rank);
      if (genome && !genome->regions.empty() && std::find(found.begin(), found.end(), *genome) == found.end()) {
        found.push_back(std::move(*genome));
      }
    }
  }
  return found;
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
  return seed(m_fusion.greedyPartition(), 0).value_or(Genome());
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
    const std::vector<const patterns::Pattern*>& fitting = patternsFor(rest);
    if (!rest.empty() && !fitting.empty()) {
      if (auto gene = makeGene(rest, *fitting.front(), Choice::Standard, random)) {
        genome.regions.push_back(std::move(*gene));
      }
    }
  }
  auto legal = genome.regions.empty() ? std::nullopt : checked(genome);
  return legal ? legal : seed(m_fusion.greedyPartition(), 0);
}

std::vector<Genome> GenomeMoves::neighbours(const Genome& genome) const {
  std::vector<Genome> found;
  for (std::size_t region = 0; region < genome.regions.size(); ++region) {
    const patterns::Pattern* pattern = m_catalogue.find(m_language, genome.regions[region].pattern);
    if (pattern == nullptr) {
      continue;
    }
    for (const patterns::Parameter& parameter : pattern->parameters) {
      const auto now = genome.regions[region].parameters.find(parameter.name);
      if (now == genome.regions[region].parameters.end() || parameter.name == "mode") {
        continue;  // another mode is another structure
      }
      const auto at = std::find(parameter.values.begin(), parameter.values.end(), now->second);
      for (const int step : {-1, 1}) {
        const auto position = at - parameter.values.begin() + step;
        if (position < 0 || position >= static_cast<std::ptrdiff_t>(parameter.values.size())) {
          continue;
        }
        Genome changed = genome;
        changed.regions[region].parameters[parameter.name] = parameter.values[static_cast<std::size_t>(position)];
        if (isLegal(changed.regions[region])) {
          found.push_back(std::move(changed));
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
    Genome changed = genome;
    RegionGene& gene = changed.regions[random.below(changed.regions.size())];
    const patterns::Pattern* pattern = m_catalogue.find(m_language, gene.pattern);
    if (pattern == nullptr || pattern->parameters.empty()) {
      continue;
    }
    const patterns::Parameter& parameter = random.pick(std::span<const patterns::Parameter>(pattern->parameters));
    gene.parameters[parameter.name] = random.pick(std::span<const std::int64_t>(parameter.values));
    if (changed != genome && isLegal(gene)) {
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
  Genome changed = genome;
  RegionGene& gene = changed.regions[random.below(changed.regions.size())];
  std::vector<const patterns::Pattern*> others;
  for (const patterns::Pattern* pattern : patternsFor(gene.nodes)) {
    if (pattern->id != gene.pattern) {
      others.push_back(pattern);
    }
  }
  if (others.empty()) {
    return std::nullopt;
  }
  const patterns::Pattern& pattern = *random.pick(std::span<const patterns::Pattern* const>(others));
  const Choice choice = random.chance(0.5) ? Choice::Standard : Choice::Random;
  const auto replaced = makeGene(gene.nodes, pattern, choice, random);
  if (!replaced) {
    return std::nullopt;
  }
  gene = *replaced;
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
