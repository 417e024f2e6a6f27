// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/services/pattern_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class PatternColumn : std::uint8_t { Id, Language, Family, Parameters };

// The catalogue of patterns. GUI thread only.
class PatternTableModel final : public RowsModel<services::PatternInfo, PatternColumn> {
  Q_OBJECT

 public:
  enum Role : int { SearchRole = Qt::UserRole + 1 };  // all that a pattern is found by, in one text

  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, PatternColumn column, int role) const override;
};

enum class ParameterColumn : std::uint8_t { Name, Values, Standard, Meaning };

// What can be tuned about one pattern.
class ParameterTableModel final : public RowsModel<services::PatternParameter, ParameterColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, ParameterColumn column, int role) const override;
};

}  // namespace swage::ui
