// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/diagnostic.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class DiagnosticColumn : std::uint8_t { Severity, Place, Message };

// What the compiler said of a candidate, in its order.
class DiagnosticModel final : public RowsModel<domain::Diagnostic, DiagnosticColumn> {
 public:
  using RowsModel::RowsModel;
  // The next row with a line of the source after `row`, around the end; `step` is 1 or -1. -1: there is none.
  [[nodiscard]] int nextWithLine(int row, int step) const;
  [[nodiscard]] bool hasErrors() const;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, DiagnosticColumn column, int role) const override;
};

}  // namespace swage::ui
