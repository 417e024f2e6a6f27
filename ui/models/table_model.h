// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QCoreApplication>

#include <span>

namespace swage::ui {

struct ColumnInfo {
  const char* title = nullptr;  // QT_TRANSLATE_NOOP("columns", …)
  const char* tooltip = nullptr;
  Qt::Alignment alignment = Qt::AlignLeft | Qt::AlignVCenter;
};

// A flat table of which a subclass says only three things: how many rows, which columns, and what one cell is.
// The whole Qt interface is final here, so that it is right once. GUI thread only.
template <class Column>
class TableModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : rows(); }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final {
    return parent.isValid() ? 0 : static_cast<int>(columns().size());
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
      return {};
    }
    if (role == Qt::TextAlignmentRole) {
      return columns()[static_cast<std::size_t>(index.column())].alignment.toInt();
    }
    return cell(index.row(), static_cast<Column>(index.column()), role);
  }
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const final {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
      return {};
    }
    const ColumnInfo& info = columns()[static_cast<std::size_t>(section)];
    switch (role) {
      case Qt::DisplayRole: return QCoreApplication::translate("columns", info.title);
      case Qt::ToolTipRole: return QCoreApplication::translate("columns", info.tooltip);
      case Qt::TextAlignmentRole: return info.alignment.toInt();
      default: return {};
    }
  }

 protected:
  [[nodiscard]] virtual int rows() const = 0;
  [[nodiscard]] virtual std::span<const ColumnInfo> columns() const = 0;
  [[nodiscard]] virtual QVariant cell(int row, Column column, int role) const = 0;
};

}  // namespace swage::ui
