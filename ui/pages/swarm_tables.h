// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QAbstractItemModel;
class QSortFilterProxyModel;
class QTableView;

namespace swage::ui {

// A table of the page about pairs, sorted by the number behind each text and found by kSwarmSearchRole. The proxy
// belongs to the table; it stays in the model's own order until a column is clicked.
[[nodiscard]] QTableView* makeSwarmTable(QAbstractItemModel* model, const QString& name, const QString& spoken);
[[nodiscard]] QSortFilterProxyModel* proxyOf(const QTableView& table);
// The row of the model that is current; -1: none.
[[nodiscard]] int currentSourceRow(const QTableView& table);
// Columns as wide as what they show, up to a limit, but for `stretched`, which gets what is left, and at least enough
// to read a few words.
void fitColumns(QTableView& table, int stretched);

}  // namespace swage::ui
