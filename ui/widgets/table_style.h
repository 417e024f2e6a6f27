// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;

namespace swage::ui {

// What all tables of rows in the window share: whole rows are chosen, they alternate in colour instead of having a grid
// and row numbers, and Tab leaves the table.
void styleTable(QTableView& table);

}  // namespace swage::ui
