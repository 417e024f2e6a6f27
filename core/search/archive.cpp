// SPDX-License-Identifier: Apache-2.0
#include "core/search/archive.h"

#include <algorithm>

#include "core/base/assert.h"

namespace swage::search {

namespace {
std::size_t cellIndex(const domain::Cell& cell) {
  const int index = cell.index();
  SWAGE_ASSERT(index >= 0 && index < domain::kCellCount);
  return static_cast<std::size_t>(index);
}
}  // namespace

Archive::Archive(int islands) : m_islands(static_cast<std::size_t>(std::max(islands, 1))) {}

CellState& Archive::state(int island, const domain::Cell& cell) {
  SWAGE_ASSERT(island >= 0 && island < islandCount());
  return m_islands[static_cast<std::size_t>(island)][cellIndex(cell)];
}

const CellState& Archive::at(int island, const domain::Cell& cell) const {
  SWAGE_ASSERT(island >= 0 && island < islandCount());
  return m_islands[static_cast<std::size_t>(island)][cellIndex(cell)];
}

Archive::Insertion Archive::insert(int island, const domain::Cell& cell, const Elite& elite) {
  CellState& target = state(island, cell);
  ++target.tried;
  ++target.correct;
  return adopt(island, cell, elite);
}

Archive::Insertion Archive::adopt(int island, const domain::Cell& cell, const Elite& elite) {
  CellState& target = state(island, cell);
  if (!target.elite) {
    target.elite = elite;
    return Insertion::NewCell;
  }
  if (domain::ranksBefore(elite.overEager, target.elite->overEager)) {
    target.elite = elite;
    return Insertion::Improved;
  }
  return Insertion::NotBetter;
}

void Archive::countFailure(int island, const std::optional<domain::Cell>& cell) {
  if (cell) {
    ++state(island, *cell).tried;
  }
}

void Archive::countScreenedOut(int island, const domain::Cell& cell) {
  CellState& target = state(island, cell);
  ++target.tried;
  ++target.correct;
}

void Archive::remove(domain::CandidateId candidate) {
  for (auto& island : m_islands) {
    for (CellState& cell : island) {
      if (cell.elite && cell.elite->candidate == candidate) {
        cell.elite.reset();
      }
    }
  }
}

const Elite* Archive::best(const domain::Cell& cell) const {
  const Elite* found = nullptr;
  const std::size_t index = cellIndex(cell);
  for (const auto& island : m_islands) {
    const auto& elite = island[index].elite;
    if (elite && (found == nullptr || domain::ranksBefore(elite->overEager, found->overEager))) {
      found = &*elite;
    }
  }
  return found;
}

const Elite* Archive::bestOverall() const {
  const Elite* found = nullptr;
  for (const PlacedElite& placed : elites()) {
    if (found == nullptr || domain::ranksBefore(placed.elite->overEager, found->overEager)) {
      found = placed.elite;
    }
  }
  return found;
}

int Archive::filledCells() const {
  int filled = 0;
  for (int index = 0; index < domain::kCellCount; ++index) {
    filled += best(domain::Cell::fromIndex(index)) != nullptr ? 1 : 0;
  }
  return filled;
}

std::vector<PlacedElite> Archive::elites(int island) const {
  std::vector<PlacedElite> found;
  for (int index = 0; index < domain::kCellCount; ++index) {
    const domain::Cell cell = domain::Cell::fromIndex(index);
    if (const CellState& here = at(island, cell); here.elite) {
      found.push_back({island, cell, &*here.elite});
    }
  }
  return found;
}

std::vector<PlacedElite> Archive::elites() const {
  std::vector<PlacedElite> found;
  for (int island = 0; island < islandCount(); ++island) {
    const auto here = elites(island);
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

int Archive::tried(const domain::Cell& cell) const {
  int sum = 0;
  for (const auto& island : m_islands) {
    sum += island[cellIndex(cell)].tried;
  }
  return sum;
}

}  // namespace swage::search
