// SPDX-License-Identifier: Apache-2.0
#include "core/judge/recorded_space.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace swage::judge {
namespace {

using domain::Genome;
using domain::OperatorKind;
using domain::RegionGene;

bool haveOneCut(const Genome& a, const Genome& b) {
  return std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(), b.regions.end(),
                    [](const RegionGene& one, const RegionGene& other) { return one.nodes == other.nodes; });
}

int differentPatterns(const Genome& a, const Genome& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.regions.size(); ++i) {
    count += a.regions[i].pattern != b.regions[i].pattern ? 1 : 0;
  }
  return count;
}

bool isMadeOf(const Genome& child, const Genome& a, const Genome& b) {
  return child != a && child != b &&
         std::all_of(child.regions.begin(), child.regions.end(), [&](const RegionGene& region) {
           const auto has = [&region](const Genome& parent) {
             return std::find(parent.regions.begin(), parent.regions.end(), region) != parent.regions.end();
           };
           return has(a) || has(b);
         });
}

bool isVariation(OperatorKind kind, const Genome& from, const Genome* other, const Genome& to) {
  switch (kind) {
    case OperatorKind::PatternSwap: return haveOneCut(from, to) && differentPatterns(from, to) == 1;
    case OperatorKind::Split: return to.regions.size() == from.regions.size() + 1;
    case OperatorKind::Merge: return to.regions.size() + 1 == from.regions.size();
    case OperatorKind::Crossover: return other != nullptr && isMadeOf(to, from, *other);
    default: return false;
  }
}

// Where two genomes of one structure differ.
struct Step {
  std::size_t region = 0;
  std::string parameter;
  std::int64_t size = 0;
};
std::optional<Step> onlyStep(const Genome& from, const Genome& to) {
  std::optional<Step> step;
  for (std::size_t i = 0; i < from.regions.size(); ++i) {
    for (const auto& [name, value] : from.regions[i].parameters) {
      const auto changed = to.regions[i].parameters.find(name);
      if (changed == to.regions[i].parameters.end() || changed->second == value) {
        continue;
      }
      if (step) {
        return std::nullopt;
      }
      step = Step{i, name, changed->second - value};
    }
  }
  return step;
}

}  // namespace

RecordedSpace::RecordedSpace(std::vector<Genome> genomes, std::size_t seedCount)
    : m_genomes(std::move(genomes)), m_seedCount(std::min(seedCount, m_genomes.size())) {
  for (std::size_t i = 0; i < m_genomes.size(); ++i) {
    m_byStructure[domain::structureText(m_genomes[i])].push_back(i);
  }
}

Genome RecordedSpace::fresh(Random& random) const {
  return m_genomes[random.below(m_genomes.size())];
}

std::vector<Genome> RecordedSpace::seeds() const {
  return {m_genomes.begin(), m_genomes.begin() + static_cast<std::ptrdiff_t>(m_seedCount)};
}

std::optional<Genome> RecordedSpace::vary(OperatorKind kind, const Genome& genome, const Genome* other,
                                          const domain::Cell*, Random& random) const {
  std::vector<std::size_t> found;
  if (kind == OperatorKind::Parameter) {
    const auto structure = m_byStructure.find(domain::structureText(genome));
    for (const std::size_t i : structure == m_byStructure.end() ? std::vector<std::size_t>() : structure->second) {
      if (m_genomes[i] != genome) {
        found.push_back(i);
      }
    }
  } else {
    for (std::size_t i = 0; i < m_genomes.size(); ++i) {
      if (isVariation(kind, genome, other, m_genomes[i])) {
        found.push_back(i);
      }
    }
  }
  return found.empty() ? std::nullopt : std::optional(m_genomes[found[random.below(found.size())]]);
}

std::vector<Genome> RecordedSpace::neighbours(const Genome& genome) const {
  const auto structure = m_byStructure.find(domain::structureText(genome));
  if (structure == m_byStructure.end()) {
    return {};
  }
  // By region, parameter and direction, the smallest step.
  std::map<std::tuple<std::size_t, std::string, bool>, std::pair<std::int64_t, std::size_t>> nearest;
  for (const std::size_t i : structure->second) {
    const auto step = onlyStep(genome, m_genomes[i]);
    if (!step) {
      continue;
    }
    const std::pair candidate{std::abs(step->size), i};
    const auto [known, isNew] = nearest.try_emplace({step->region, step->parameter, step->size > 0}, candidate);
    known->second = std::min(known->second, candidate);
  }
  std::vector<Genome> found;
  for (const auto& [where, what] : nearest) {
    found.push_back(m_genomes[what.second]);
  }
  return found;
}

std::vector<double> RecordedSpace::features(const Genome& genome) const {
  std::vector<double> row;
  for (const RegionGene& region : genome.regions) {
    for (const auto& [name, value] : region.parameters) {
      row.push_back(std::log2(1.0 + static_cast<double>(std::max<std::int64_t>(value, 0))));
    }
  }
  return row;
}

}  // namespace swage::judge
