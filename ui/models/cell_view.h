// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <array>
#include <vector>

#include "core/services/types.h"
#include "ui/models/cell_scale.h"

namespace swage::ui {

// The rows and columns of the map: A3 on top, and three blocks C0, C1, C2 of the columns B0, B1, B2.
inline constexpr int kMapRows = 4;
inline constexpr int kMapColumns = 9;
inline constexpr int kMapBlocks = 3;
[[nodiscard]] domain::Cell cellAt(int row, int column);
[[nodiscard]] int mapRow(const domain::Cell& cell);
[[nodiscard]] int mapColumn(const domain::Cell& cell);

// One cell as it is drawn and read aloud.
struct CellView {
  services::CellSummary::State state = services::CellSummary::State::Empty;
  QString value;       // "2.31×", of the scale's metric; a time while no baseline is known; empty when there is none
  QString count;       // "128 tried"
  QString shortCount;  // "128": where the count does not fit
  double level = 0.0;  // on the colour map
  bool hasLevel = false;  // it has the value that the colours stand for
  bool best = false;
  QString spoken;  // the whole cell in one sentence
};

using CellViews = std::array<CellView, domain::kCellCount>;  // by Cell::index()

[[nodiscard]] CellViews viewCells(const std::vector<services::CellSummary>& cells, const CellScale& scale);
// All cells empty: what the map shows before a run.
[[nodiscard]] std::vector<services::CellSummary> emptyCells();
// "A2B1C1: staged, packed or collective, one launch"
[[nodiscard]] QString describeCell(const domain::Cell& cell);
// Rich text for hovering: the cell, its numbers, and the instruction counts that put its best candidate there.
[[nodiscard]] QString cellTooltip(const services::CellSummary& cell, const services::CandidateDetail* best);

}  // namespace swage::ui
