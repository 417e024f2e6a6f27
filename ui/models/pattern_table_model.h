// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/services/pattern_service.h"
#include "ui/models/table_model.h"

namespace swage::ui {

enum class PatternColumn : std::uint8_t { Id, Target, Family, Parameters };

// The catalogue of patterns. GUI thread only.
class PatternTableModel final : public TableModel<PatternColumn> {
  Q_OBJECT

 public:
  enum Role : int { SearchRole = Qt::UserRole + 1 };  // all that a pattern is found by, in one text

  using TableModel<PatternColumn>::TableModel;
  void setRows(std::vector<services::PatternInfo> patterns);
  [[nodiscard]] const services::PatternInfo& pattern(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, PatternColumn column, int role) const override;

 private:
  std::vector<services::PatternInfo> m_rows;
};

enum class ParameterColumn : std::uint8_t { Name, Values, Standard, Meaning };

// What can be tuned about one pattern.
class ParameterTableModel final : public TableModel<ParameterColumn> {
  Q_OBJECT

 public:
  using TableModel<ParameterColumn>::TableModel;
  void setRows(std::vector<services::PatternParameter> parameters);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, ParameterColumn column, int role) const override;

 private:
  std::vector<services::PatternParameter> m_rows;
};

}  // namespace swage::ui
