// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/services/export_service.h"
#include "ui/models/rows_model.h"

namespace swage::ui {

enum class GateColumn : std::uint8_t { State, Gate, Found, Meaning };

// How a gate bears on the export: its state is coloured by it.
enum class GateTone : std::uint8_t { Good, Caution, Bad, Neutral };
inline constexpr int kGateToneRole = Qt::UserRole + 1;
[[nodiscard]] GateTone toneOf(const services::ExportGate& gate);

// What speaks for and against an export. Gates keep their rows, so that a selection stays. GUI thread only.
class ExportGateModel final : public RowsModel<services::ExportGate, GateColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, GateColumn column, int role) const override;
};

}  // namespace swage::ui
