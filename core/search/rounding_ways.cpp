// SPDX-License-Identifier: Apache-2.0
#include "core/search/rounding_ways.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/domain/numeric_mode.h"

namespace swage::search {
namespace {

constexpr int kFewestWrong = 3;  // of one way, before none of it is expected to be right

std::vector<std::string> modesOf(const domain::Genome& genome) {
  std::vector<std::string> modes;
  for (const domain::RegionGene& gene : genome.regions) {
    const auto mode = domain::numericMode(gene);
    if (mode && domain::isOneHalf(*mode)) {
      modes.emplace_back(domain::name(*mode));
    }
  }
  return modes;
}

std::vector<std::string> waysOf(const domain::Genome& genome) {
  std::vector<std::string> ways = modesOf(genome);
  if (ways.empty()) {
    std::transform(genome.rewrites.begin(), genome.rewrites.end(), std::back_inserter(ways),
                   [](const domain::Rewrite& rewrite) { return rewrite.rule; });
  }
  return ways;
}

}  // namespace

bool multipliesHalves(const domain::Genome& genome) {
  return !modesOf(genome).empty();
}

bool RoundingWays::areHopeless(const domain::Genome& genome) const {
  const std::vector<std::string> ways = waysOf(genome);
  return std::any_of(ways.begin(), ways.end(), [this](const std::string& way) {
    const auto found = m_reports.find(way);
    return found != m_reports.end() && found->second.right == 0 && found->second.wrong >= kFewestWrong;
  });
}

void RoundingWays::count(const domain::Genome& genome, const Outcome& outcome) {
  const bool isCompiled = outcome.kind != Outcome::Kind::Failed || outcome.cell;
  if (outcome.kind == Outcome::Kind::Duplicate || !isCompiled) {
    return;
  }
  for (const std::string& way : waysOf(genome)) {
    ++(outcome.kind == Outcome::Kind::Failed ? m_reports[way].wrong : m_reports[way].right);
  }
}

}  // namespace swage::search
