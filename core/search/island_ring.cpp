// SPDX-License-Identifier: Apache-2.0
#include "core/search/island_ring.h"

#include <algorithm>
#include <vector>

namespace swage::search {
namespace {

constexpr double kMigrants = 0.1;  // of an island's elites, at least one

}  // namespace

// Every so many reports, or already after half as many when nothing improved: then the islands need other elites.
void IslandRing::report(bool improved, Archive& archive) {
  ++m_sinceMigration;
  m_sinceImprovement = improved ? 0 : m_sinceImprovement + 1;
  m_exchange.reportsSinceImprovement = improved ? 0 : m_exchange.reportsSinceImprovement + 1;
  const bool stagnates = m_sinceImprovement >= (m_interval + 1) / 2;
  if (m_interval > 0 && (m_sinceMigration >= m_interval || stagnates)) {
    migrate(archive);
    m_sinceMigration = 0;
    m_sinceImprovement = 0;
  }
}

// The best tenth of each island's elites is copied to the next one. Collected before anything moves, so that an elite
// goes one step at a time.
void IslandRing::migrate(Archive& archive) {
  struct Migrant {
    int island;
    domain::Cell cell;
    Elite elite;
  };
  std::vector<Migrant> migrants;
  for (int island = 0; island < archive.islandCount(); ++island) {
    auto elites = archive.elites(island);
    std::stable_sort(elites.begin(), elites.end(), [](const PlacedElite& a, const PlacedElite& b) {
      return domain::ranksBefore(a.elite->overEager, b.elite->overEager);
    });
    const auto share = static_cast<std::size_t>(kMigrants * static_cast<double>(elites.size()));
    elites.resize(std::min(elites.size(), std::max(share, std::size_t{1})));
    for (const PlacedElite& placed : elites) {
      migrants.push_back({(island + 1) % archive.islandCount(), placed.cell, *placed.elite});
    }
  }
  ++m_exchange.migrations;
  for (const Migrant& migrant : migrants) {
    const auto inserted = archive.adopt(migrant.island, migrant.cell, migrant.elite);
    m_exchange.adopted += inserted == Archive::Insertion::NotBetter ? 0 : 1;
  }
}

}  // namespace swage::search
