// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace swage::ui {

// Makes every HeatMap a table of 4 rows and 9 columns for assistive technology. Safe to call more than once.
void installHeatMapAccessibility();
// The child number of a cell in that table.
[[nodiscard]] int accessibleChildOfCell(int cellIndex);

}  // namespace swage::ui
