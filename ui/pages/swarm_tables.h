// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

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
// Columns as wide as what they show, up to a limit, but for those to stretch, which share what is left, and have at
// least enough to read a few words. Of a table that is hidden as soon as it is shown: until then nobody knows how wide
// it is.
void fitColumns(QTableView& table, const std::vector<int>& stretched);

}  // namespace swage::ui
