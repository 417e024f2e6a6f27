// SPDX-License-Identifier: Apache-2.0
// What can compute a region, and with which parameters.
#include <algorithm>
#include <limits>

#include "core/synth/genome_moves.h"

namespace swage::synth {
namespace {

using domain::RegionGene;

// Random parameter sets drawn before a pattern is taken not to fit.
constexpr int kAttempts = 24;
constexpr int kDraws = 4;                 // of parameters, where an estimate can choose between them
constexpr double kFarBehindShare = 0.05;  // of random choices that may fall on what is so slow

}  // namespace

std::optional<RegionGene> GenomeMoves::makeGene(const std::vector<int>& operations, const patterns::Pattern& pattern,
                                                Choice choice, Random& random) const {
  RegionGene gene{operations, pattern.id, {}};
  for (const patterns::Parameter& parameter : pattern.parameters) {
    gene.parameters[parameter.name] = parameter.standard;
  }
  if (choice == Choice::Standard && settleStandard(gene)) {
    normalise(gene);
    return gene;
  }
  // Of several that are drawn, that which the cost model holds for the fastest.
  std::optional<RegionGene> best;
  std::optional<double> bestSeconds;
  for (int draw = 0; draw < kDraws; ++draw) {
    auto drawn = drawGene(gene, pattern, random);
    const auto seconds = drawn ? estimate(*drawn) : std::nullopt;
    if (!best || (seconds && *seconds < *bestSeconds)) {
      best = std::move(drawn);
      bestSeconds = seconds;
    }
    if (!bestSeconds) {
      break;  // nothing fits, or nothing is known of it
    }
  }
  return best;
}

std::optional<RegionGene> GenomeMoves::drawGene(RegionGene gene, const patterns::Pattern& pattern,
                                                Random& random) const {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (const patterns::Parameter& parameter : pattern.parameters) {
      gene.parameters[parameter.name] = random.pick(std::span<const std::int64_t>(parameter.values));
    }
    if (isLegal(gene)) {
      normalise(gene);
      return gene;
    }
  }
  return std::nullopt;
}

// The standard parameters, with the optional techniques given up one by one until the gene is legal.
bool GenomeMoves::settleStandard(RegionGene& gene) const {
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
        if (isLegal(gene)) {
          return true;
        }
      }
    }
  }
  gene = standard;
  return false;
}

const std::vector<Fit>& GenomeMoves::patternsFor(const std::vector<int>& operations) const {
  return m_known.of(keyOfRegion(operations), [&] { return findPatternsFor(operations); });
}

std::vector<Fit> GenomeMoves::findPatternsFor(const std::vector<int>& operations) const {
  std::vector<Fit> fitting;
  const Region* region = m_fusion.region(operations);
  if (region == nullptr) {
    return fitting;
  }
  for (const patterns::Pattern& pattern : m_catalogue.all()) {
    Random random(1);  // the answer must not depend on where a search stands
    const Strategy* strategy = m_strategies.find(m_language, pattern.id);
    if (pattern.language != m_language || strategy == nullptr || !strategy->accepts(*region)) {
      continue;
    }
    std::vector<RankedParameters> best = bestParameters(*strategy, pattern, *region, m_device, kFirstSets);
    if (!best.empty() || makeGene(operations, pattern, Choice::Standard, random)) {
      fitting.push_back({&pattern, std::move(best)});
    }
  }
  // Those of which nothing is known keep their order, after the others; fallbacks are last.
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Fit& a, const Fit& b) {
    const auto place = [&](const Fit& fit) {
      return std::pair(m_strategies.find(m_language, fit.pattern->id)->fallbackOrder(),
                       fit.best.empty() ? std::numeric_limits<double>::infinity() : fit.best.front().seconds);
    };
    return place(a) < place(b);
  });
  for (Fit& fit : fitting) {
    const std::vector<RankedParameters>& first = fitting.front().best;
    fit.isFarBehind =
        !first.empty() && (fit.best.empty() || fit.best.front().seconds > kFarBehindFactor * first.front().seconds);
  }
  return fitting;
}

const Fit& GenomeMoves::pick(const std::vector<Fit>& fitting, Random& random) const {
  const auto near =
      std::partition_point(fitting.begin(), fitting.end(), [](const Fit& fit) { return !fit.isFarBehind; });
  const auto count = static_cast<std::size_t>(near - fitting.begin());
  const bool mayBeFar = count == 0 || random.chance(kFarBehindShare);
  return fitting[random.below(mayBeFar ? fitting.size() : count)];
}

std::optional<RegionGene> GenomeMoves::anyGene(const std::vector<int>& operations, Random& random) const {
  const std::vector<Fit>& fitting = patternsFor(operations);
  if (fitting.empty()) {
    return std::nullopt;
  }
  return makeGene(operations, *pick(fitting, random).pattern, Choice::Random, random);
}

std::optional<RegionGene> GenomeMoves::startGene(const std::vector<int>& operations, const Fit& fit, std::size_t set,
                                                 Random& random) const {
  if (fit.best.empty()) {
    return makeGene(operations, *fit.pattern, Choice::Standard, random);
  }
  return RegionGene{operations, fit.pattern->id, fit.best[set].parameters};
}

std::optional<RegionGene> GenomeMoves::fastestGene(const std::vector<int>& operations, Random& random) const {
  const std::vector<Fit>& fitting = patternsFor(operations);
  return fitting.empty() ? std::nullopt : startGene(operations, fitting.front(), 0, random);
}

}  // namespace swage::synth
