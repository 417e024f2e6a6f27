// SPDX-License-Identifier: Apache-2.0
#include "core/synth/seed_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace swage::synth {
namespace {

// Of the time of what has been chosen once before, each time.
constexpr double kChosenBefore = 0.5;
// Among so many first seeds there is one without rewrites and one with some. A rewrite may change the arithmetic, which
// not everybody wants, and the estimates of both kinds are too far apart to compare.
constexpr std::ptrdiff_t kFirst = 8;

// The parts in which the parts of a plan are computed: the pattern of a region and its numeric mode; the rewrites for
// what is left to PyTorch.
struct SeedPart {
  std::string name;
  double share = 0.0;  // of the time of the plan
};

std::vector<SeedPart> partsOfSeed(const Seed& seed) {
  const double all = std::max(seed.seconds(), 1e-12);
  std::vector<SeedPart> parts;
  for (std::size_t i = 0; i < seed.genome.regions.size(); ++i) {
    const domain::RegionGene& gene = seed.genome.regions[i];
    const auto mode = gene.parameters.find("mode");
    parts.push_back({gene.pattern + (mode == gene.parameters.end() ? "" : '@' + std::to_string(mode->second)),
                     seed.regions[i] / all});
  }
  std::string rules;
  for (const domain::Rewrite& rewrite : seed.genome.rewrites) {
    rules += '|' + rewrite.rule;
  }
  parts.push_back({std::move(rules), seed.library / all});
  return parts;
}

void bringForward(std::vector<domain::Genome>& ordered, bool hasRewrites) {
  const auto found = std::find_if(ordered.begin(), ordered.end(), [hasRewrites](const domain::Genome& genome) {
    return genome.rewrites.empty() != hasRewrites;
  });
  if (found != ordered.end() && found - ordered.begin() >= kFirst) {
    std::rotate(ordered.begin() + kFirst - 1, found, found + 1);
  }
}

}  // namespace

double Seed::seconds() const {
  return std::accumulate(regions.begin(), regions.end(), library);
}

std::vector<domain::Genome> orderSeeds(std::vector<Seed> seeds) {
  std::vector<std::vector<SeedPart>> parts;
  parts.reserve(seeds.size());
  std::transform(seeds.begin(), seeds.end(), std::back_inserter(parts), partsOfSeed);
  std::map<std::string, int> chosen;
  std::vector<bool> isTaken(seeds.size(), false);
  std::vector<domain::Genome> ordered;
  while (ordered.size() < seeds.size()) {
    std::size_t best = seeds.size();
    double bestSeconds = 0.0;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      double factor = 1.0;
      for (const SeedPart& part : parts[i]) {
        const auto before = chosen.find(part.name);
        factor += before == chosen.end() ? 0.0 : kChosenBefore * part.share * before->second;
      }
      const double seconds = seeds[i].seconds() * factor;
      if (!isTaken[i] && (best == seeds.size() || seconds < bestSeconds)) {
        best = i;
        bestSeconds = seconds;
      }
    }
    for (const SeedPart& part : parts[best]) {
      ++chosen[part.name];
    }
    isTaken[best] = true;
    ordered.push_back(std::move(seeds[best].genome));
  }
  bringForward(ordered, false);
  bringForward(ordered, true);
  return ordered;
}

}  // namespace swage::synth
