// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/table_style.h"

#include <QHeaderView>
#include <QTableView>

namespace swage::ui {

void styleTable(QTableView& table) {
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setShowGrid(false);
  table.setAlternatingRowColors(true);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.horizontalHeader()->setHighlightSections(false);
}

}  // namespace swage::ui
