// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/swarm_tables.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <algorithm>

#include "ui/models/swarm_models.h"
#include "ui/widgets/table_style.h"

namespace swage::ui {

QTableView* makeSwarmTable(QAbstractItemModel* model, const QString& name, const QString& spoken) {
  auto* table = new QTableView;
  auto* proxy = new QSortFilterProxyModel(table);
  proxy->setSourceModel(model);
  proxy->setSortRole(kSwarmSortRole);
  proxy->setFilterRole(kSwarmSearchRole);
  proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setModel(proxy);
  styleTable(*table);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setFrameShape(QFrame::NoFrame);
  table->setWordWrap(false);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() * 3 / 2);
  table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  table->horizontalHeader()->setSortIndicatorClearable(true);
  table->setSortingEnabled(true);
  return table;
}

QSortFilterProxyModel* proxyOf(const QTableView& table) {
  return qobject_cast<QSortFilterProxyModel*>(table.model());
}

int currentSourceRow(const QTableView& table) {
  const QModelIndex current = table.selectionModel()->currentIndex();
  return current.isValid() ? proxyOf(table)->mapToSource(current).row() : -1;
}

void fitColumns(QTableView& table, int stretched) {
  const int character = table.fontMetrics().averageCharWidth();
  const int widest = character * 40;
  const int least = character * 28;
  int others = 0;
  for (int column = 0; column < table.model()->columnCount(); ++column) {
    if (column != stretched) {
      table.resizeColumnToContents(column);
      table.setColumnWidth(column, std::min(table.columnWidth(column), widest));
      others += table.columnWidth(column);
    }
  }
  table.setColumnWidth(stretched, std::max(least, table.viewport()->width() - others));
}

}  // namespace swage::ui
