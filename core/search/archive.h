// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/speedup.h"

namespace swage::search {

struct Elite {
  domain::CandidateId candidate;
  std::optional<domain::Genome> genome;  // none: it competes, but nothing can be made of it
  double timeNs = 0.0;
  domain::Speedup overEager;  // measured in turns: what elites compete with, by its lower end
};

// What happened in one cell of one island.
struct CellState {
  std::optional<Elite> elite;
  int tried = 0;
  int correct = 0;
};

// An elite and where it lives. The pointer is valid until the archive changes.
struct PlacedElite {
  int island = 0;
  domain::Cell cell;
  const Elite* elite = nullptr;
};

// 36 cells on each island; an elite is only replaced by one that ranks before it (domain::ranksBefore).
class Archive {
 public:
  explicit Archive(int islands);

  enum class Insertion : std::uint8_t { NewCell, Improved, NotBetter };
  // A correct, fully timed candidate.
  Insertion insert(int island, const domain::Cell& cell, const Elite& elite);
  void countFailure(int island, const std::optional<domain::Cell>& cell);
  // A correct candidate that racing dropped: tried and correct, but never an elite.
  void countScreenedOut(int island, const domain::Cell& cell);
  // A copy of another island's elite, not evaluated again: no try is counted.
  Insertion adopt(int island, const domain::Cell& cell, const Elite& elite);

  // Takes a candidate out of every cell that it is the elite of, for something that was found out about it later. The
  // cell is empty then: the one before it is not kept. What was counted stays.
  void remove(domain::CandidateId candidate);

  [[nodiscard]] int islandCount() const { return static_cast<int>(m_islands.size()); }
  [[nodiscard]] const CellState& at(int island, const domain::Cell& cell) const;
  // The best elite of a cell over all islands.
  [[nodiscard]] const Elite* best(const domain::Cell& cell) const;
  [[nodiscard]] const Elite* bestOverall() const;
  [[nodiscard]] int filledCells() const;
  // The elites of one island, or of all islands in order; by cell index within an island.
  [[nodiscard]] std::vector<PlacedElite> elites(int island) const;
  [[nodiscard]] std::vector<PlacedElite> elites() const;
  // Candidates of a cell that compiled, over all islands.
  [[nodiscard]] int tried(const domain::Cell& cell) const;

 private:
  [[nodiscard]] CellState& state(int island, const domain::Cell& cell);

  std::vector<std::array<CellState, domain::kCellCount>> m_islands;
};

}  // namespace swage::search
