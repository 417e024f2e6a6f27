// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/diagnostic.h"
#include "ui/models/table_model.h"

namespace swage::ui {

enum class DiagnosticColumn : std::uint8_t { Severity, Place, Message };

// What the compiler said of a candidate, in its order.
class DiagnosticModel final : public TableModel<DiagnosticColumn> {
 public:
  using TableModel::TableModel;
  void setRows(std::vector<domain::Diagnostic> rows);
  [[nodiscard]] const std::vector<domain::Diagnostic>& diagnostics() const { return m_rows; }
  // The next row with a line of the source after `row`, around the end; `step` is 1 or -1. -1: there is none.
  [[nodiscard]] int nextWithLine(int row, int step) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, DiagnosticColumn column, int role) const override;

 private:
  std::vector<domain::Diagnostic> m_rows;
};

}  // namespace swage::ui
