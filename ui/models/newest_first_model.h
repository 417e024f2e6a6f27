// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ui/models/table_model.h"

namespace swage::ui {

// A TableModel over a list whose new rows come first and whose old ones fall off its end. What is selected stays so. A
// subclass says which columns there are, what a cell shows, and when two rows are the same one.
template <class Row, class Column>
class NewestFirstModel : public TableModel<Column> {
 public:
  using TableModel<Column>::TableModel;

  void setRows(std::vector<Row> newest) {
    const std::size_t fresh = freshIn(newest);
    const std::size_t kept = newest.size() - fresh;
    if (kept == 0 || kept > m_rows.size()) {
      this->beginResetModel();
      m_rows = std::move(newest);
      this->endResetModel();
      return;
    }
    if (kept < m_rows.size()) {
      this->beginRemoveRows({}, static_cast<int>(kept), rows() - 1);
      m_rows.resize(kept);
      this->endRemoveRows();
    }
    if (fresh > 0) {
      this->beginInsertRows({}, 0, static_cast<int>(fresh) - 1);
      m_rows = std::move(newest);
      this->endInsertRows();
    } else {
      m_rows = std::move(newest);
    }
    Q_EMIT this->dataChanged(this->index(0, 0), this->index(rows() - 1, this->columnCount() - 1));
  }

  [[nodiscard]] const Row& item(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

 protected:
  [[nodiscard]] int rows() const final { return static_cast<int>(m_rows.size()); }
  [[nodiscard]] virtual bool isSame(const Row& a, const Row& b) const = 0;

 private:
  // How many came after the first row of before; all of them, where that is not there any more.
  [[nodiscard]] std::size_t freshIn(const std::vector<Row>& newest) const {
    if (m_rows.empty()) {
      return newest.size();
    }
    const auto known =
        std::find_if(newest.begin(), newest.end(), [this](const Row& row) { return isSame(row, m_rows.front()); });
    return static_cast<std::size_t>(known - newest.begin());
  }

  std::vector<Row> m_rows;
};

}  // namespace swage::ui
