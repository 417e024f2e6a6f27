// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/pattern_entry.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class FoundPatternColumn : std::uint8_t { Title, Origin, Summary };

// What a search over this machine has found, best first. GUI thread only.
class FoundPatternModel final : public RowsModel<domain::PatternEntry, FoundPatternColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, FoundPatternColumn column, int role) const override;
};

// "Kernel that won here": to people.
[[nodiscard]] QString originTitle(domain::PatternOrigin origin);

}  // namespace swage::ui
