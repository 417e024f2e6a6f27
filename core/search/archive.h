// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"

namespace swage::search {

struct Elite {
  domain::CandidateId candidate;
  domain::Genome genome;
  double timeNs = 0.0;
  double lowNs = 0.0;
  double highNs = 0.0;
};

// What happened in one cell of one island.
struct CellState {
  std::optional<Elite> elite;
  int tried = 0;
  int correct = 0;
};

// 36 cells on each island; an elite is only replaced by one that is faster.
class Archive {
 public:
  explicit Archive(int islands);

  enum class Insertion : std::uint8_t { NewCell, Improved, NotBetter };
  Insertion insert(int island, const domain::Cell& cell, const Elite& elite);
  void countFailure(int island, const std::optional<domain::Cell>& cell);

  [[nodiscard]] int islandCount() const { return static_cast<int>(m_islands.size()); }
  [[nodiscard]] const CellState& at(int island, const domain::Cell& cell) const;
  // The best elite of a cell over all islands.
  [[nodiscard]] const Elite* best(const domain::Cell& cell) const;
  [[nodiscard]] const Elite* bestOverall() const;
  [[nodiscard]] int filledCells() const;

 private:
  std::vector<std::array<CellState, domain::kCellCount>> m_islands;
};

}  // namespace swage::search
