// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/heat_map_accessible.h"

#include <QAccessible>
#include <QAccessibleWidget>

#include <array>

#include "ui/models/format.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

int childOf(int row, int column) {
  return row * kMapColumns + column;
}

QString columnName(int column) {
  const domain::Cell cell = cellAt(0, column);
  return toQString(domain::describe(cell.decomposition)) % u", "_s % toQString(domain::describe(cell.arithmetic));
}
QString rowName(int row) {
  return toQString(domain::describe(cellAt(row, 0).movement));
}

// One cell, owned by Qt's cache of interfaces; the table removes it from there when the map goes.
class CellAccessible final : public QAccessibleInterface, public QAccessibleTableCellInterface {
 public:
  CellAccessible(HeatMap& map, int row, int column) : m_map(map), m_row(row), m_column(column) {}

  [[nodiscard]] bool isValid() const override { return true; }
  [[nodiscard]] QObject* object() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(&m_map); }
  [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
  [[nodiscard]] int childCount() const override { return 0; }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  [[nodiscard]] QString text(QAccessible::Text text) const override {
    return text == QAccessible::Name ? m_map.view(index()).spoken : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  [[nodiscard]] QRect rect() const override {
    const QRect local = m_map.geometryOfCells().cell(m_row, m_column).toAlignedRect();
    return {m_map.mapToGlobal(local.topLeft()), local.size()};
  }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Cell; }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = true;
    state.focusable = true;
    state.selected = isSelected();
    state.focused = isSelected() && m_map.hasFocus();
    state.readOnly = true;
    return state;
  }
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::TableCellInterface ? static_cast<QAccessibleTableCellInterface*>(this) : nullptr;
  }

  [[nodiscard]] int columnExtent() const override { return 1; }
  [[nodiscard]] int rowExtent() const override { return 1; }
  [[nodiscard]] int columnIndex() const override { return m_column; }
  [[nodiscard]] int rowIndex() const override { return m_row; }
  [[nodiscard]] bool isSelected() const override { return m_map.currentCell() == index(); }
  [[nodiscard]] QList<QAccessibleInterface*> columnHeaderCells() const override { return {}; }
  [[nodiscard]] QList<QAccessibleInterface*> rowHeaderCells() const override { return {}; }
  [[nodiscard]] QAccessibleInterface* table() const override { return parent(); }

 private:
  [[nodiscard]] int index() const { return cellAt(m_row, m_column).index(); }

  HeatMap& m_map;
  int m_row;
  int m_column;
};

class TableAccessible final : public QAccessibleWidget, public QAccessibleTableInterface {
 public:
  explicit TableAccessible(HeatMap& map) : QAccessibleWidget(&map, QAccessible::Table), m_map(map) {}
  ~TableAccessible() override {
    for (const QAccessible::Id id : m_cells) {
      if (id != 0) {
        QAccessible::deleteAccessibleInterface(id);
      }
    }
  }

  [[nodiscard]] int childCount() const override { return domain::kCellCount; }
  [[nodiscard]] QAccessibleInterface* child(int number) const override {
    return number < 0 || number >= domain::kCellCount ? nullptr : cellAt(number / kMapColumns, number % kMapColumns);
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
    for (int i = 0; i < domain::kCellCount; ++i) {
      if (this->child(i) == child) {
        return i;
      }
    }
    return -1;
  }
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
    const int index = m_map.geometryOfCells().hit(m_map.mapFromGlobal(QPoint(x, y)));
    return index < 0 ? nullptr : child(accessibleChildOfCell(index));
  }
  [[nodiscard]] QAccessibleInterface* focusChild() const override {
    return m_map.currentCell() < 0 ? nullptr : child(accessibleChildOfCell(m_map.currentCell()));
  }
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::TableInterface ? static_cast<QAccessibleTableInterface*>(this)
                                               : QAccessibleWidget::interface_cast(type);
  }

  [[nodiscard]] QAccessibleInterface* caption() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* summary() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* cellAt(int row, int column) const override {
    if (row < 0 || row >= kMapRows || column < 0 || column >= kMapColumns) {
      return nullptr;
    }
    QAccessible::Id& id = m_cells[static_cast<std::size_t>(childOf(row, column))];
    if (id == 0) {
      id = QAccessible::registerAccessibleInterface(new CellAccessible(m_map, row, column));
    }
    return QAccessible::accessibleInterface(id);
  }
  [[nodiscard]] int selectedCellCount() const override { return m_map.currentCell() < 0 ? 0 : 1; }
  [[nodiscard]] QList<QAccessibleInterface*> selectedCells() const override {
    QAccessibleInterface* cell = focusChild();
    return cell == nullptr ? QList<QAccessibleInterface*>() : QList<QAccessibleInterface*>{cell};
  }
  [[nodiscard]] QString columnDescription(int column) const override { return columnName(column); }
  [[nodiscard]] QString rowDescription(int row) const override { return rowName(row); }
  [[nodiscard]] int selectedColumnCount() const override { return 0; }
  [[nodiscard]] int selectedRowCount() const override { return 0; }
  [[nodiscard]] int columnCount() const override { return kMapColumns; }
  [[nodiscard]] int rowCount() const override { return kMapRows; }
  [[nodiscard]] QList<int> selectedColumns() const override { return {}; }
  [[nodiscard]] QList<int> selectedRows() const override { return {}; }
  [[nodiscard]] bool isColumnSelected(int) const override { return false; }
  [[nodiscard]] bool isRowSelected(int) const override { return false; }
  bool selectRow(int) override { return false; }
  bool selectColumn(int) override { return false; }
  bool unselectRow(int) override { return false; }
  bool unselectColumn(int) override { return false; }
  void modelChange(QAccessibleTableModelChangeEvent*) override {}

 private:
  HeatMap& m_map;
  mutable std::array<QAccessible::Id, domain::kCellCount> m_cells{};
};

QAccessibleInterface* makeInterface(const QString&, QObject* object) {
  auto* map = qobject_cast<HeatMap*>(object);
  return map != nullptr ? new TableAccessible(*map) : nullptr;
}

}  // namespace

void installHeatMapAccessibility() {
  static const bool installed = [] {
    QAccessible::installFactory(makeInterface);
    return true;
  }();
  static_cast<void>(installed);
}

int accessibleChildOfCell(int cellIndex) {
  const domain::Cell cell = domain::Cell::fromIndex(cellIndex);
  return childOf(mapRow(cell), mapColumn(cell));
}

}  // namespace swage::ui
