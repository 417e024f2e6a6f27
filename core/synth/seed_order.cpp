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
  std::size_t name;    // a number for each
  double share = 0.0;  // of the time of the plan
};
using Names = std::map<std::string, std::size_t>;

// Regions that are computed in the same way are one part: of a model with twenty equal layers, this way is chosen once
// and not twenty times.
std::vector<SeedPart> partsOfSeed(const Seed& seed, Names& names) {
  std::vector<SeedPart> parts;
  const double all = std::max(seed.seconds(), 1e-12);
  const auto add = [&](const std::string& name, double seconds) {
    const std::size_t number = names.try_emplace(name, names.size()).first->second;
    const auto known =
        std::find_if(parts.begin(), parts.end(), [number](const SeedPart& part) { return part.name == number; });
    if (known == parts.end()) {
      parts.push_back({number, seconds / all});
    } else {
      known->share += seconds / all;
    }
  };
  for (std::size_t i = 0; i < seed.genome.regions.size(); ++i) {
    const domain::RegionGene& gene = seed.genome.regions[i];
    const auto mode = gene.parameters.find("mode");
    add(gene.pattern + (mode == gene.parameters.end() ? "" : '@' + std::to_string(mode->second)), seed.regions[i]);
  }
  std::string rules;
  for (const domain::Rewrite& rewrite : seed.genome.rewrites) {
    rules += '|' + rewrite.rule;
  }
  add(rules, seed.library);
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

// Where none of this kind is among those that were chosen.
void addFastest(std::vector<Seed>& seeds, const std::vector<bool>& isTaken, bool hasRewrites,
                std::vector<domain::Genome>& ordered) {
  const auto isOfKind = [hasRewrites](const domain::Genome& genome) { return genome.rewrites.empty() != hasRewrites; };
  if (std::any_of(ordered.begin(), ordered.end(), isOfKind)) {
    return;
  }
  Seed* fastest = nullptr;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (!isTaken[i] && isOfKind(seeds[i].genome) && (fastest == nullptr || seeds[i].seconds() < fastest->seconds())) {
      fastest = &seeds[i];
    }
  }
  if (fastest != nullptr) {
    ordered.push_back(std::move(fastest->genome));
  }
}

}  // namespace

double Seed::seconds() const {
  return std::accumulate(regions.begin(), regions.end(), library);
}

std::vector<domain::Genome> orderSeeds(std::vector<Seed> seeds, std::size_t most) {
  Names names;
  std::vector<std::vector<SeedPart>> parts;
  std::vector<double> seconds;
  for (const Seed& seed : seeds) {
    parts.push_back(partsOfSeed(seed, names));
    seconds.push_back(seed.seconds());
  }
  std::vector<int> chosen(names.size(), 0);
  std::vector<bool> isTaken(seeds.size(), false);
  std::vector<domain::Genome> ordered;
  while (ordered.size() < std::min(seeds.size(), most)) {
    std::size_t best = seeds.size();
    double bestSeconds = 0.0;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      double factor = 1.0;
      for (const SeedPart& part : parts[i]) {
        factor += kChosenBefore * part.share * chosen[part.name];
      }
      if (!isTaken[i] && (best == seeds.size() || seconds[i] * factor < bestSeconds)) {
        best = i;
        bestSeconds = seconds[i] * factor;
      }
    }
    for (const SeedPart& part : parts[best]) {
      ++chosen[part.name];
    }
    isTaken[best] = true;
    ordered.push_back(std::move(seeds[best].genome));
  }
  for (const bool hasRewrites : {false, true}) {
    addFastest(seeds, isTaken, hasRewrites, ordered);
    bringForward(ordered, hasRewrites);
  }
  return ordered;
}

}  // namespace swage::synth
