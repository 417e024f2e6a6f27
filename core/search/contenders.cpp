// SPDX-License-Identifier: Apache-2.0
#include "core/search/contenders.h"

#include <algorithm>
#include <map>

namespace swage::search {

void rank(std::vector<Contender>& contenders) {
  std::stable_sort(contenders.begin(), contenders.end(),
                   [](const auto& a, const auto& b) { return domain::ranksBefore(a.overEager, b.overEager); });
}

std::vector<Contender> contendersOf(const Archive& archive) {
  std::map<domain::CandidateId, domain::Speedup> speedups;  // an elite may have migrated: it is one contender
  for (int index = 0; index < domain::kCellCount; ++index) {
    for (int island = 0; island < archive.islandCount(); ++island) {
      const auto& elite = archive.at(island, domain::Cell::fromIndex(index)).elite;
      if (elite && elite->candidate.isValid()) {
        speedups.emplace(elite->candidate, elite->overEager);
      }
    }
  }
  std::vector<Contender> result;
  result.reserve(speedups.size());
  for (const auto& [id, speedup] : speedups) {
    result.push_back({.id = id, .overEager = speedup});
  }
  rank(result);
  return result;
}

}  // namespace swage::search
