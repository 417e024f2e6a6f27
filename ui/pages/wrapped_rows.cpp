// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/wrapped_rows.h"

#include <QHeaderView>
#include <QTableView>

namespace swage::ui {
namespace {

void fitRows(QTableView* table) {
  const int air = table->fontMetrics().height() / 2;
  table->resizeRowsToContents();
  for (int row = 0; row < table->model()->rowCount(); ++row) {
    table->setRowHeight(row, table->rowHeight(row) + air);
  }
}

}  // namespace

void wrapRows(QTableView& table) {
  table.setWordWrap(true);
  const auto fit = [view = &table] { fitRows(view); };
  // Queued: while one column is given its width the others still have their old one.
  QObject::connect(table.horizontalHeader(), &QHeaderView::sectionResized, &table, fit, Qt::QueuedConnection);
  QObject::connect(table.model(), &QAbstractItemModel::modelReset, &table, fit, Qt::QueuedConnection);
  QObject::connect(table.model(), &QAbstractItemModel::dataChanged, &table, fit, Qt::QueuedConnection);
}

}  // namespace swage::ui
