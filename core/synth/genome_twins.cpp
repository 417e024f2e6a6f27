// SPDX-License-Identifier: Apache-2.0
// Regions that differ in their tensors alone, as those of a model's equal layers.
#include <algorithm>
#include <map>
#include <numeric>

#include "core/synth/genome_moves.h"
#include "core/synth/region_key.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;

constexpr double kAlone = 0.25;    // of the steps change one of several twins
constexpr double kUniform = 0.25;  // of the steps change any region, whatever time it takes: estimates may be wrong

}  // namespace

const std::string& GenomeMoves::keyOfRegion(const std::vector<int>& operations) const {
  const Region* region = m_fusion.region(operations);
  const std::lock_guard lock(m_mutex);
  auto found = m_keys.find(operations);
  if (found == m_keys.end()) {
    found = m_keys.emplace(operations, region == nullptr ? "" : keyOf(*region)).first;
  }
  return found->second;
}

std::vector<std::size_t> GenomeMoves::twinsOf(const Genome& genome, std::size_t region) const {
  const RegionGene& gene = genome.regions[region];
  std::vector<std::size_t> twins;
  for (std::size_t i = 0; i < genome.regions.size(); ++i) {
    const RegionGene& other = genome.regions[i];
    if (i == region || (other.pattern == gene.pattern && other.parameters == gene.parameters &&
                        keyOfRegion(other.nodes) == keyOfRegion(gene.nodes))) {
      twins.push_back(i);
    }
  }
  return twins;
}

std::vector<std::vector<std::size_t>> GenomeMoves::twinGroups(const Genome& genome) const {
  struct Group {
    std::vector<std::size_t> regions;
    double seconds = 0.0;
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < genome.regions.size(); ++i) {
    const auto [place, isNew] = places.try_emplace(keyOfRegion(genome.regions[i].nodes), groups.size());
    if (isNew) {
      groups.emplace_back();
    }
    groups[place->second].regions.push_back(i);
    groups[place->second].seconds += estimate(genome.regions[i]).value_or(0.0);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.seconds > b.seconds; });
  std::vector<std::vector<std::size_t>> sorted;
  std::transform(groups.begin(), groups.end(), std::back_inserter(sorted),
                 [](Group& group) { return std::move(group.regions); });
  return sorted;
}

std::vector<std::size_t> GenomeMoves::pickRegions(const Genome& genome, Random& random) const {
  std::vector<double> seconds;
  std::transform(genome.regions.begin(), genome.regions.end(), std::back_inserter(seconds),
                 [this](const RegionGene& gene) { return estimate(gene).value_or(0.0); });
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::size_t chosen = random.below(genome.regions.size());
  if (genome.regions.size() > 1 && all > 0.0 && !random.chance(kUniform)) {
    double left = random.unit() * all;
    for (chosen = 0; chosen + 1 < seconds.size() && left >= seconds[chosen]; ++chosen) {
      left -= seconds[chosen];
    }
  }
  std::vector<std::size_t> twins = twinsOf(genome, chosen);
  return twins.size() > 1 && random.chance(kAlone) ? std::vector{chosen} : twins;
}

void GenomeMoves::computeAs(Genome& genome, const std::vector<std::size_t>& regions, const RegionGene& gene) {
  for (const std::size_t region : regions) {
    genome.regions[region].pattern = gene.pattern;
    genome.regions[region].parameters = gene.parameters;
  }
}

}  // namespace swage::synth
