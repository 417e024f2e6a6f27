// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTableView;

namespace swage::ui {

// Lets a table wrap its texts, in rows as high as that takes and with some air, whenever columns or texts change. Call
// it when the table has its model.
void wrapRows(QTableView& table);

}  // namespace swage::ui
