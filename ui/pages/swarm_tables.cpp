// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/swarm_tables.h"

#include <QEvent>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <algorithm>
#include <utility>

#include "ui/models/swarm_models.h"
#include "ui/widgets/table_style.h"

namespace swage::ui {
namespace {

void fitNow(QTableView& table, const std::vector<int>& stretched) {
  const int character = table.fontMetrics().averageCharWidth();
  const int widest = character * 40;
  const int least = character * 28;
  int left = table.viewport()->width();
  for (int column = 0; column < table.model()->columnCount(); ++column) {
    if (std::find(stretched.begin(), stretched.end(), column) == stretched.end()) {
      table.resizeColumnToContents(column);
      table.setColumnWidth(column, std::min(table.columnWidth(column), widest));
      left -= table.columnWidth(column);
    }
  }
  for (const int column : stretched) {
    table.setColumnWidth(column, std::max(least, left / static_cast<int>(stretched.size())));
  }
}

// The table's; fits it once.
class FitWhenShown final : public QObject {
 public:
  FitWhenShown(QTableView& table, std::vector<int> stretched)
      : QObject(&table), m_table(table), m_stretched(std::move(stretched)) {
    table.installEventFilter(this);
  }

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Show) {
      m_table.removeEventFilter(this);
      fitNow(m_table, m_stretched);
      deleteLater();
    }
    return QObject::eventFilter(watched, event);
  }

 private:
  QTableView& m_table;
  std::vector<int> m_stretched;
};

}  // namespace

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

void fitColumns(QTableView& table, const std::vector<int>& stretched) {
  if (table.isVisible()) {
    fitNow(table, stretched);
  } else {
    new FitWhenShown(table, stretched);
  }
}

}  // namespace swage::ui
