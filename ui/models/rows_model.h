// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include "ui/models/table_model.h"

namespace swage::ui {

// A TableModel over values that somebody else makes. A subclass says which columns there are and what a cell shows.
template <class Row, class Column>
class RowsModel : public TableModel<Column> {
 public:
  using TableModel<Column>::TableModel;

  // Other rows: nothing stays selected.
  void setRows(std::vector<Row> rows) {
    this->beginResetModel();
    m_rows = std::move(rows);
    this->endResetModel();
  }
  // The same rows with other values, which keep their selection. As setRows() when they have become more or fewer.
  void updateRows(std::vector<Row> rows) {
    if (rows.size() != m_rows.size()) {
      setRows(std::move(rows));
      return;
    }
    m_rows = std::move(rows);
    if (!m_rows.empty()) {
      Q_EMIT this->dataChanged(this->index(0, 0), this->index(this->rowCount() - 1, this->columnCount() - 1));
    }
  }
  void append(Row row) {
    this->beginInsertRows({}, rows(), rows());
    m_rows.push_back(std::move(row));
    this->endInsertRows();
  }

  [[nodiscard]] const std::vector<Row>& items() const { return m_rows; }
  [[nodiscard]] const Row& item(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

 protected:
  [[nodiscard]] int rows() const final { return static_cast<int>(m_rows.size()); }

 private:
  std::vector<Row> m_rows;
};

}  // namespace swage::ui
